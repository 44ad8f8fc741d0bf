"""Masked CartPole as a functional task, for rollouts that are compiled whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from adastack.extras import check_installed

check_installed("jax", extra="train")

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete
from jax import Array

from adastack.tasks.drawing.canvas import Image, Slots
from adastack.tasks.functional_base import FunctionalBase, Outcome, zero
from adastack.tasks.worlds.cartpole.drawing import draw
from adastack.tasks.worlds.cartpole.environment import (
    ANGLE_LIMIT,
    SHOWN,
    TIME_LIMIT,
    X_LIMIT,
    check_view,
    view_space,
)

GRAVITY = 9.8
POLE_MASS = 0.1
TOTAL_MASS = 1.1
HALF_LENGTH = 0.5
FORCE = 10.0
SECONDS = 0.02
START = 0.05


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


@dataclass(frozen=True)
class MaskedCartPole(FunctionalBase, least={"time_limit": 1}):
    """`MaskedCartPoleEnv` as pure functions, in single precision.

    Example:
        >>> import jax
        >>> from adastack.tasks.worlds.cartpole.functional import MaskedCartPole
        >>> state, observation = MaskedCartPole("position").reset(jax.random.key(0))
        >>> observation.shape, state.physics.shape
        ((2,), (4,))
    """

    shows: str = "velocity"
    """What is seen: ``velocity`` or ``position``."""
    time_limit: int = TIME_LIMIT
    """Steps after which an episode is truncated; each pays 1 / time_limit."""
    noise: float = 0.0
    """The standard deviation of the noise on what is seen."""
    previous_action: bool = False
    """Whether the last action is seen, too: 0 or 1, and 0 after a reset."""

    def __post_init__(self) -> None:
        check_view(self.shows, self.noise)
        super().__post_init__()

    @property
    def observation_space(self) -> Box:
        """Two numbers, of the cart and of the pole, and perhaps the last action."""
        return view_space(self.shows, self.previous_action)

    @property
    def action_space(self) -> Discrete:
        """Push left or right."""
        return Discrete(2)

    def begin(self, key: Array) -> PhysicsState:
        """Begins near balance."""
        physics = jax.random.uniform(key, (4,), minval=-START, maxval=START)
        beside = self._seen_beside(jax.random.fold_in(key, 1), zero())
        return PhysicsState(physics, zero(), *beside)

    def act(self, key: Array, state: PhysicsState, action: Array) -> Outcome:
        """Pushes the cart for a fiftieth of a second."""
        physics = _pushed(state.physics, action)
        after = PhysicsState(physics, state.clock + 1, *self._seen_beside(key, action))
        terminated = (jnp.abs(after.physics[0]) > X_LIMIT) | (
            jnp.abs(after.physics[2]) > ANGLE_LIMIT
        )
        reward = jnp.asarray(1.0 / self.time_limit, jnp.float32)
        return Outcome(after, reward, terminated, success=~terminated)

    def observe(self, state: PhysicsState) -> Array:
        """What is seen of a state."""
        seen = state.physics[jnp.array(SHOWN[self.shows])]
        if state.noise is not None:
            space = view_space(self.shows)
            seen = jnp.clip(seen + state.noise, space.low, space.high)
        if state.last_action is not None:
            seen = jnp.append(seen, state.last_action)
        return seen

    def _seen_beside(self, key: Array, action: Array) -> tuple[Array | None, Array | None]:
        """The noise and the last action of a state, where there are any."""
        noise = drawn_noise(self.noise, key)
        return noise, action.astype(jnp.float32) if self.previous_action else None

    def draw(self, state: PhysicsState, memory: Slots | None = None) -> Image:
        """The cart and its pole, and the memory below."""
        return draw(np.asarray(state.physics), self.shows, memory)


def drawn_noise(deviation: float, key: Array) -> Array | None:
    """(2,): normal noise; None if its standard deviation is 0."""
    return deviation * jax.random.normal(key, (2,)) if deviation else None


def _pushed(physics: Array, action: Array) -> Array:
    """The state a fiftieth of a second later, by Euler's method."""
    _, speed, angle, spin = physics
    force = jnp.where(action == 1, FORCE, -FORCE)
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    push = (force + POLE_MASS * HALF_LENGTH * spin**2 * sine) / TOTAL_MASS
    inertia = HALF_LENGTH * (4 / 3 - POLE_MASS * cosine**2 / TOTAL_MASS)
    turning = (GRAVITY * sine - cosine * push) / inertia
    pulling = push - POLE_MASS * HALF_LENGTH * turning * cosine / TOTAL_MASS
    return physics + SECONDS * jnp.stack([speed, pulling, spin, turning])
