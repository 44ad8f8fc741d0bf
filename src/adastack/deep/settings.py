"""The settings of the deep learner and its presets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adastack.deep.cell_table import CELLS, NO_CELL
from adastack.deep.network_table import NETWORKS
from adastack.settings import (
    check_at_least_one,
    check_one_of,
    check_positive,
    check_types,
    check_within,
    replaced,
)
from adastack.tasks.registry import TASKS

ACTION_FORMS = ("factored", "flat")
PADDINGS = ("empty", "reset")


@dataclass(frozen=True)
class PPOSettings:
    """Everything PPO and GRPO can be told; the defaults are the paper's table."""

    net: str = "mlp"
    """The network over the slots: mlp, lstm, transformer, or cnn (an MLP over encoded images)."""
    cell: str = NO_CELL
    """What carries a state through the episode, above the network: none, gru, lstm or lru."""
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
    dense_gae_lambda: float | None = None
    """The same for a discrete action where rewards are dense and vary, if it shows its worth at
    once; needs count_once, scale_reward and a critic. None: one advantage for both heads."""
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
    """Initial value everywhere; above the maximum return it encourages exploration."""
    padding: str = "empty"
    """What a new stack shows beside the first observation: empty slots, or (reset) that again."""
    read_empty: bool = False
    """Let sequence networks read empty slots like others; otherwise they read what is filled."""
    patience: float = 0.0
    """How much likelier it is at first, as a logit, to evict the newest slot than another."""
    fill_first: bool = False
    """Never evict the newest slot while another one is empty."""
    hold_noise: int = 1
    """Longest period, in steps, for which every second environment holds its noise; with dense
    rewards three of four, the memory action's alone. 1 draws it anew at each step."""
    hold_real: bool = False
    """Also hold the noise of real-valued actions, in every fourth environment and nothing else
    there; needs hold_noise and four environments."""
    look_back: bool = False
    """Let the memory action's held noise ignore the newest slot in half of its periods (with dense
    rewards: in all)."""
    count_once: bool = False
    """Let a choice stand while it leaves the stack as it is, and learn from a decision once."""
    critic_clock: bool = False
    """Give the critic the storage time and age of each slot; the policy sees the stack alone. Not
    with a cell or a shared body, nor on finite tasks."""
    critic_worth: bool = False
    """Where rewards are dense and vary, let the critic weigh the stacks that all memory actions
    would leave: the memory action is learned from that, and the environment action is not blamed
    for it. Needs count_once, scale_reward, two heads and empty padding; not with a cell, nor on
    finite tasks."""
    keep_rare: bool = False
    """In every fourth environment keep rare observations whatever the policy says; what was taken
    there does not count for the memory action. Needs count_once, critic_clock, two heads and four
    environments; not on finite tasks."""
    limits_end: bool = False
    """Treat a time limit as an end, worth nothing afterwards, rather than as a cut."""
    scale_advantage: bool = False
    """Centre advantages, and scale them down where an outcome is worth more than one."""
    scale_reward: bool = False
    """Count rewards in units of half their range so far, and values in units of returns."""
    gaussian_entropy: float = 1.0
    """Factor of the entropy bonus where actions are real numbers."""
    max_grad_norm: float = 0.5
    """Gradients longer than this are shortened to it."""
    normalize_observation: bool = False
    """Show real numbers and one-hot symbols in units of their deviation from the mean so far."""
    normalize_advantage: bool = True
    """Standardise the advantages of each minibatch."""
    adam_eps: float = 1e-5
    """Adam's epsilon."""
    keep_best: bool = False
    """On finite tasks, keep the weights of the rollout that earned the most, and test them, too."""
    tables: bool | None = None
    """Evaluate the network once on all agent states; None: when that is less than a minibatch."""

    def __post_init__(self) -> None:
        check_one_of("net", self.net, NETWORKS)
        check_one_of("cell", self.cell, (NO_CELL, *CELLS))
        check_one_of("action_form", self.action_form, ACTION_FORMS)
        check_one_of("padding", self.padding, PADDINGS)
        check_types(self)
        whole = ("hidden", "n_envs", "n_steps", "batch_size", "n_epochs", "hold_noise")
        check_at_least_one(self, whole)
        positive = ("learning_rate", "clip_range", "max_grad_norm", "adam_eps", "entropy_until")
        check_positive(self, positive)
        check_within(self, ("gamma", "gae_lambda"), 0, 1)
        if self.dense_gae_lambda is not None:
            check_within(self, ("dense_gae_lambda",), 0, 1)
        if self.steps_per_update % self.batch_size:
            raise ValueError(
                f"batch_size must divide n_envs * n_steps = {self.steps_per_update}, "
                f"actual: {self.batch_size}"
            )
        if self.recurrent and self.batch_size % self.n_steps:
            raise ValueError(
                f"batch_size must be a multiple of n_steps = {self.n_steps} with a cell, which "
                f"learns from whole sequences, actual: {self.batch_size}"
            )

    @property
    def recurrent(self) -> bool:
        """Whether a cell carries a state through the episode."""
        return self.cell != NO_CELL

    @property
    def uses_clock(self) -> bool:
        """Whether the critic gets the storage times: it needs a body of its own, and no cell."""
        return self.critic_clock and self.critic and not self.shared and not self.recurrent

    @property
    def weighs_evictions(self) -> bool:
        """Whether the critic weighs all memory actions; repeated padding hides what is filled."""
        fits = self.action_form == "factored" and self.count_once and self.scale_reward
        fits = fits and self.padding == "empty" and not self.recurrent
        return self.critic_worth and self.critic and fits

    @property
    def keeps_rare(self) -> bool:
        """Whether some environments keep what is rare; the clock counts observations."""
        fits = self.action_form == "factored" and self.n_envs >= 4
        return self.keep_rare and self.count_once and self.uses_clock and fits

    @property
    def waits(self) -> bool:
        """Whether choices stand; not with a cell, which may tell steps apart that look alike."""
        return self.count_once and not self.recurrent

    @property
    def steps_per_update(self) -> int:
        """Environment steps, over all environments, between two updates."""
        return self.n_envs * self.n_steps

    @property
    def n_minibatches(self) -> int:
        """Minibatches in one pass."""
        return self.steps_per_update // self.batch_size


