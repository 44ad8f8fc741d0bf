"""A wait is one decision.

A choice that does not change the stack is repeated until the stack changes, and is learned from
once, when it does. Corridors of ten and of ten thousand cells, which look alike, are then the same
problem: the number of decisions does not grow with the length, and neither does the number of
choices that exploration has to get right.

Time is discounted by decisions: one of n steps by ``gamma ** (1 + log(n))``, so that of two
decisions with the same outcome the quicker one is better, but a reward that is thousands of steps
away is not discounted to nothing. A choice that never changes the stack (walking into a wall) is
given up after a random number of steps, at most `STUCK` times the longest wait so far.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

STUCK = 4.0
"""A choice that does not change the stack is given up after at most this many times the longest
wait so far."""
OTHERS = 8
"""The longest wait of a choice counts as at least this fraction, one eighth, of any choice's: what
leads nowhere costs little, and what has not led anywhere yet is still tried for a while."""


class Wait(NamedTuple):
    """The choices that are being repeated, (environments,) each."""

    lasted: Array
    """For how many steps stack and choice have been the same; 0 where a choice is to be made."""
    limit: Array
    """After how many steps the choice is given up."""
    paid: Array
    """The discounted reward of the choice so far."""
    longest: Array
    """The longest wait so far that ended with a change, in any environment; (environments, kinds)
    if choices are numbers below ``kinds``: of each of them."""
    choice: Array
    """The choice that is repeated, (environments, ...)."""


class Decided(NamedTuple):
    """The decisions that ended with a step, (environments,) each."""

    done: Array
    """Whether a decision ended with the step."""
    paid: Array
    """If so, its discounted reward from its first step to this one."""
    discount: Array
    """If so, the discount of what follows."""


def no_wait(choice: Array, longest: int | Array = 0, kinds: int | None = None) -> Wait:
    """No choice is being repeated; ``choice`` has the shape of choices, see `Wait` for the rest."""
    n = len(choice)
    zeros = jnp.zeros(n, jnp.int32)
    known = jnp.full(n if kinds is None else (n, kinds), longest, jnp.int32)
    return Wait(zeros, zeros, jnp.zeros(n, jnp.float32), known, choice)


def standing(wait: Wait, drawn: Array) -> Array:
    """The choice that is being repeated where there is one, else the one that was drawn."""
    waiting = (wait.lasted > 0).reshape(-1, *[1] * (drawn.ndim - 1))
    return jnp.where(waiting, wait.choice, drawn)


def waited(
    wait: Wait,
    choice: Array,
    changed: Array,
    led: Array,
    reward: Array,
    uniform: Array,
    gamma: float,
) -> tuple[Wait, Decided]:
    """The choices to repeat after a step, and the decisions that ended with it.

    Args:
        wait: The choices that were being repeated.
        choice: The choices that were made.
        changed: Whether the stack changed, or the episode is over.
        led: Whether a change is due to the wait: False where a time limit cut it off.
        reward: The rewards of the step.
        uniform: Uniform random numbers, from which the steps until giving up are drawn.
        gamma: The discount of a decision.
    """
    known, longest = _longest(wait, choice, jnp.where(changed & led, wait.lasted + 1, 0))
    drawn = 1 + (STUCK * jnp.maximum(known, 1) * uniform).astype(jnp.int32)
    limit = jnp.where(wait.lasted == 0, drawn, wait.limit)
    goes_on = ~changed & (wait.lasted < limit)
    paid = wait.paid + _worth(wait.lasted, gamma) * reward
    after = Wait(
        jnp.where(goes_on, wait.lasted + 1, 0),
        limit,
        jnp.where(goes_on, paid, 0.0),
        jnp.broadcast_to(longest, wait.longest.shape),
        choice,
    )
    return after, Decided(~goes_on, paid, _worth(wait.lasted + 1, gamma))


def _longest(wait: Wait, choice: Array, ended: Array) -> tuple[Array, Array]:
    """The longest waits of the choices so far, and those of all with the waits that ``ended``."""
    if wait.longest.ndim == 1:
        return wait.longest, jnp.max(jnp.maximum(wait.longest, ended))
    of_each = wait.longest[0]
    return jnp.maximum(of_each[choice], of_each.max() / OTHERS), of_each.at[choice].max(ended)


def _worth(steps: Array, gamma: float) -> Array:
    """The discount after this many steps of one choice."""
    worth = gamma ** (1.0 + jnp.log(jnp.maximum(steps, 1).astype(jnp.float32)))
    return jnp.where(steps > 0, worth, 1.0)
