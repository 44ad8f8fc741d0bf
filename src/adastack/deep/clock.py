"""Features of the critic alone: when each slot was stored, and how old it is.

Two histories can leave the same stack and differ in value: a cue of this attempt and one of the
last, a deck that has just begun and one at its end. A critic that sees only the stack averages
them, and the difference adds noise to the advantages. The critic is needed for training only, so it
may know more than the policy, which sees the stack alone.

Each observation is stored with the time step of its episode. That of the newest slot is the current
time step.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.normalise import LIMIT, RunningStats

CLOCK = "clock"
"""The name of the time steps among the running statistics."""
NOT_STORED = -1.0
"""The time step of an empty slot."""
STORED_AT: tuple[tuple[int, ...], Any, float] = ((), np.dtype(np.float32), NOT_STORED)
"""Shape, dtype and padding of the column of time steps."""
N_CRITIC_FEATURES = 4
"""Numbers that the critic receives for each slot."""
LOG_UNIT = 5.0
"""Divides log-times; log(100) is about 4.6."""


def clock_features(seen: RunningStats, stored_at: Array) -> Array:
    """(stacks, k, `N_CRITIC_FEATURES`): storage time and age of each slot, linear and logarithmic.

    Args:
        seen: Mean and variance of all storage times so far.
        stored_at: (stacks, k), oldest slot first; `NOT_STORED` where a slot is empty.
    """
    ages = stored_at[:, -1:] - stored_at
    unit = jnp.sqrt(seen.variance + 1.0)
    linear = [(stored_at - seen.mean) / unit, ages / unit]
    logarithmic = [jnp.log1p(jnp.maximum(time, 0.0)) / LOG_UNIT for time in (stored_at, ages)]
    features = jnp.stack([*linear, *logarithmic], axis=-1)
    return jnp.where((stored_at >= 0)[..., None], jnp.clip(features, -LIMIT, LIMIT), 0.0)
