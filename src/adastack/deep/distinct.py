"""Observations that come back within a rollout, read once.

A rollout of thousands of steps in a small world shows a few hundred different views. What the first
layer of a network makes of a view is the same wherever it stands, so each view is multiplied with
the weights of each slot once, and stacks add up what they show. With a thousand inputs a slot that
is nearly all the work of a minibatch.

How many views there are is known only when the rollout is over, and compiled code needs to know
before; so an update is compiled for a few numbers of views, and for stacks read row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.network_table import NETWORKS
from adastack.deep.networks.observations import Leaf, Spec, n_features
from adastack.deep.settings import PPOSettings

T = TypeVar("T")
SHARES = (1 / 4, 3 / 8, 1 / 2)
"""Of the steps of a minibatch, the numbers of views for which an update is compiled."""
LEAST_INPUTS = 512
"""With fewer inputs, of all slots, there is little to save, and compiling takes longer."""


class Distinct(NamedTuple):
    """The different observations of a rollout."""

    row: Array
    """(observations,): where each is stored."""
    which: Array
    """(stored rows,): which of them each row shows."""


def sizes_for(spec: Spec, stack_size: int, settings: PPOSettings) -> list[int]:
    """For how many observations an update is compiled; none if rows are always read by themselves.

    Observations are symbols: real numbers hardly ever come back.
    """
    if settings.recurrent or NETWORKS[settings.net].sequence:
        return []
    symbols = isinstance(spec, Leaf) and spec.kind == "onehot"
    if not symbols or stack_size * n_features(spec, convolve=False) < LEAST_INPUTS:
        return []
    sizes = {int(share * settings.batch_size) for share in SHARES}
    return sorted(size for size in sizes if size)


def switch(
    column: Array, sizes: list[int], few: Callable[[Distinct], T], many: Callable[[], T]
) -> T:
    """Calls ``few`` with the different rows of a column, or ``many`` if they are too many.

    Args:
        column: (rows, entries): symbols.
        sizes: The numbers for which ``few`` is compiled, rising.
        few: Is given at least as many rows as there are different ones.
        many: Does the same without knowing them.
    """
    index, first, count = _grouped(column)
    branches: list[Callable[[], T]] = [
        lambda size=size: few(Distinct(first[:size], index))  # type: ignore[misc]
        for size in sizes
    ]
    smallest = jnp.searchsorted(jnp.asarray(sizes), count)
    found: T = jax.lax.switch(smallest, [*branches, many])
    return found


def _grouped(column: Array) -> tuple[Array, Array, Array]:
    """The group of each row, a row of each group, and how many groups there are."""
    n, entries = len(column), column.reshape(len(column), -1).astype(jnp.uint32)
    # Two hashes of 32 bits tell rows apart; should they not, there are as many groups as rows.
    factors = np.random.default_rng(0).integers(2**32, size=(2, entries.shape[1]), dtype=np.uint32)
    hashes = [(entries * jnp.asarray(row)).sum(axis=1, dtype=jnp.uint32) for row in factors]
    order = jnp.lexsort(hashes)
    ordered = jnp.stack(hashes)[:, order]
    begins = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    group = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(begins, dtype=jnp.int32)])
    index = jnp.zeros(n, jnp.int32).at[order].set(group)
    first = jnp.zeros(n, jnp.int32).at[group].set(order)
    exact = (entries[first[index]] == entries).all()
    return index, first, jnp.where(exact, group[-1] + 1, n + 1)
