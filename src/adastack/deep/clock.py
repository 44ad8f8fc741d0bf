"""What the critic alone is told: when each slot was stored, and what time it is.

Two histories may leave the same stack and be worth different things: a cue of this attempt and one
of the last, a deck that has just begun and one at its end. A critic that sees no more than the
stack gives both their mean, and the difference ends up in the advantages as noise. The critic is
thrown away when training is over, so it may know more than the policy; the policy sees the stack
alone.

Each observation is stored with its birth: the number of steps of its episode before it. The newest
slot's birth is the time.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.normalise import LIMIT, RunningStats

CLOCK = "clock"
"""The name of the births among the running statistics."""
UNBORN = -1.0
"""The birth of an empty slot."""
BIRTHS: tuple[tuple[int, ...], Any, float] = ((), np.dtype(np.float32), UNBORN)
"""Shape, dtype and padding of the column of births."""
N_HINTS = 4
"""Numbers that the critic is told about each slot."""
LOG_UNIT = 5.0
"""About the logarithm of a hundred steps."""


def hints_of(seen: RunningStats, births: Array) -> Array:
    """(stacks, k, `N_HINTS`): birth and age of each slot, on a linear and a logarithmic scale.

    Args:
        seen: Mean and variance of all births so far.
        births: (stacks, k), oldest slot first; `UNBORN` where a slot is empty.
    """
    ages = births[:, -1:] - births
    unit = jnp.sqrt(seen.variance + 1.0)
    linear = [(births - seen.mean) / unit, ages / unit]
    logarithmic = [jnp.log1p(jnp.maximum(time, 0.0)) / LOG_UNIT for time in (births, ages)]
    told = jnp.stack([*linear, *logarithmic], axis=-1)
    return jnp.where((births >= 0)[..., None], jnp.clip(told, -LIMIT, LIMIT), 0.0)
