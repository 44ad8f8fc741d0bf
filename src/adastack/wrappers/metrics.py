"""What an agent remembers, counted: returns, successes, memory regrets, evictions.

An environment says in its info what matters: ``shown``, a label of what the current observation
shows, and ``cue``, the labels that must be remembered now (-1 for none). It may say
``attempt_over`` where it differs from the end of an episode, and ``success`` (or ``is_success``).
Environments that say nothing of cues have no regrets, and those that say nothing of success have no
successes (NaN, or None for a single attempt).

What is regretted is defined in `adastack.memory.regret`. What a slot shows is what it holds: under
``padding_type="reset"`` an empty slot holds the first observation, otherwise nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, SupportsFloat, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AsyncVectorEnv
from numpy.typing import NDArray

from adastack.memory import Stack
from adastack.memory.regret import NOTHING, REGRETS, SHARES, regrets
from adastack.wrappers.observations import repeats_first
from adastack.wrappers.single import memory_of

Mask = NDArray[np.bool_]
EnvT = TypeVar("EnvT")

COUNTED = ("reward", "attempts", "successes", *REGRETS)


@dataclass
class _Sums:
    """Sums over the steps of a window or of an attempt, for a batch."""

    batch: int
    stack_size: int
    steps: NDArray[np.int64] = field(init=False)
    counted: dict[str, NDArray[np.float64]] = field(init=False)
    discounted: NDArray[np.float64] = field(init=False)
    evictions: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.clear(np.ones(self.batch, np.bool_), first=True)

    def clear(self, mask: Mask, first: bool = False) -> None:
        if first:
            self.steps = np.zeros(self.batch, np.int64)
            self.counted = {name: np.zeros(self.batch) for name in COUNTED}
            self.discounted = np.zeros(self.batch)
            self.evictions = np.zeros((self.batch, self.stack_size), np.int64)
            return
        for array in (self.steps, self.discounted, self.evictions, *self.counted.values()):
            array[mask] = 0

    def add(
        self, values: dict[str, NDArray[Any]], slots: NDArray[np.integer], gamma: float, live: Mask
    ) -> None:
        for name, value in values.items():
            self.counted[name] += np.where(live, value, 0)
        self.discounted += np.where(live, gamma**self.steps * values["reward"], 0)
        self.evictions[np.flatnonzero(live), slots[live]] += 1
        self.steps += live


class MemoryMeter:
    """Counts for a batch of environments; its settings are those of `RecordMemory`.

    ``padding_type`` is that of the memory: what its empty slots show.
    """

    def __init__(
        self,
        batch: int,
        padding_type: Any,
        *,
        interval: int,
        gamma: float = 0.99,
        optimal_value: float | None = None,
        optimal_rate: float | None = None,
    ) -> None:
        if interval < 1:
            raise ValueError(f"interval must be at least 1, actual: {interval}")
        self.batch = batch
        self.interval = interval
        self.gamma = gamma
        self.optimal_value = np.nan if optimal_value is None else optimal_value
        self.optimal_rate = np.nan if optimal_rate is None else optimal_rate
        self.windows: list[dict[str, Any]] = []
        self.episodes: list[dict[str, Any]] = []
        self._padding = None if repeats_first(padding_type) else [np.array(NOTHING)]
        self._cues: NDArray[np.int64] | None = None
        self._reports_success = False
        self._rounds = 0
        self._labels: Stack | None = None
        self._window: _Sums
        self._attempt: _Sums

    def reset(self, infos: dict[str, Any], mask: Mask | None = None) -> None:
        """Begins new episodes in the environments of the mask."""
        everywhere = np.ones(self.batch, np.bool_) if mask is None else mask
        shown, cues = labels_of(infos, self.batch)
        if self._labels is None:
            self._labels = self._begin(infos)
        self._labels.reset([shown], self._padding, everywhere)
        if cues is None or self._cues is None:
            self._cues = cues
        else:
            self._cues = np.where(everywhere[:, None], cues, self._cues)
        self._attempt.clear(everywhere)

    def _begin(self, infos: dict[str, Any]) -> Stack:
        """Makes room for as many slots as the first infos speak of."""
        if "slot_ages" not in infos:
            raise ValueError(
                "RecordMemory expects an environment inside a memory wrapper such as "
                "AdaptiveStack, actual: no slot_ages in its info"
            )
        stack_size = infos["slot_ages"].shape[-1]
        self._window = _Sums(self.batch, stack_size)
        self._attempt = _Sums(self.batch, stack_size)
        return Stack("adaptive", stack_size, self.batch, [((), np.int64)])

    def step(
        self,
        rewards: NDArray[np.floating],
        slots: NDArray[np.integer],
        over: Mask,
        success: Mask | None,
        infos: dict[str, Any],
        live: Mask,
    ) -> list[tuple[int, dict[str, Any]]]:
        """Counts one step of the live environments; returns the attempts that ended.

        Args:
            rewards: (batch,): the rewards.
            slots: (batch,): the slots that were evicted.
            over: (batch,): whether an attempt ended.
            success: (batch,): whether it ended well; None if no environment says.
            infos: The infos that belong to the next observations.
            live: (batch,): whether this was a step at all, rather than a reset.
        """
        if self._labels is None:
            raise RuntimeError("expected a reset before the first step")
        slots = np.where(live, slots, 0)
        labels = self._labels.columns[0]
        values: dict[str, NDArray[Any]] = {
            "reward": np.asarray(rewards, np.float64),
            "attempts": over.astype(np.float64),
            "successes": np.zeros(self.batch) if success is None else over & success,
        }
        self._reports_success |= success is not None
        values |= self._regrets(labels, slots, over)
        for sums in (self._window, self._attempt):
            sums.add(values, slots, self.gamma, live)
        ended = [(int(i), self._summary(int(i))) for i in np.flatnonzero(over & live)]
        self.episodes += [summary for _, summary in ended]
        self._attempt.clear(over & live)
        shown, self._cues = labels_of(infos, self.batch)
        self._labels.push(slots, [shown])
        self._rounds += 1
        if self._rounds % self.interval == 0:
            self._close_window(self._labels.ages)
        return ended

    def _regrets(
        self, labels: NDArray[np.integer], slots: NDArray[np.integer], over: Mask
    ) -> dict[str, NDArray[Any]]:
        if self._cues is None:
            unknown = np.full(self.batch, np.nan)
            return dict.fromkeys(REGRETS, unknown)
        return dict(zip(REGRETS, regrets(labels, slots, self._cues, over), strict=True))

    def _summary(self, index: int) -> dict[str, Any]:
        """One attempt of one environment."""
        sums = self._attempt
        value = float(sums.discounted[index])
        return {
            "step": (self._rounds + 1) * self.batch,
            "environment": index,
            "length": int(sums.steps[index]),
            "return": float(sums.counted["reward"][index]),
            "discounted_return": value,
            "success": bool(sums.counted["successes"][index]) if self._reports_success else None,
            **{name: float(sums.counted[name][index]) for name in REGRETS},
            **{name: float(sums.counted[name][index] / sums.steps[index]) for name in SHARES},
            "reward_regret": self.optimal_value - value,
            "evictions": sums.evictions[index].tolist(),
        }

    def _close_window(self, ages: NDArray[np.int64]) -> None:
        """Appends the totals of the last ``interval`` steps of every environment."""
        sums = self._window
        steps = int(sums.steps.sum())
        total = {name: float(values.sum()) for name, values in sums.counted.items()}
        if not self._reports_success:
            total["successes"] = np.nan
        self.windows.append(
            {
                "step": self._rounds * self.batch,
                "steps": steps,
                **total,
                **{name: total[name] / max(steps, 1) for name in SHARES},
                "reward_regret": self.optimal_rate * steps - total["reward"],
                "evictions": sums.evictions.sum(axis=0).tolist(),
                "mean_age": _mean_age(ages),
            }
        )
        sums.clear(np.ones(self.batch, np.bool_))


class Records(RecordConstructorArgs, Generic[EnvT]):
    """What `RecordMemory` is for one environment and for vector environments alike."""

    def __init__(
        self,
        env: EnvT,
        *,
        interval: int = 100,
        gamma: float = 0.99,
        optimal_value: float | None = None,
        optimal_rate: float | None = None,
    ) -> None:
        settings: dict[str, Any] = {
            "interval": interval,
            "gamma": gamma,
            "optimal_value": optimal_value,
            "optimal_rate": optimal_rate,
        }
        RecordConstructorArgs.__init__(self, **settings)
        self.meter = MemoryMeter(self._wrap(env), _padding_type(env), **settings)

    def _wrap(self, env: EnvT) -> int:
        """Wraps the environment; returns the number of environments in it."""
        raise NotImplementedError

    @property
    def windows(self) -> list[dict[str, Any]]:
        """One row every ``interval`` steps of every environment."""
        return self.meter.windows

    @property
    def episodes(self) -> list[dict[str, Any]]:
        """One row for each attempt."""
        return self.meter.episodes


class RecordMemory(Records[gym.Env[Any, Any]], gym.Wrapper[Any, Any, Any, Any]):
    """Records returns, successes, regrets and evictions of an environment with a memory.

    ``windows`` has a row every ``interval`` steps, ``episodes`` one for each attempt; the step that
    ends an attempt carries its row in ``info["memory"]``.

    Args:
        env: An environment inside a memory wrapper.
        interval: Steps in one window.
        gamma: The discount of an attempt's return.
        optimal_value: The optimal discounted value of an attempt, for its reward regret.
        optimal_rate: The optimal reward per step, for a window's reward regret.

    Example:
        >>> import gymnasium as gym, adastack
        >>> from adastack.wrappers import AdaptiveStack, RecordMemory
        >>> env = AdaptiveStack(gym.make("adastack/PassiveTMaze-v0", length=3), stack_size=2)
        >>> env = RecordMemory(env)
        >>> _ = env.reset(seed=0)
        >>> for action in ([0, 0], [0, 1], [0, 1]):  # keep the cue, walk, go up
        ...     *_, info = env.step(action)
        >>> info["memory"]["passive_regret"], info["memory"]["length"]
        (0.0, 3)
    """

    def _wrap(self, env: gym.Env[Any, Any]) -> int:
        gym.Wrapper.__init__(self, env)
        return 1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Resets the environment; an unfinished attempt is not counted."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.meter.reset(_batched(info))
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Steps the environment and counts."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        infos = _batched(info)
        done = np.array([terminated or truncated])
        over, success = outcome(infos, done)
        slots = np.array([info["evicted_slot"]])
        live = np.ones(1, np.bool_)
        for _, summary in self.meter.step(
            np.array([float(reward)]), slots, over, success, infos, live
        ):
            info["memory"] = summary
        return observation, reward, terminated, truncated, info


def outcome(infos: dict[str, Any], done: Mask) -> tuple[Mask, Mask | None]:
    """Whether attempts ended, and well (None if the infos do not say)."""
    over = done | np.asarray(infos.get("attempt_over", False), np.bool_)
    success = infos.get("success", infos.get("is_success"))
    return over, None if success is None else np.asarray(success, np.bool_)


def _padding_type(env: Any) -> Any:
    """What empty slots show, by the memory wrapper; environments in other processes are asked."""
    if isinstance(env.unwrapped, AsyncVectorEnv) and memory_of(env) is None:
        return env.unwrapped.get_attr("padding_type")[0]
    return getattr(memory_of(env), "padding_type", None)


def _batched(info: dict[str, Any]) -> dict[str, Any]:
    """The entries of one info that the meter reads, as a batch of one."""
    names = ("slot_ages", "shown", "cue", "attempt_over", "success", "is_success")
    return {name: np.asarray(info[name])[None] for name in names if name in info}


def labels_of(
    infos: dict[str, Any], batch: int
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """What the observations show and what is needed; None where the environment says nothing."""
    if "cue" not in infos or "shown" not in infos:
        return np.full(batch, NOTHING, np.int64), None
    cues = _rows(np.asarray(infos["cue"])).reshape(batch, -1).astype(np.int64)
    # Gymnasium fills the entries of environments that say nothing with zeros, and masks them.
    says = infos.get("_cue", np.ones(batch, np.bool_))
    return np.asarray(infos["shown"], np.int64), np.where(says[:, None], cues, -1)


def _rows(cues: NDArray[Any]) -> NDArray[Any]:
    """The cues of each environment; lists, which Gymnasium keeps as objects, as rows of numbers."""
    if cues.dtype != object:
        return cues
    lists = [np.ravel([] if cue is None else cue).tolist() for cue in cues]
    most = max(map(len, lists))
    return np.array([cue + [-1] * (most - len(cue)) for cue in lists])


def _mean_age(ages: NDArray[np.int64]) -> float:
    """The mean age of what is held beside the current observation; NaN if nothing is."""
    memory = ages[:, :-1]
    return float(memory[memory >= 0].mean()) if (memory >= 0).any() else float("nan")
