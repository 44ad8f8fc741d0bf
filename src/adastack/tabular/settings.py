"""The settings of the tabular learners and their presets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from adastack.settings import (
    check_at_least_one,
    check_one_of,
    check_positive,
    check_types,
    check_within,
    from_document,
    replaced,
)

VALUE_ALGOS = ("q", "q-lambda", "sarsa", "expected-sarsa")
GRADIENT_ALGOS = ("reinforce", "average-reinforce")
ALGOS = (*VALUE_ALGOS, *GRADIENT_ALGOS)
EXPLORATIONS = ("joint", "independent")
INTRINSICS = ("none", "rare", "rare-kept")
SEGMENTS = ("block", "cycle")


@dataclass(frozen=True)
class ValueSettings:
    """What the learners of action values can be told; the defaults are the paper's table."""

    gamma: float = 0.99
    """Discount."""
    alpha: float = 0.1
    """Step size at the start."""
    alpha_end: float = 0.1
    """Step size once ``anneal`` of the run is over; linear before."""
    epsilon: float = 0.01
    """Chance of exploring at the start."""
    epsilon_end: float = 0.01
    """Chance of exploring once ``anneal`` of the run is over; linear before."""
    anneal: float = 0.9
    """Fraction of the run over which step size, exploration and persistence fall."""
    trace_decay: float = 0.8
    """Lambda, the decay of eligibility traces; algorithms without traces have 0."""
    trace_cut: float = 1e-4
    """Traces smaller than this are forgotten."""
    initial_value: float = 1.0
    """Initial value everywhere; above the maximum return it encourages exploration."""
    exploration: str = "joint"
    """Explore action and memory action together (joint), or each on its own (independent)."""
    persistence: int = 1
    """Longest period for which an agent state keeps its explored choice, at the start."""
    persistence_end: int = 1
    """Longest such period once ``anneal`` of the run is over; geometric before."""
    count_once: bool = False
    """Let a choice stand while it leaves the agent state as it is, and learn from it once, however
    many steps that takes; they are discounted by ``gamma ** (1 + log(steps))``."""
    intrinsic: str = "none"
    """Bonus for rare observations in the stack: none, rare or rare-kept (two readings)."""
    intrinsic_weight: float = 1.0
    """Weight of that bonus, beta."""

    def __post_init__(self) -> None:
        check_types(self)
        check_one_of("exploration", self.exploration, EXPLORATIONS)
        check_one_of("intrinsic", self.intrinsic, INTRINSICS)
        fractions = ("gamma", "epsilon", "epsilon_end", "trace_decay", "alpha", "alpha_end")
        check_within(self, (*fractions, "anneal"), 0, 1)
        check_at_least_one(self, ("persistence", "persistence_end"))
        check_positive(self, ("anneal", "trace_cut"))


@dataclass(frozen=True)
class GradientSettings:
    """What the softmax policy gradients can be told."""

    gamma: float = 0.99
    """Discount of episodic returns; the average-reward version has none."""
    step_size: float = 1.0
    """Step size at the start."""
    step_size_end: float = 1.0
    """Step size once ``anneal`` of the run is over; linear before."""
    entropy: float = 0.01
    """Weight of the policy's entropy at the start."""
    entropy_end: float = 0.0
    """Weight of the entropy once ``anneal`` of the run is over; linear before."""
    anneal: float = 0.9
    """Fraction of the run over which step size and entropy fall and blocks grow."""
    radius: float = 100.0
    """Parameters are projected onto the ball of this radius."""
    baseline_rate: float = 0.0
    """How fast the baseline of each agent state follows its returns; 0 for no baseline."""
    batch: int = 1
    """Segments (episodes, blocks or cycles) behind one update."""
    horizon: int = 1000
    """Longest segment; an episode or a cycle that has not ended by then is cut."""
    segment: str = "block"
    """Average-reward estimates: blocks of steps, or cycles between visits to one pair of M_k."""
    block: int = 50
    """Steps in a block at the start."""
    block_end: int = 200
    """Steps in a block once ``anneal`` of the run is over; linear before."""

    def __post_init__(self) -> None:
        check_types(self)
        check_one_of("segment", self.segment, SEGMENTS)
        check_within(self, ("gamma", "baseline_rate", "anneal"), 0, 1)
        check_within(self, ("step_size", "step_size_end", "entropy", "entropy_end"), 0, math.inf)
        check_at_least_one(self, ("batch", "horizon", "block", "block_end"))
        check_positive(self, ("anneal", "radius"))
        if max(self.block, self.block_end) > self.horizon:
            raise ValueError(
                f"blocks must not be longer than horizon = {self.horizon}, "
                f"actual: {max(self.block, self.block_end)}"
            )


Settings = ValueSettings | GradientSettings

_ROBUST = ValueSettings(
    gamma=0.98,
    alpha_end=0.005,
    epsilon=0.5,
    epsilon_end=0.05,
    exploration="independent",
    persistence=1000,
    persistence_end=30,
)
VALUE_PRESETS: Mapping[str, ValueSettings] = MappingProxyType(
    {
        "paper": ValueSettings(),
        "robust": _ROBUST,
        "default": replace(
            _ROBUST, gamma=0.95, persistence=100, persistence_end=10, count_once=True
        ),
    }
)
_STEADY = GradientSettings(step_size=5.0, step_size_end=0.5, baseline_rate=0.01, batch=10)
_STEADY_BY_ALGO = {
    "reinforce": _STEADY,
    # The gradient of the average reward is one of a single step, so it is smaller.
    "average-reinforce": replace(_STEADY, step_size=30.0, step_size_end=3.0),
}
GRADIENT_PRESETS: Mapping[str, Mapping[str, GradientSettings]] = MappingProxyType(
    {
        "paper": dict.fromkeys(GRADIENT_ALGOS, GradientSettings()),
        "robust": _STEADY_BY_ALGO,
        "default": _STEADY_BY_ALGO,
    }
)
PRESETS = tuple(VALUE_PRESETS)


def settings_for(preset: str, algo: str, overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings of a preset for an algorithm, with some replaced.

    Raises:
        ValueError: If the preset, the algorithm, a setting or its value is unknown.

    Example:
        >>> settings_for("paper", "q", {"alpha": 0.2}).alpha
        0.2
    """
    check_one_of("preset", preset, PRESETS)
    check_one_of("algo", algo, ALGOS)
    if algo in GRADIENT_ALGOS:
        return replaced(GRADIENT_PRESETS[preset][algo], overrides or {})
    base = VALUE_PRESETS[preset]
    if algo in ("q", "expected-sarsa"):
        base = replace(base, trace_decay=0.0)
    settings = replaced(base, overrides or {})
    if algo == "q" and settings.trace_decay:
        raise ValueError("algo q has no traces: use q-lambda, or leave trace_decay at 0")
    return settings


def settings_from(algo: str, document: Mapping[str, Any]) -> Settings:
    """The settings that a run folder holds."""
    if algo in GRADIENT_ALGOS:
        return from_document(GradientSettings, document)
    return from_document(ValueSettings, document)
