"""What rewards, values and advantages are counted in, so that their size does not matter.

Entropy bonus, optimism and value loss are numbers of size one. With ``scale_reward`` they are
compared with rewards in units of half the range of all so far, so that a task learns the same
whether it pays 0.01 or 1000, and whether it pays -1 or nothing for what is wrong.

The critic has a unit of its own: where each step is paid, returns are hundreds of rewards, which a
network takes long to reach. When a unit changes, the last layer of the critic changes with it, so
that what it says in rewards stays the same (van Hasselt et al. 2016).

Where each step is paid, an agent need not look as far ahead as where a reward ends it all, and what
is far away is mostly noise. So the discount is at most that of a hundred full rewards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.settings import PPOSettings
from adastack.deep.update import Schedule, critic_weight
from adastack.deep.waits import Decided

DECAY = 0.95
"""How slowly the sizes of advantages and returns are forgotten, per rollout."""
HORIZON = 100.0
"""So many full rewards are looked ahead, if they come while an episode goes on."""
DENSE = 0.1
"""Rewards are dense where a step pays more than this fraction of the most."""
DENSE_ENTROPY_FACTOR = 3.0
"""Factor of the action's entropy bonus with dense rewards, where the rewards of other steps
dominate the advantage and one action would soon look best."""
WITHIN = 3.0
"""Returns of up to so many rewards leave the critic's unit at one reward."""


class Units(NamedTuple):
    """What has been seen of sizes so far."""

    advantage: Array
    """(2,): running sums of squared advantages and of outcomes."""
    paid: Array
    """(2,): the least and the largest reward, 0 included."""
    rate: Array
    """Running mean of the absolute reward of steps that do not end an attempt."""
    returns: Array
    """Running mean of squared returns."""
    value: Array
    """The reward that an output of 1 of the critic stands for."""

    @property
    def reward(self) -> Array:
        """Half the range of rewards; 0 before anything is paid."""
        return (self.paid[1] - self.paid[0]) / 2

    @property
    def density(self) -> Array:
        """What a step pays that ends nothing, as a fraction of the most."""
        most = jnp.abs(self.paid).max()
        return self.rate / jnp.where(most > 0, most, 1.0)

    @property
    def dense(self) -> Array:
        """Whether steps pay, rather than outcomes now and then; never without ``scale_reward``."""
        return self.density > DENSE


class Change(NamedTuple):
    """How the critic's outputs change with their unit."""

    factor: Array | None = None
    """None: they stay as they are."""
    shift: Array | None = None

    def of_values(self, value: Array) -> Array:
        """Values in the new unit."""
        if self.factor is None or self.shift is None:
            return value
        return value * self.factor + self.shift

    def of_critic(self, params: Any) -> Any:
        """Parameters whose critic counts in the new unit."""
        weights = params["params"]
        if self.factor is None or "value" not in weights:
            return params
        value = {
            "kernel": weights["value"]["kernel"] * self.factor,
            "bias": self.of_values(weights["value"]["bias"]),
        }
        return {**params, "params": {**weights, "value": value}}


def no_units() -> Units:
    """The beginning: nothing has been paid."""
    return Units(jnp.zeros(2), jnp.zeros(2), jnp.zeros(()), jnp.zeros(()), jnp.ones(()))


def updated_units(
    settings: PPOSettings, units: Units, reward: Array, over: Array
) -> tuple[Units, Change]:
    """The units with the rewards of a rollout, and how values change with them.

    The critic begins at ``optimism`` times the largest reward, and a reward larger than any before
    raises all values by as much of the difference.

    Args:
        settings: The settings.
        units: The units so far.
        reward: (steps, environments).
        over: (steps, environments): whether an attempt was over.
    """
    if not settings.scale_reward:
        return units, Change()
    least, most = units.paid
    paid = jnp.stack([jnp.minimum(least, reward.min()), jnp.maximum(most, reward.max())])
    rate = jnp.where(over, 0.0, jnp.abs(reward)).mean()
    rate = jnp.where(units.reward == 0, rate, DECAY * units.rate + (1 - DECAY) * rate)
    after = units._replace(paid=paid, rate=rate)
    known = after.reward > 0
    unit = jnp.maximum(after.reward, jnp.sqrt(units.returns) / WITHIN)
    unit = jnp.where(known, unit, 1.0)
    # Until something is paid, the critic counts in units of a size that is not known yet.
    fresh = units.reward == 0
    factor = jnp.where(fresh, 1.0, units.value / unit)
    hoped = jnp.where(fresh, unit, most)
    shift = jnp.where(known, settings.optimism * (paid[1] - hoped) / unit, 0.0)
    return after._replace(value=unit), Change(factor, shift)


