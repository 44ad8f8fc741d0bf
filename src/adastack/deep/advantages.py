"""What a rollout's steps or decisions were worth: advantages for each head, and returns.

Where rewards are dense and vary, an action may show its worth at once, while the loss of what was
remembered costs all that follows. An eviction some steps later is then noise to the action, many
times as large as what the action earned. So each head has an advantage of its own there.

With ``critic_worth`` evictions are weighed against each other (`adastack.deep.weighing`): the
advantage of the action is then taken against the value of the stack and what the eviction of the
same step was worth, and the memory action is learned from what each eviction is worth instead of
from advantages. Those would move it by noise before anything is known about what is worth keeping.

With ``dense_gae_lambda`` the action looks less far ahead, if actions are discrete; where they show
their worth later, that would hide it, so it has to be asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from adastack.deep.gae import (
    decision_advantages,
    decision_returns,
    generalised_advantages,
    monte_carlo_returns,
)
from adastack.deep.heads import Gaussian, Product
from adastack.deep.settings import PPOSettings
from adastack.deep.units import Units, scaled, scaled_alone
from adastack.deep.waits import Decided

VARIES = 0.1
"""Rewards vary if those that end nothing differ by more than this fraction of the largest."""


class Outcomes(NamedTuple):
    """What followed each step or decision, (time, environments), as the critic counts."""

    reward: Array
    decided: Decided | None
    """What each step decided, if a wait is one decision."""
    value: Array | None
    """The critic's values before; None without a critic."""
    next_value: Array | None
    """Its values after, before any reset."""
    terminated: Array
    over: Array
    gamma: Array | float


class Paid(NamedTuple):
    """What a rollout paid, (steps, environments), as the environment counts."""

    reward: Array
    over: Array
    """Whether an attempt was over."""

    @property
    def outcome(self) -> Array:
        """Whether a step had a reward or ended an attempt."""
        return self.over | (self.reward != 0)

    def dense_and_varied(self, units: Units) -> Array:
        """Whether rewards are dense, and steps that end nothing are paid differently."""
        most = jnp.where(self.over, -jnp.inf, self.reward).max()
        least = jnp.where(self.over, jnp.inf, self.reward).min()
        return units.dense & (most - least > VARIES * jnp.abs(units.paid).max())


def advantages_and_returns(outcomes: Outcomes, gae_lambda: float) -> tuple[Array, Array]:
    """Advantages and the critic's targets; without a critic, returns are both."""
    reward, decided, value, next_value, terminated, over, gamma = outcomes
    if value is None or next_value is None:
        if decided is None:
            returns = monte_carlo_returns(reward, over, gamma)
        else:
            returns = decision_returns(decided, over)
        return returns, returns
    rest = (value, next_value, terminated, over)
    if decided is None:
        advantage = generalised_advantages(reward, *rest, gamma, gae_lambda)
    else:
        advantage = decision_advantages(decided, *rest, gae_lambda)
    return advantage, advantage + value


def scaled_advantages(
    settings: PPOSettings, heads: Product, units: Units, outcomes: Outcomes, paid: Paid,
    weight: Array | None, eviction_worth: Array | None = None,
) -> tuple[Units, Array, Array]:  # fmt: skip
    """The units with a rollout's advantages and returns, and both.

    Args:
        settings: The settings.
        heads: The heads of the policy.
        units: The units so far.
        outcomes: What followed the steps or decisions to learn from.
        paid: What the rollout paid.
        weight: (time, environments, heads): how much each counts, if not all alike.
        eviction_worth: (time, environments): what the memory actions taken were worth, if known.

    Returns:
        The units; advantages, (time, environments) or, if each head has its own, (time,
        environments, heads); returns, (time, environments).
    """
    advantage, returns = advantages_and_returns(outcomes, settings.gae_lambda)
    units, usual = scaled(settings, units, advantage, returns, paid.outcome, weight)
    shorter = None if isinstance(heads.heads[0], Gaussian) else settings.dense_gae_lambda
    one_for_both = len(heads.heads) == 1 or (shorter is None and eviction_worth is None)
    if one_for_both or weight is None or outcomes.value is None:
        return units, usual, returns
    if eviction_worth is not None:
        outcomes = outcomes._replace(value=outcomes.value + eviction_worth)
    own, _ = advantages_and_returns(outcomes, settings.gae_lambda if shorter is None else shorter)
    own = scaled_alone(settings, units, own, paid.outcome, weight)
    both = jnp.where(paid.dense_and_varied(units), jnp.stack([own, usual]), usual)
    return units, jnp.moveaxis(both, 0, -1), returns
