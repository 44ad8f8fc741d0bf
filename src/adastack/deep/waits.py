"""A wait is one decision.

A choice that leaves the stack as it is stands until something changes, and is learned from once,
when it does. A corridor of ten cells and one of ten thousand, which look alike, are then the same
problem: the number of decisions does not grow with their length, and neither does what exploration
has to get right.

Time is discounted by decisions: one that lasted for n steps by ``gamma ** (1 + log(n))``, so that
among equals the quicker one is better, but an outcome that is thousands of steps away is not lost.
A choice that never changes anything (a wall) is given up after a random number of steps, at most
`STUCK` times the longest wait so far that led anywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

STUCK = 4.0
"""A choice that changes nothing is given up after up to so many times the longest wait so far that
led anywhere."""


class Wait(NamedTuple):
    """The standing choices of the environments, (environments,) each."""

    lasted: Array
    """Steps since which stack and choice are the same; 0 where a choice is to be made."""
    limit: Array
    """After how many steps the choice is given up."""
    paid: Array
    """What the choice was paid so far, discounted."""
    longest: Array
    """The longest wait that has led anywhere, in any environment."""
    choice: Array
    """The choice that stands, (environments, ...)."""


class Decided(NamedTuple):
    """What a step decided, (environments,) each."""

    done: Array
    """Whether a decision was over with the step."""
    paid: Array
    """If so, what it was paid from its first step to this one, discounted."""
    discount: Array
    """If so, the discount of what followed."""


def no_wait(choice: Array, longest: int | Array = 0) -> Wait:
    """Nothing stands yet; ``choice`` says what choices look like."""
    n = len(choice)
    zeros = jnp.zeros(n, jnp.int32)
    return Wait(zeros, zeros, jnp.zeros(n, jnp.float32), jnp.full(n, longest, jnp.int32), choice)


def standing(wait: Wait, drawn: Array) -> Array:
    """The choice that stands where there is one, else the one that was drawn."""
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
    """The standing choices after a step, and what it decided.

    Args:
        wait: The choices that stood before.
        choice: What was done.
        changed: Whether the stack changed, or the episode is over.
        led: Whether that is to the credit of the wait: not where a time limit cut it off.
        reward: What the step paid.
        uniform: Numbers from 0 to 1, for when to give up.
        gamma: The discount of a decision.
    """
    longest = jnp.max(jnp.maximum(wait.longest, jnp.where(changed & led, wait.lasted + 1, 0)))
    drawn = 1 + (STUCK * jnp.maximum(wait.longest, 1) * uniform).astype(jnp.int32)
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


def _worth(steps: Array, gamma: float) -> Array:
    """The discount after so many steps of one choice."""
    worth = gamma ** (1.0 + jnp.log(jnp.maximum(steps, 1).astype(jnp.float32)))
    return jnp.where(steps > 0, worth, 1.0)
