"""One measured figure and the target it is held against."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import gymnasium as gym

from adastack.extras import check_installed


@dataclass(frozen=True)
class Figure:
    """A speed figure; ratios are measured in one run, so that they mean the same everywhere."""

    name: str
    value: float
    unit: str
    """``"x"`` for a ratio, or what is counted, such as ``"steps/s"``."""
    target: float
    at_most: bool = False
    """Whether the target is an upper bound rather than a lower one."""

    @property
    def reached(self) -> bool:
        """Whether the value meets the target."""
        return self.value <= self.target if self.at_most else self.value >= self.target


def seconds(action: Callable[[], object], repeats: int = 7) -> float:
    """The median time of an action, after one call that is not counted."""
    action()
    return median(_timed(action) for _ in range(repeats))


def interleaved(actions: dict[str, Callable[[], object]], repeats: int = 15) -> dict[str, float]:
    """The median time of each action, measured in turns so that noise falls on all alike."""
    for action in actions.values():
        action()
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(repeats):
        for name, action in actions.items():
            times[name].append(_timed(action))
    return {name: median(values) for name, values in times.items()}


def episodes(env: gym.Env[Any, Any], actions: Sequence[Any]) -> Callable[[], None]:
    """Steps an environment through the actions, one episode after the other."""

    def run() -> None:
        env.reset(seed=0)
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()

    return run


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """PyTorch on one thread; more are slower at the sizes of our networks."""
    check_installed("stable_baselines3", extra="sb3")
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _timed(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin
