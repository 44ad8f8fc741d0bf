"""What a rollout's steps or decisions were worth: advantages for each head, and returns.

Where rewards are dense, an action may show its worth at once, while the loss of what was remembered
costs all that follows. An eviction some steps later is then noise to the action, many times as
large as what the action earned. With ``dense_gae_lambda`` a discrete action has an advantage of its
own there, which looks less far ahead; the memory action keeps the usual one. Where actions show
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

    def varies(self, units: Units) -> Array:
        """Whether steps that end nothing are paid differently, so that some may be better."""
        most = jnp.where(self.over, -jnp.inf, self.reward).max()
        least = jnp.where(self.over, jnp.inf, self.reward).min()
        return most - least > VARIES * jnp.abs(units.paid).max()


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
    weight: Array | None,
) -> tuple[Units, Array, Array]:  # fmt: skip
    """The units with a rollout's advantages and returns, and both.

    Args:
        settings: The settings.
        heads: The heads of the policy.
        units: The units so far.
        outcomes: What followed the steps or decisions to learn from.
        paid: What the rollout paid.
        weight: (time, environments, heads): how much each counts, if not all alike.

    Returns:
        The units; advantages, (time, environments) or, if each head has its own, (time,
        environments, heads); returns, (time, environments).
    """
    advantage, returns = advantages_and_returns(outcomes, settings.gae_lambda)
    units, usual = scaled(settings, units, advantage, returns, paid.outcome, weight)
    shorter = settings.dense_gae_lambda
    two = len(heads.heads) == 2 and not isinstance(heads.heads[0], Gaussian)
    if shorter is None or weight is None or outcomes.value is None or not two:
        return units, usual, returns
    own, _ = advantages_and_returns(outcomes, shorter)
    own = scaled_alone(settings, units, own, paid.outcome, weight)
    action = jnp.where(units.dense & paid.varies(units), own, usual)
    return units, jnp.stack([action, usual], axis=-1), returns
