"""A habit of memory to explore with: keep what is rare.

A policy that remembers nothing yet must find by chance what is worth keeping, and where two things
are needed it must keep both to see any use. Observations that matter later are often rare ones: a
sign among noise, an object in a corridor. So with ``keep_rare`` the second of every four
environments keeps what is rarest of all that it has seen, whatever the policy says. There the
environment action is learned from stacks that are worth something long before the memory action
can fill them, and the critic learns what such stacks are worth, which the memory action is then
taught in the other environments. In those with the habit the memory action is not learned, as it
was not the policy's own, unless evictions are weighed (`adastack.deep.weighing`).

What comes now is kept only if it is clearly rarer than something held, and nothing is kept twice.
Where all observations are equally likely the first ones stay.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from adastack.deep.normalise import RunningStats, normalised

MARGIN = 0.5
"""The newest observation is kept if it is rarer than another by so many nats."""
LEAST_CHANCE = 1e-3
"""Nothing counts as rarer than this."""


def with_habit(n_envs: int) -> Array:
    """(environments,): which of them keep what is rare."""
    return jnp.arange(n_envs) % 4 == 1


def copies(slots: Array) -> Array:
    """(stacks, k): whether each slot shows the same as an older one, of (stacks, k, entries)."""
    same = (slots[:, :, None] == slots[:, None]).all(axis=-1)
    return jnp.tril(same, -1).any(axis=2)


def evicting_the_ordinary(surprisal: Array, evicts: Array) -> Array:
    """(stacks,): the memory actions that evict what is least rare.

    Args:
        surprisal: (stacks, k): how rare the observation in each slot is, in nats.
        evicts: (stacks, memory actions): the slot that each memory action evicts.
    """
    kept = surprisal.at[:, -1].add(-MARGIN)
    return jnp.argmin(jnp.take_along_axis(kept, evicts, axis=1), axis=1)


def surprisal_of_symbols(seen: RunningStats, one_hot: Array) -> Array:
    """(...,): how rare symbols are, in nats; entries count as independent."""
    return -(one_hot * jnp.log(jnp.clip(seen.mean, LEAST_CHANCE, 1.0))).sum(axis=-1)


def surprisal_of_numbers(seen: RunningStats, numbers: Array, total: Array) -> Array:
    """(...,): how rare numbers are, in nats; entries count as independent.

    An entry is zero with some chance, and Gaussian elsewhere: zeros may mean "nothing here".

    Args:
        seen: What has been seen of each entry but for zeros.
        numbers: (..., entries).
        total: How many observations there were.
    """
    chance = seen.number / jnp.maximum(total, 1.0)
    there, nothing = (-jnp.log(jnp.clip(p, LEAST_CHANCE, 1.0)) for p in (chance, 1 - chance))
    rare = there + normalised(seen, numbers) ** 2 / 2
    return jnp.where(numbers != 0, rare, nothing).sum(axis=-1)
