"""Decisions whose outcome is not known yet when a rollout ends.

The critic reads stacks, and a stack does not say whether what it holds is the cue of this attempt
or of the last one: both look alike until the outcome. What a choice of memory was worth is
therefore learned from what followed it, not from the critic's opinion of the next stack. A wait may
be longer than a rollout; so while one stands, the decisions that led to it are kept, and learned
from in the rollout in which their outcome came.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from adastack.deep.waits import Decided

MOST = 16
"""A decision is learned from after so many later ones even if no outcome came."""


class Chain(NamedTuple):
    """The decisions of the environments in their order, (rows, environments, ...)."""

    agent: Array
    """The agent state in which each was made."""
    joint: Array
    """What was chosen."""
    log_prob: Array
    """(rows, environments, heads): how likely that was."""
    following: Array
    """The agent state after it."""
    terminated: Array
    """Whether nothing followed."""
    over: Array
    """Whether the episode was over."""
    decision: Array
    """Which held decision it belongs to, by head."""
    decided: Decided
    """``done`` marks the rows that hold a decision."""


def no_decisions(n_envs: int, n_heads: int, n_held: int) -> Chain:
    """Rows for `MOST` decisions, none of which is one."""
    shape = (MOST, n_envs)
    none, zeros = jnp.zeros(shape, jnp.bool_), jnp.zeros(shape, jnp.float32)
    number = jnp.zeros(shape, jnp.int32)
    log_prob = jnp.zeros((*shape, n_heads), jnp.float32)
    held = jnp.zeros((*shape, n_held), jnp.uint32)
    return Chain(number, number, log_prob, number, none, none, held, Decided(none, zeros, zeros))


def settled(decided: Decided, over: Array, waiting: Array) -> Array:
    """(rows, environments): the decisions to learn from now.

    Where no wait stands, these are all. Elsewhere they are those that a reward or the end of the
    episode followed, and those with at least `MOST` later ones.

    Args:
        decided: What each step decided.
        over: Whether the episode was over.
        waiting: (environments,): whether a wait stands at the end of the rollout.
    """
    outcome = decided.done & (over | (decided.paid != 0))
    known = _from_here_on(outcome) > 0
    later = _from_here_on(decided.done) - 1
    return decided.done & (~waiting | known | (later >= MOST))


def unsettled(chain: Chain, learned: Array) -> Chain:
    """The decisions that were not ``learned`` from, for the next rollout."""
    left = chain.decided.done & ~learned
    # The last one goes to the last row; what is no decision goes nowhere.
    row = jnp.where(left, MOST - _from_here_on(left), MOST)
    env = jnp.broadcast_to(jnp.arange(left.shape[1]), left.shape)

    def moved(array: Array) -> Array:
        return jnp.zeros((MOST, *array.shape[1:]), array.dtype).at[row, env].set(array, mode="drop")

    marked = chain._replace(decided=chain.decided._replace(done=left))
    moved_chain: Chain = jax.tree.map(moved, marked)
    return moved_chain


def _from_here_on(flag: Array) -> Array:
    """How many flags are set in a row and after it."""
    return jnp.cumsum(flag[::-1].astype(jnp.int32), axis=0)[::-1]
