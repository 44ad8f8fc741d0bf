"""Which observations an agent keeps, and for how long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import iterate
from numpy.typing import NDArray

from adastack.process.policy import begin_episode
from adastack.tasks import FiniteTaskEnv
from adastack.tasks.failures import blamed
from adastack.viewer.show import Show

EPISODES = 20
MOST_STEPS = 2000
MOST_SYMBOLS = 16
"""Observations of more kinds than this are told apart by their numbers instead."""
MOST_NUMBERS = 256
"""Of an observation whose numbers are compared."""
CLEAR = 0.5
"""Standard deviations that make a number of kept observations worth naming."""


@dataclass(frozen=True)
class Held:
    """An observation that was in the stack."""

    step: int
    """When it was seen, in steps since the episode began."""
    steps: int
    """How long it was held."""
    observation: Any


@dataclass(frozen=True)
class Kept:
    """What an agent keeps for longer than a window of the same size would."""

    observations: int
    """How many observations were seen."""
    kept: int
    """How many were kept for longer than the last k."""
    episodes: int
    seen_at: tuple[float, float, float] | None
    """When those were seen: quartiles, in steps since the episode began."""
    held_for: tuple[float, float, float] | None
    """How long they were held: quartiles, in steps."""
    what: tuple[tuple[str, int, int], ...]
    """For each kind of observation: its name, how often it was seen, and how often kept."""
    numbers: tuple[tuple[int, float], ...]
    """Numbers of the observation that differ where it was kept, in standard deviations."""

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def what_is_kept(show: Show, seed: int = 0) -> Kept:
    """Plays episodes, and says what was kept in them."""
    held, episodes = record_held(show, seed)
    names = show.env.task.observation_names if isinstance(show.env, FiniteTaskEnv) else None
    return summarise(held, episodes, show.stack_size, show.env.observation_space, names)


def record_held(show: Show, seed: int) -> tuple[list[Held], int]:
    """Every observation of some attempts, with how long it was held; and how many attempts.

    Where attempts follow each other in one episode, the memory is not reset in between.
    """
    env = show.with_memory()
    held: list[Held] = []
    steps = attempts = 0
    while attempts < EPISODES and steps < MOST_STEPS:
        walked, ended = _record_episode(env, show, seed + attempts, MOST_STEPS - steps, held)
        steps, attempts = steps + walked, attempts + ended
    env.close()
    return held, attempts


def _record_episode(
    env: Any, show: Show, seed: int, most: int, held: list[Held]
) -> tuple[int, int]:
    """Adds the observations of an episode; returns its steps and attempts."""
    with blamed(show.title, "reset"):
        stack, info = env.reset(seed=seed)
    begin_episode(show.act)
    clock = attempts = began = 0
    over, seen = False, {0: (0, _newest(env, stack))}
    while not over and clock < most:
        action, memory_action = show.act(stack, env.slot_ages)
        with blamed(show.title, "step"):
            stack, _, terminated, truncated, info = env.step(
                env.action_form.join(action, memory_action)
            )
        clock, over = clock + 1, bool(terminated or truncated)
        if over or info.get("attempt_over", False):
            attempts, began = attempts + 1, clock
        seen[clock] = (clock - began, _newest(env, stack))
        alive = {clock - age for age in info["slot_ages"].tolist() if age >= 0}
        for birth in [birth for birth in seen if birth not in alive]:
            step, shown = seen.pop(birth)
            held.append(Held(step, clock - birth, shown))
    held += [Held(step, clock - birth, shown) for birth, (step, shown) in seen.items()]
    return clock, max(attempts, 1)


def _newest(env: Any, stack: Any) -> Any:
    return list(iterate(env.observation_space, stack))[-1]


def summarise(
    held: Sequence[Held],
    episodes: int,
    k: int,
    space: spaces.Space[Any],
    names: Sequence[str] | None = None,
) -> Kept:
    """What was kept for longer than the last k observations would have been."""
    kept = [each for each in held if each.steps > k]
    kinds = _kinds(held, kept, names)
    return Kept(
        len(held),
        len(kept),
        episodes,
        _quartiles([each.step for each in kept]),
        _quartiles([each.steps for each in kept]),
        kinds,
        () if kinds else _numbers(held, kept, space),
    )


def _quartiles(values: Sequence[int]) -> tuple[float, float, float] | None:
    if not values:
        return None
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    return low, middle, high


def _kinds(
    held: Sequence[Held], kept: Sequence[Held], names: Sequence[str] | None
) -> tuple[tuple[str, int, int], ...]:
    """The observations by name, most often kept first, where there are few different ones."""
    seen, often = (Counter(_name(each, names) for each in group) for group in (held, kept))
    if len(seen) > MOST_SYMBOLS or None in seen:
        return ()
    order = sorted(seen, key=lambda name: (-often[name] / seen[name], str(name)))
    return tuple((str(name), seen[name], often[name]) for name in order)


def _name(each: Held, names: Sequence[str] | None) -> str | None:
    if isinstance(each.observation, dict | tuple):
        return None
    shown = np.asarray(each.observation)
    if shown.size > 4:
        return None
    if names is not None:
        return names[int(shown)]
    if not np.equal(np.mod(shown, 1), 0).all():
        return None
    return " ".join(str(int(number)) for number in np.ravel(shown))


def _numbers(
    held: Sequence[Held], kept: Sequence[Held], space: spaces.Space[Any]
) -> tuple[tuple[int, float], ...]:
    """The numbers by which kept observations differ most from all."""
    if not kept or not isinstance(space, spaces.Box) or np.prod(space.shape) > MOST_NUMBERS:
        return ()
    everything, some = _matrix(held), _matrix(kept)
    deviation = everything.std(axis=0)
    gap = (some.mean(axis=0) - everything.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    order = np.argsort(-np.abs(gap))[:3]
    return tuple((int(i), float(gap[i])) for i in order if abs(gap[i]) > CLEAR)


def _matrix(held: Sequence[Held]) -> NDArray[np.float64]:
    return np.stack([np.ravel(each.observation).astype(np.float64) for each in held])
