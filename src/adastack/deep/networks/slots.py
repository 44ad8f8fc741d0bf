"""What sequence networks share: which slots they read, and tables looked up by products."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

MOST_PRODUCT_ROWS = 512
"""A longer table is looked up by index: the product with one-hot rows would cost more."""


def from_oldest(slots: Array, filled: Array | None) -> Array:
    """(batch, k, ...) with the filled slots first, oldest first; what follows them is no matter."""
    if filled is None:
        return slots
    k = slots.shape[1]
    order = (jnp.arange(k) + k - filled[:, None]) % k
    return jnp.take_along_axis(slots, order.reshape(*order.shape, *[1] * (slots.ndim - 2)), axis=1)


def newest(read: Array, filled: Array | None) -> Array:
    """(batch, k, ...) in the order of `from_oldest` -> (batch, ...): the last that was filled."""
    if filled is None:
        return read[:, -1]
    return read[jnp.arange(len(read)), filled - 1]


def look_up(table: Array, rows: Array) -> Array:
    """Rows of a table; a product where it is short, for its gradient is one too."""
    if len(table) > MOST_PRODUCT_ROWS:
        return table[rows]
    return jax.nn.one_hot(rows, len(table), dtype=table.dtype) @ table