class Counted(NamedTuple):
    """What a rollout paid, as the critic counts, and the discount of a step."""

    reward: Array
    decided: Decided | None
    gamma: Array | float


def counted(settings: PPOSettings, units: Units, reward: Array, decided: Decided | None) -> Counted:
    """The rewards of a rollout in the critic's unit; where they are dense, gamma is lowered."""
    if not settings.scale_reward:
        return Counted(reward, decided, settings.gamma)
    gamma = jnp.minimum(settings.gamma, 1 - units.density / HORIZON)
    if decided is not None:
        # A decision of many steps is discounted by a power of gamma, which stays.
        power = jnp.log(gamma) / np.log(settings.gamma) if settings.gamma < 1 else 1.0
        paid, discount = decided.paid / units.value, decided.discount**power
        decided = decided._replace(paid=paid, discount=discount)
    return Counted(reward / units.value, decided, gamma)


def with_bonus(schedule: Schedule, units: Units) -> Schedule:
    """The schedule, with a larger entropy bonus for the action if rewards are dense."""
    factor = jnp.where(units.dense, DENSE_ENTROPY_FACTOR, 1.0)
    return schedule._replace(entropy=schedule.entropy * factor)


def scaled(
    settings: PPOSettings, units: Units, advantage: Array, returns: Array, outcome: Array,
    weight: Array | None,
) -> tuple[Units, Array]:  # fmt: skip
    """Advantages in units of what an outcome is worth, and the units with advantages and returns.

    An outcome is a reward, or the end of an episode. Advantages are centred and divided by the root
    of their summed squares per outcome, if that is more than one reward: a reward that comes once
    in a thousand steps is not blown up, nor is one that comes at each step.

    Args:
        settings: The settings.
        units: The units.
        advantage: (steps, environments), as the critic counts.
        returns: (steps, environments), as the critic counts.
        outcome: Whether a step had one.
        weight: (steps, environments, heads), if a decision counts once.
    """
    if settings.scale_reward:
        units = _with_returns(units, returns, weight)
        advantage = _in_rewards(units, advantage)
    if not settings.scale_advantage:
        return units, advantage
    centred, new = _centred(advantage, outcome, weight)
    scale = units.advantage
    scale = jnp.where(scale[1] == 0, new, DECAY * scale + (1 - DECAY) * new)
    return units._replace(advantage=scale), _scaled_down(centred, scale)


def scaled_alone(
    settings: PPOSettings, units: Units, advantage: Array, outcome: Array, weight: Array
) -> Array:
    """Advantages as `scaled` gives them, by the size that they have in this rollout alone.

    With dense rewards a rollout has enough outcomes for that, and nothing has to be carried on.
    """
    advantage = _in_rewards(units, advantage) if settings.scale_reward else advantage
    if not settings.scale_advantage:
        return advantage
    return _scaled_down(*_centred(advantage, outcome, weight))


def in_returns(worth: Array) -> Array:
    """What the critic counts, in units of returns.

    That is their root mean square, or `WITHIN` rewards if these are more.
    """
    return worth / WITHIN


def _in_rewards(units: Units, advantage: Array) -> Array:
    """What the critic counts, in units of reward."""
    return advantage * (units.value / jnp.where(units.reward > 0, units.reward, 1.0))


def _centred(advantage: Array, outcome: Array, weight: Array | None) -> tuple[Array, Array]:
    """Advantages less their mean; (2,): the sum of their squares, and the number of outcomes."""
    counts = jnp.ones_like(advantage) if weight is None else weight[..., 0]
    centred = advantage - (counts * advantage).sum() / jnp.maximum(counts.sum(), 1e-9)
    return centred, jnp.stack([(counts * centred**2).sum(), jnp.maximum(outcome.sum(), 1e-3)])


def _scaled_down(centred: Array, scale: Array) -> Array:
    """Advantages divided by the root of their squares per outcome, if that is more than one."""
    return centred / jnp.maximum(jnp.sqrt(scale[0] / scale[1]), 1.0)


def _with_returns(units: Units, returns: Array, weight: Array | None) -> Units:
    counts = jnp.ones_like(returns) if weight is None else critic_weight(weight)
    number = counts.sum()
    new = units.value**2 * (counts * returns**2).sum() / jnp.maximum(number, 1.0)
    mean = jnp.where(units.returns == 0, new, DECAY * units.returns + (1 - DECAY) * new)
    seen = (number > 0) & (units.reward > 0)
    return units._replace(returns=jnp.where(seen, mean, units.returns))
