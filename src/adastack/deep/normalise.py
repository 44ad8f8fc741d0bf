"""Running means and variances of what is observed, so that a network sees numbers of size one."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

LEAST_VARIANCE = 1e-6
"""What hardly changes is not blown up."""
LIMIT = 10.0
"""Normalised numbers are cut here."""


class Seen(NamedTuple):
    """What has been seen of one column of observations so far."""

    number: Array
    mean: Array
    variance: Array


def nothing_seen(shape: tuple[int, ...]) -> Seen:
    """The beginning: observations stay as they are."""
    return Seen(jnp.zeros(()), jnp.zeros(shape), jnp.ones(shape))


def seen_with(seen: Seen, rows: Array) -> Seen:
    """With more observations, one per row."""
    count, mean = len(rows), rows.mean(axis=0)
    total = seen.number + count
    away = mean - seen.mean
    squares = seen.variance * seen.number + rows.var(axis=0) * count
    squares += away**2 * (seen.number * count / total)
    return Seen(total, seen.mean + away * (count / total), squares / total)


def normalised(seen: Seen, observations: Array) -> Array:
    """Observations in units of their deviation from the mean."""
    deviation = jnp.sqrt(seen.variance + LEAST_VARIANCE)
    return jnp.clip((observations - seen.mean) / deviation, -LIMIT, LIMIT)
