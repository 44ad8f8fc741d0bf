"""Evictions weighed against each other, by the stacks that they would leave.

The environment never sees the memory action: whatever is evicted, the same observation comes next.
So for each step of a rollout the stacks that *all* memory actions would have left are known, not
only the one that was there, and the critic says what each is worth. The memory action need not be
tried to be learned, which matters where each step is paid: once what mattered is lost, and at first
that is most of the time, no eviction changes anything, while what is paid goes up and down.

Two things follow. The memory action learns the policy whose logits have moved by what each eviction
is worth, as a cross-entropy, in environments in which a habit evicts, too. And the environment
action is judged against the value of the stack *and* what the eviction of the same step was worth,
a control variate that takes later losses of memory out of its advantage.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array


class Weighed(NamedTuple):
    """The memory actions of some steps, weighed against each other."""

    worth: Array
    """(rows, memory actions): in units of returns, on average 0 by the policy."""
    log_probs: Array
    """(rows, memory actions): the policy that rolled out."""
    applies: Array
    """(rows,): whether the memory action is learned from this."""


def rows_after(slots: Array, newest: Array, evicted: Array) -> Array:
    """(stacks, k): the rows that stacks point to after an eviction.

    Args:
        slots: (stacks, k): the rows before.
        newest: (stacks,): the row of the observation that comes next.
        evicted: (stacks,): the slot that is evicted.
    """
    older = jnp.arange(slots.shape[1] - 1)
    kept = older + (older >= evicted[:, None])
    return jnp.concatenate([jnp.take_along_axis(slots, kept, axis=1), newest[:, None]], axis=1)


def worths(values: Array, log_probs: Array) -> Array:
    """(rows, memory actions): values of what each leads to, less their mean by the policy."""
    return values - (jnp.exp(log_probs) * values).sum(axis=1, keepdims=True)


def memory_objective(weighed: Weighed, log_probs: Array, sampled: Array, most: float) -> Array:
    """(rows,): what the memory action maximises; ``sampled`` where nothing is weighed.

    It is greatest at the policy whose logits have moved by what each memory action is worth.

    Args:
        weighed: What each is worth.
        log_probs: (rows, memory actions): of the policy that learns.
        sampled: (rows,): PPO's objective of the memory actions that were taken.
        most: No logit moves further than this.
    """
    target = jax.nn.softmax(weighed.log_probs + jnp.clip(weighed.worth, -most, most))
    moved = (target * (log_probs - weighed.log_probs)).sum(axis=1)
    return jnp.where(weighed.applies, moved, sampled)
