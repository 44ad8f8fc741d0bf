"""The settings of the deep learner and its presets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from adastack.tasks.spec import parse_spec

NETS = ("mlp", "lstm", "transformer", "cnn")
ACTION_FORMS = ("factored", "flat")
PADDINGS = ("empty", "reset")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, actual: {value!r}")


def _check_kinds(settings: Any) -> None:
    """Raises if a setting is not a number, or not true or false, where it has to be."""
    for field in fields(settings):
        value, kind = getattr(settings, field.name), str(field.type)
        truth = isinstance(value, bool)
        number = isinstance(value, int | float) and not truth and not math.isnan(value)
        if kind == "float" and not number:
            raise ValueError(f"{field.name} must be a number, actual: {value!r}")
        undecided = value is None and kind.endswith("None")
        if kind.startswith("bool") and not (truth or undecided):
            raise ValueError(f"{field.name} must be true or false, actual: {value!r}")


@dataclass(frozen=True)
class PPOSettings:
    """Everything PPO and GRPO can be told; the defaults are the paper's table."""

    net: str = "mlp"
    """The network over the slots: mlp, lstm, transformer, or cnn (an MLP over encoded images)."""
    action_form: str = "factored"
    """Two heads sampled independently (factored), or one over all pairs (flat)."""
    critic: bool = True
    """Learn a value function; without one, advantages are Monte-Carlo returns (GRPO)."""
    shared: bool = False
    """Let actor and critic share one body."""
    hidden: int = 128
    """Units of every hidden layer and embedding."""
    n_envs: int = 1
    """Environments that run side by side."""
    n_steps: int = 128
    """Steps of each environment between two updates."""
    batch_size: int = 128
    """Steps in a minibatch."""
    n_epochs: int = 10
    """Passes over the steps at each update."""
    learning_rate: float = 3e-4
    """Adam's step size at the start."""
    learning_rate_end: float = 3e-4
    """Adam's step size at the end; linear in between."""
    clip_range: float = 0.2
    """How far a probability ratio may move before its gradient is cut."""
    gamma: float = 0.99
    """Discount."""
    gae_lambda: float = 0.95
    """Weight of longer returns in the advantage."""
    entropy: float = 0.0
    """Weight of the environment action's entropy at the start."""
    memory_entropy: float = 0.0
    """Weight of the memory action's entropy at the start."""
    entropy_until: float = 1.0
    """Fraction of the run after which both entropy weights are zero; linear before."""
    anneal_entropy: bool = False
    """Let the entropy weights fall; otherwise they stay."""
    value_coef: float = 0.5
    """Weight of the value loss."""
    optimism: float = 0.0
    """What the critic says everywhere at first; more than can be had rewards the unknown."""
    padding: str = "empty"
    """What a new stack shows beside the first observation: empty slots, or (reset) that again."""
    patience: float = 0.0
    """How much likelier it is at first, as a logit, to give up the newest slot than another."""
    max_grad_norm: float = 0.5
    """Gradients longer than this are shortened to it."""
    normalize_observation: bool = False
    """Show real numbers and one-hot symbols in units of their deviation from the mean so far."""
    normalize_advantage: bool = True
    """Standardise the advantages of each minibatch."""
    adam_eps: float = 1e-5
    """Adam's epsilon."""
    tables: bool | None = None
    """Evaluate the network once on all agent states; None: when they are fewer than a minibatch."""

    def __post_init__(self) -> None:
        _one_of("net", self.net, NETS)
        _one_of("action_form", self.action_form, ACTION_FORMS)
        _one_of("padding", self.padding, PADDINGS)
        _check_kinds(self)
        for name in ("hidden", "n_envs", "n_steps", "batch_size", "n_epochs"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1, actual: {value!r}")
        for name in ("learning_rate", "clip_range", "max_grad_norm", "adam_eps", "entropy_until"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, actual: {getattr(self, name)!r}")
        for name in ("gamma", "gae_lambda"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in 0..1, actual: {getattr(self, name)!r}")
        if self.steps_per_update % self.batch_size:
            raise ValueError(
                f"batch_size must divide n_envs * n_steps = {self.steps_per_update}, "
                f"actual: {self.batch_size}"
            )

    @property
    def steps_per_update(self) -> int:
        """Environment steps, over all environments, between two updates."""
        return self.n_envs * self.n_steps

    @property
    def n_minibatches(self) -> int:
        """Minibatches in one pass."""
        return self.steps_per_update // self.batch_size


_CARTPOLE = PPOSettings(
    n_envs=16,
    n_steps=128,
    batch_size=256,
    n_epochs=10,
    learning_rate=3e-4,
    learning_rate_end=3e-5,
    normalize_observation=True,
)

PRESETS: dict[str, PPOSettings] = {
    "paper": PPOSettings(),
    "robust": PPOSettings(
        n_envs=16,
        n_steps=100,
        batch_size=400,
        n_epochs=10,
        learning_rate=1e-3,
        learning_rate_end=3e-4,
        entropy=0.03,
        memory_entropy=0.03,
        entropy_until=0.8,
        anneal_entropy=True,
        normalize_advantage=False,
        optimism=1.0,
    ),
    "cube": PPOSettings(
        n_envs=64,
        n_steps=100,
        batch_size=1600,
        n_epochs=4,
        learning_rate=1e-3,
        learning_rate_end=1e-4,
        entropy=0.01,
        patience=3.0,
    ),
    "minigrid-memory": PPOSettings(
        hidden=64,
        n_envs=64,
        n_steps=64,
        batch_size=512,
        n_epochs=10,
        learning_rate=1e-3,
        learning_rate_end=1e-4,
        gamma=0.995,
        entropy=0.01,
        entropy_until=0.8,
        anneal_entropy=True,
        padding="reset",
        patience=3.0,
        normalize_observation=True,
        normalize_advantage=False,
    ),
    "fetch-reach": PPOSettings(
        n_envs=16,
        n_steps=128,
        batch_size=256,
        n_epochs=10,
        learning_rate=1e-3,
        learning_rate_end=1e-4,
        gamma=0.95,
        normalize_observation=True,
        patience=2.0,
    ),
    "velocity-only-cartpole": _CARTPOLE,
    "position-only-cartpole": _CARTPOLE,
}
"""Settings by name: two for all mazes, and one for each world, its own unless told otherwise."""


def default_preset(task: str) -> str:
    """The preset of a task for which none was asked: its own if it has one.

    Example:
        >>> default_preset("cube:depth=2"), default_preset("passive-tmaze:length=16")
        ('cube', 'robust')
    """
    name = parse_spec(task).name
    return name if name in PRESETS else "robust"


def settings_for(preset: str, algo: str, overrides: Mapping[str, Any]) -> PPOSettings:
    """The settings of a preset, with some replaced.

    Example:
        >>> settings_for("paper", "ppo", {"net": "lstm"}).net
        'lstm'
    """
    _one_of("preset", preset, tuple(PRESETS))
    _one_of("algo", algo, ("ppo", "grpo"))
    known = {field.name: field for field in fields(PPOSettings)}
    for name in overrides:
        if name not in known:
            raise ValueError(f"expected a setting of {sorted(known)}, actual: {name!r}")
    base = replace(PRESETS[preset], critic=algo == "ppo")
    settings = replace(base, **overrides)
    if "learning_rate" in overrides and "learning_rate_end" not in overrides:
        scale = base.learning_rate_end / base.learning_rate
        return replace(settings, learning_rate_end=settings.learning_rate * scale)
    return settings


def settings_from(document: Mapping[str, Any]) -> PPOSettings:
    """The settings a run folder holds."""
    return PPOSettings(**document)


def as_document(settings: PPOSettings) -> dict[str, Any]:
    """The settings as JSON knows them."""
    return asdict(settings)