_ROBUST = PPOSettings(
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
)
# As `default` was when the league began: a fixed learner, so that its runs stay comparable.
_LEAGUE = replace(
    _ROBUST,
    hidden=64,
    gamma=0.9995,
    scale_advantage=True,
    gaussian_entropy=0.1,
    fill_first=True,
    hold_noise=10_000,
    count_once=True,
    limits_end=True,
    normalize_observation=True,
)

PRESETS: dict[str, PPOSettings] = {
    "paper": PPOSettings(),
    "robust": _ROBUST,
    "default": replace(
        _LEAGUE,
        hold_real=True,
        scale_reward=True,
        look_back=True,
        critic_clock=True,
        critic_worth=True,
        keep_rare=True,
    ),
    "league": _LEAGUE,
    **{row.name: PPOSettings(**row.ppo) for row in TASKS.values() if row.ppo is not None},
}
"""Settings by name: for all tasks, and for each world, whose row in the registry has its own."""


NEEDS: dict[str, tuple[Callable[[PPOSettings], bool], str]] = {
    "entropy_until": (lambda s: s.anneal_entropy, "anneal_entropy"),
    "look_back": (lambda s: s.hold_noise > 1, "hold_noise above 1"),
    "hold_real": (
        lambda s: s.hold_noise > 1 and s.n_envs >= 4,
        "hold_noise above 1 and n_envs of at least 4",
    ),
    "dense_gae_lambda": (
        lambda s: s.count_once and s.scale_reward and s.critic,
        "count_once, scale_reward and a critic",
    ),
    "critic_clock": (lambda s: s.uses_clock, "a critic that is not shared, and no cell"),
    "critic_worth": (
        lambda s: s.weighs_evictions,
        "count_once, scale_reward, a critic, action_form factored and padding empty, and no cell",
    ),
    "keep_rare": (
        lambda s: s.keeps_rare,
        "count_once, critic_clock, action_form factored and n_envs of at least 4",
    ),
}
"""The settings that do nothing without others: when they do something, and what they need."""


def settings_for(preset: str, algo: str, overrides: Mapping[str, Any]) -> PPOSettings:
    """The settings of a preset, with some replaced.

    Raises:
        ValueError: If a setting that was asked for is unknown, wrong, or would do nothing.

    Example:
        >>> settings_for("paper", "ppo", {"net": "lstm"}).net
        'lstm'
    """
    check_one_of("preset", preset, PRESETS)
    check_one_of("algo", algo, ("ppo", "grpo"))
    base = replace(PRESETS[preset], critic=algo == "ppo")
    settings = replaced(base, overrides)
    _check_effect(settings, overrides)
    if "learning_rate" in overrides and "learning_rate_end" not in overrides:
        scale = base.learning_rate_end / base.learning_rate
        return replace(settings, learning_rate_end=settings.learning_rate * scale)
    return settings


def _check_effect(settings: PPOSettings, asked: Mapping[str, Any]) -> None:
    """Raises if a setting was asked for that would do nothing: a preset's own may."""
    for name, value in asked.items():
        works, needs = NEEDS.get(name, (None, ""))
        if works and value not in (None, False) and not works(settings):
            raise ValueError(f"{name}={value} does nothing here: expected {needs}")
