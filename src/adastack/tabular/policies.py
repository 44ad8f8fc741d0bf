"""What a session has learned: policies over stacks, for any task with the same observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from adastack.process.evaluation import Evaluated, Evaluator
from adastack.process.stacks import Decide
from adastack.tabular.moves import AGENT
from adastack.tabular.session import Session
from adastack.tabular.settings import ValueSettings
from adastack.tasks.finite import FiniteTask, Floats

UNSEEN = 0
"""The joint action for a stack that training could not meet: the first action, the oldest slot.

It is also what the initial values say: all actions are equal, and the first of the best is taken.
"""


def play(
    session: Session, evaluator: Evaluator, index: int, *, greedy: bool, episodes: int, seed: int
) -> Evaluated:
    """Plays the policy of one of the session's seeds."""
    chances = _chances(session, index, greedy)
    agent = int(session.arrays["place"][index, AGENT])
    return evaluator.play(
        _decide(session, chances),
        deterministic=greedy,
        episodes=episodes,
        seed=seed,
        memory=_kept(session, chances, agent) if agent >= 0 else None,
    )


def policy_of(session: Session, index: int, *, greedy: bool) -> Decide:
    """What one of the session's seeds has learned: from a stack to the chances of joint actions."""
    return _decide(session, _chances(session, index, greedy))


def check_same_signals(trained: FiniteTask, other: FiniteTask) -> None:
    """Raises unless a policy learned on one task can be evaluated on the other."""
    for name in ("observation_names", "action_names"):
        ours, theirs = getattr(trained, name), getattr(other, name)
        if ours != theirs:
            raise ValueError(
                f"a policy of {trained.name} expects the {name} {', '.join(ours)}, "
                f"actual: {', '.join(theirs)} of {other.name}"
            )


def _chances(session: Session, index: int, greedy: bool) -> Floats:
    """(agent states, joint actions): how likely each is."""
    table, settings = session.table[index], session.settings
    best: Floats = np.eye(session.width)[table.argmax(axis=1)]
    if greedy:
        return best
    if not isinstance(settings, ValueSettings):
        weights = np.exp(table - table.max(axis=1, keepdims=True))
        chances: Floats = weights / weights.sum(axis=1, keepdims=True)
        return chances
    epsilon, n_actions = settings.epsilon_end, session.induced.task.n_actions
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


def _decide(session: Session, chances: Floats) -> Decide:
    unseen = np.eye(session.width)[UNSEEN]

    def decide(stack: tuple[int, ...]) -> Floats:
        agent = session.induced.find(stack)
        row: Floats = unseen if agent < 0 else chances[agent]
        return row

    return decide


def _kept(session: Session, chances: Floats, agent: int) -> tuple[int, ...]:
    """The slots that the agent would keep next, where training stopped."""
    memory_action = 0
    if not session.random:
        memory_action = int(session.tables.memory_of[chances[agent].argmax()])
    slot = int(session.tables.evicted[agent, memory_action])
    stack: list[Any] = session.induced.stacks[agent].tolist()
    return (*stack[:slot], *stack[slot + 1 :])
