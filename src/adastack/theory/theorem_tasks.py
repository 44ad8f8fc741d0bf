"""Tasks on which the theorems can be tried: random ones that fulfil their premise, and two more.

In the random tasks an observation is shown by several hidden states, its *copies*. What follows an
action is one of two observations, and both the start and the way tell which copy it is: a history
knows the hidden state, a stack in general does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adastack.tasks.finite import FiniteTask, Floats
from adastack.theory.optimal import GAMMA

ENDING = 0.1
"""The chance that an attempt at a random task ends at a step."""


def blind_task(seed: int, observations: int = 4, copies: int = 3, actions: int = 2) -> FiniteTask:
    """A random task whose hidden part does not matter: every stack policy is value-consistent.

    Rewards and the observations that follow depend on the observation and the action alone.
    """
    rng = np.random.default_rng(seed)
    shape = (observations, 1, actions)
    chance, seen = _chance(rng, shape), _seen(rng, shape)
    pays = rng.normal(size=chance.shape)
    return _task(f"blind:{seed}", rng, copies, chance, seen, pays)


def reactive_task(
    seed: int, gamma: float = GAMMA, observations: int = 4, copies: int = 3, actions: int = 2
) -> FiniteTask:
    """A random task whose optimal values depend on the observation alone.

    The hidden part changes rewards and what follows, in such a way that they balance: an action
    value is drawn for each observation and action, and the rewards are what makes it true at this
    discount. The optimal policy is value-consistent, most others are not.
    """
    rng = np.random.default_rng(seed)
    shape = (observations, copies, actions)
    chance, seen = _chance(rng, shape), _seen(rng, shape)
    worth = rng.normal(size=(observations, actions))
    ahead = (chance[..., :2] * worth.max(axis=1)[seen]).sum(axis=-1)
    pays = (worth[:, None, :] - gamma * ahead)[..., None]
    return _task(f"reactive:{seed}", rng, copies, chance, seen, pays)


def branching_task() -> FiniteTask:
    """Two branches that look alike in the end, and one question.

    After ``start`` comes ``left`` or ``right``, then ``question``. Answer 0 pays 1 after ``left``
    and 0 after ``right``; answer 1 pays 0.9 after either. An agent that keeps the branch and always
    answers 0, and one that keeps nothing and answers 1, are both value-consistent.
    """
    start, left, right, question_left, question_right = range(5)
    follows = [[left, right], [question_left] * 2, [question_right] * 2, [start] * 2, [start] * 2]
    reward = np.zeros((5, 2, 2))
    reward[question_left] = [[1.0], [0.9]]
    reward[question_right] = [[0.0], [0.9]]
    ends = np.zeros((5, 2, 2), np.bool_)
    ends[question_left:] = True
    return FiniteTask(
        name="branching",
        observation=np.array([0, 1, 2, 3, 3]),
        next_state=np.repeat(np.array(follows)[:, None, :], 2, axis=1),
        probability=np.full((5, 2, 2), 0.5),
        reward=reward,
        ends=ends,
        start=np.eye(5)[start],
        observation_names=("start", "left", "right", "question"),
        action_names=("zero", "one"),
    )


def crossed_task() -> FiniteTask:
    """Two signs, one after the other, and the answer that pays depends on both.

    Without memory every answer is worth the same at every stack, and yet not after every history.
    """
    # States: the two first signs, then the pairs of signs.
    second = np.array([[2, 3], [4, 5]])
    next_state = np.zeros((6, 2, 2), np.int32)
    next_state[:2] = second[:, None, :]
    reward = np.zeros((6, 2, 2))
    reward[second.ravel()] = np.array([[1, 0], [0, 1], [0, 1], [1, 0]])[:, :, None]
    ends = np.zeros((6, 2, 2), np.bool_)
    ends[2:] = True
    return FiniteTask(
        name="crossed",
        observation=np.array([0, 1, 2, 3, 2, 3], np.int32),
        next_state=next_state,
        probability=np.full((6, 2, 2), 0.5),
        reward=reward,
        ends=ends,
        start=np.array([0.5, 0.5, 0, 0, 0, 0]),
        observation_names=("sun", "moon", "hill", "lake"),
        action_names=("zero", "one"),
    )


def _chance(rng: np.random.Generator, shape: tuple[int, int, int]) -> Floats:
    """Probabilities of the two observations that can follow, and of the end."""
    share = rng.uniform(0.2, 0.8, shape)
    return np.stack([share, 1 - share, np.full(shape, ENDING / (1 - ENDING))], -1) * (1 - ENDING)


def _seen(rng: np.random.Generator, shape: tuple[int, int, int]) -> NDArray[np.int64]:
    """Two different observations for each entry."""
    every = np.broadcast_to(np.arange(shape[0]), (*shape, shape[0]))
    return rng.permuted(every, axis=-1)[..., :2]


def _task(
    name: str,
    rng: np.random.Generator,
    copies: int,
    chance: Floats,
    seen: NDArray[np.int64],
    pays: Floats,
) -> FiniteTask:
    """The task with these tables over (observation, copy, action, outcome)."""
    observations, actions = len(chance), chance.shape[2]
    shape = (observations, copies, actions, 3)
    next_state = np.zeros(shape, np.int64)
    next_state[..., :2] = seen * copies + rng.integers(copies, size=(*shape[:3], 2))
    ends = np.zeros(shape, np.bool_)
    ends[..., 2] = True
    n_states = observations * copies
    start = np.zeros((observations, copies))
    start[:, 0] = 1 / observations
    flat = (n_states, actions, 3)
    return FiniteTask(
        name=name,
        observation=np.repeat(np.arange(observations, dtype=np.int32), copies),
        next_state=next_state.reshape(flat).astype(np.int32),
        probability=np.broadcast_to(chance, shape).reshape(flat),
        reward=np.broadcast_to(pays, shape).reshape(flat),
        ends=ends.reshape(flat),
        start=start.ravel(),
        observation_names=tuple(f"x{number}" for number in range(observations)),
        action_names=tuple(f"a{number}" for number in range(actions)),
    )
