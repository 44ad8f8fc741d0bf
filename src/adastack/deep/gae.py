"""From rewards to advantages and returns."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from adastack.deep.waits import Decided


def generalised_advantages(
    reward: Array,
    value: Array,
    next_value: Array,
    terminated: Array,
    over: Array,
    gamma: Array | float,
    gae_lambda: float,
) -> Array:
    """Generalised advantage estimates, time on the first axis.

    ``next_value`` is the value of what followed the step *before any reset*: a termination drops
    it, a time limit does not. ``over`` cuts the sum where an episode ends either way; a continual
    task has neither.
    """
    delta = reward + gamma * jnp.where(terminated, 0.0, next_value) - value
    decay = jnp.where(over, 0.0, gamma * gae_lambda)
    return _backward_sum(delta, decay, jnp.zeros_like(delta[0]))


def decision_advantages(
    decided: Decided,
    value: Array,
    next_value: Array,
    terminated: Array,
    over: Array,
    gae_lambda: float,
) -> Array:
    """Generalised advantage estimates of decisions, which may have lasted for many steps.

    They stand where the decisions were over; see `generalised_advantages` for the rest.
    """
    delta = decided.paid + decided.discount * jnp.where(terminated, 0.0, next_value) - value
    decay = jnp.where(over, 0.0, decided.discount * gae_lambda)
    return _backward_sum(
        jnp.where(decided.done, delta, 0.0),
        jnp.where(decided.done, decay, 1.0),
        jnp.zeros_like(delta[0]),
    )


def monte_carlo_returns(reward: Array, over: Array, gamma: Array | float) -> Array:
    """Discounted returns to the end of each episode or of the data, time on the first axis."""
    return _backward_sum(reward, jnp.where(over, 0.0, gamma), jnp.zeros_like(reward[0]))


def decision_returns(decided: Decided, over: Array) -> Array:
    """Discounted returns of decisions, which may have lasted for many steps.

    They stand where the decisions were over; what was paid before their last step counts, too.
    """
    nothing = jnp.zeros_like(decided.paid)
    return decision_advantages(decided, nothing, nothing, over, over, gae_lambda=1.0)


def _backward_sum(term: Array, decay: Array, last: Array) -> Array:
    """``x[t] = term[t] + decay[t] * x[t + 1]``."""

    def step(later: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
        here = now[0] + now[1] * later
        return here, here

    return jax.lax.scan(step, last, (term, decay), reverse=True, unroll=8)[1]
