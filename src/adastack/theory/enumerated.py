"""Finite tasks made of rules: their states are found by following every action from the start."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from adastack.tasks.finite import FiniteTask

State = TypeVar("State", bound=Hashable)


class Outcome(NamedTuple):
    """What may follow an action."""

    state: Hashable
    probability: float = 1.0
    reward: float = 0.0
    ends: bool = False


def enumerated(
    name: str,
    start: Mapping[State, float],
    actions: Sequence[str],
    step: Callable[[State, int], Sequence[Outcome]],
    observe: Callable[[State], str],
) -> FiniteTask:
    """The task as arrays.

    Args:
        name: Its name.
        start: The probability of each state at the start.
        actions: The names of the actions.
        step: (state, number of an action) -> what may follow, with probabilities that sum to 1.
        observe: The name of what is seen in a state; states with the same name look alike.

    Example:
        >>> coin = enumerated(
        ...     "coin", {"heads": 0.5, "tails": 0.5}, ("stay",),
        ...     lambda side, action: [Outcome(side, reward=side == "heads", ends=True)],
        ...     lambda side: "a coin",
        ... )
        >>> coin.n_states, coin.observation_names
        (2, ('a coin',))
    """
    number: dict[State, int] = {state: i for i, state in enumerate(start)}
    rows: list[list[Sequence[Outcome]]] = []
    states = list(start)
    for state in states:  # New states are appended while the loop goes on.
        rows.append([step(state, action) for action in range(len(actions))])
        for outcome in (each for outcomes in rows[-1] for each in outcomes):
            if outcome.state not in number:
                number[outcome.state] = len(states)  # type: ignore[index]
                states.append(outcome.state)  # type: ignore[arg-type]
    branches = max(len(outcomes) for row in rows for outcomes in row)
    shape = (len(states), len(actions), branches)
    next_state, ends = np.zeros(shape, np.int32), np.zeros(shape, np.bool_)
    probability, reward = np.zeros(shape), np.zeros(shape)
    for i, row in enumerate(rows):
        for action, outcomes in enumerate(row):
            for branch, outcome in enumerate(outcomes):
                place = i, action, branch
                next_state[place] = number[outcome.state]  # type: ignore[index]
                probability[place], reward[place] = outcome.probability, outcome.reward
                ends[place] = outcome.ends
    seen = [observe(state) for state in states]
    names = {observed: i for i, observed in enumerate(dict.fromkeys(seen))}
    return FiniteTask(
        name=name,
        observation=np.array([names[observed] for observed in seen], np.int32),
        next_state=next_state,
        probability=probability,
        reward=reward,
        ends=ends,
        start=np.array([start.get(state, 0.0) for state in states]),
        observation_names=tuple(names),
        action_names=tuple(actions),
    )
