"""Running means and variances of what is observed, so that a network sees numbers of size one."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

LEAST_VARIANCE = 1e-6
"""What hardly changes is not blown up."""
LIMIT = 10.0
"""Normalised numbers are cut here."""


class RunningStats(NamedTuple):
    """What has been seen of each entry of an observation so far."""

    number: Array
    mean: Array
    variance: Array


def no_stats(shape: tuple[int, ...]) -> RunningStats:
    """The beginning: observations stay as they are."""
    return RunningStats(jnp.zeros(shape), jnp.zeros(shape), jnp.ones(shape))


def updated_stats(seen: RunningStats, rows: Array, counts: Array) -> RunningStats:
    """With more observations, one per row; only entries that count do."""
    number = counts.sum(axis=0).astype(jnp.float32)
    least = jnp.maximum(number, 1.0)
    mean = jnp.where(counts, rows, 0.0).sum(axis=0) / least
    squares = jnp.where(counts, (rows - mean) ** 2, 0.0).sum(axis=0)
    total = seen.number + number
    share = number / jnp.maximum(total, 1.0)
    away = mean - seen.mean
    squares += seen.variance * seen.number + away**2 * seen.number * share
    variance = jnp.where(total > 0, squares / jnp.maximum(total, 1.0), 1.0)
    return RunningStats(total, seen.mean + away * share, variance)


def normalised(seen: RunningStats, observations: Array) -> Array:
    """Observations in units of their deviation from the mean."""
    deviation = jnp.sqrt(seen.variance + LEAST_VARIANCE)
    return jnp.clip((observations - seen.mean) / deviation, -LIMIT, LIMIT)
