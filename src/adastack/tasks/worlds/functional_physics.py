"""What worlds of moving bodies share: their hidden state, and noise on what is seen of it."""

from __future__ import annotations

from typing import NamedTuple

from adastack.extras import check_installed

check_installed("jax", extra="train")

import jax
from jax import Array


class PhysicsState(NamedTuple):
    """The hidden state of moving bodies."""

    physics: Array
    """Their positions and velocities."""
    clock: Array
    """Steps since the reset."""
    noise: Array | None = None
    """(2,): the noise on the current observation, if there is any."""
    last_action: Array | None = None
    """The last action, where it is observed."""


def drawn_noise(deviation: float, key: Array) -> Array | None:
    """(2,): normal noise; None if its standard deviation is 0."""
    return deviation * jax.random.normal(key, (2,)) if deviation else None
