"""What a session has learned: policies over stacks, for any task with the same observations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adastack.process.policy import StackPolicy, greedy_rows
from adastack.tabular.moves import AGENT
from adastack.tabular.settings import ValueSettings
from adastack.tasks.finite import Floats

if TYPE_CHECKING:
    from adastack.tabular.session import Session

UNSEEN = 0
"""The joint action for a stack that training could not meet: the first action, the oldest slot.

It is also what the initial values say: all actions are equal, and the first of the best is taken.
"""


def policy_of(session: Session, index: int, *, greedy: bool) -> StackPolicy:
    """The policy of one of the session's seeds: the best actions, or as at the end of training."""
    rows = greedy_rows(session.table[index]) if greedy else _exploring(session, index)
    unseen = np.eye(session.width)[UNSEEN]

    def policy(stack: tuple[int, ...]) -> Floats:
        agent = session.induced.find(stack)
        row: Floats = unseen if agent < 0 else rows[agent]
        return row

    return policy


def kept_memory(session: Session, index: int) -> tuple[int, ...] | None:
    """The slots that a seed would keep next, where training stopped; None before an episode."""
    agent = int(session.arrays["place"][index, AGENT])
    if agent < 0:
        return None
    memory_action = 0
    if not session.random:
        memory_action = int(session.tables.memory_of[session.table[index, agent].argmax()])
    slot = int(session.tables.evicted[agent, memory_action])
    stack: list[int] = session.induced.stacks[agent].tolist()
    return (*stack[:slot], *stack[slot + 1 :])


def _exploring(session: Session, index: int) -> Floats:
    """(agent states, joint actions): how likely each is at the end of training."""
    table, settings = session.table[index], session.settings
    if not isinstance(settings, ValueSettings):
        weights = np.exp(table - table.max(axis=1, keepdims=True))
        probabilities: Floats = weights / weights.sum(axis=1, keepdims=True)
        return probabilities
    best = greedy_rows(table)
    epsilon, n_actions = settings.epsilon_end, session.task.n_actions
    if settings.exploration == "joint":
        explored: Floats = epsilon / session.width + (1 - epsilon) * best
        return explored
    parts = best.reshape(len(best), -1, n_actions)
    acts = epsilon / n_actions + (1 - epsilon) * parts.sum(axis=1)
    memory = parts.sum(axis=2)
    if memory.shape[1] > 1:
        memory = epsilon / memory.shape[1] + (1 - epsilon) * memory
    both: Floats = (memory[:, :, None] * acts[:, None, :]).reshape(best.shape)
    return both
