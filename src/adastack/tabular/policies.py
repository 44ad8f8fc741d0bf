"""What a table has learned: policies over stacks, for any task with the same observations."""

from __future__ import annotations

import numpy as np

from adastack.process.induced import Induced
from adastack.process.policy import StackPolicy, greedy_rows
from adastack.tabular.settings import Settings, ValueSettings
from adastack.tasks.finite import Floats

UNSEEN = 0
"""The joint action for a stack that training could not meet: the first action, the oldest slot.

It is also what the initial values say: all actions are equal, and the first of the best is taken.
"""


def table_policy(induced: Induced, rows: Floats) -> StackPolicy:
    """The policy that takes joint actions by the rows of a table, one for each agent state."""
    unseen = np.eye(rows.shape[1])[UNSEEN]

    def policy(stack: tuple[int, ...]) -> Floats:
        agent = induced.find(stack)
        row: Floats = unseen if agent < 0 else rows[agent]
        return row

    return policy


def exploring_rows(table: Floats, settings: Settings, n_actions: int) -> Floats:
    """(agent states, joint actions): how likely each is at the end of training."""
    if not isinstance(settings, ValueSettings):
        weights = np.exp(table - table.max(axis=1, keepdims=True))
        probabilities: Floats = weights / weights.sum(axis=1, keepdims=True)
        return probabilities
    best, epsilon = greedy_rows(table), settings.epsilon_end
    if settings.exploration == "joint":
        explored: Floats = epsilon / best.shape[1] + (1 - epsilon) * best
        return explored
    parts = best.reshape(len(best), -1, n_actions)
    acts = epsilon / n_actions + (1 - epsilon) * parts.sum(axis=1)
    memory = parts.sum(axis=2)
    if memory.shape[1] > 1:
        memory = epsilon / memory.shape[1] + (1 - epsilon) * memory
    both: Floats = (memory[:, :, None] * acts[:, None, :]).reshape(best.shape)
    return both
