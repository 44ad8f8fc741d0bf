"""A pendulum to be swung up, of which the angle is seen and the speed is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box
from jax import Array

from adastack.tasks.drawing import canvas
from adastack.tasks.drawing.canvas import FAINT, Image, Slots
from adastack.tasks.functional_base import FunctionalBase, Outcome, zero
from adastack.tasks.worlds.cartpole.functional import PhysicsState, drawn_noise

GRAVITY = 10.0
SECONDS = 0.05
MOST_SPEED, MOST_TORQUE = 8.0, 2.0
WORST = 16.2736044
"""The cost of a step is at most this."""
TILE = 64


@dataclass(frozen=True)
class PositionOnlyPendulum(FunctionalBase, least={"time_limit": 1, "noise": 0.0}):
    """POPGym's PositionOnlyPendulum, in single precision; with ``noise`` its noisy one."""

    time_limit: int = 200
    """Steps after which an episode is truncated."""
    noise: float = 0.0
    """The standard deviation of the noise on what is seen."""

    @property
    def observation_space(self) -> Box:
        """The cosine and the sine of the angle."""
        return Box(-1, 1, (2,), np.float32)

    @property
    def action_space(self) -> Box:
        """The torque."""
        return Box(-MOST_TORQUE, MOST_TORQUE, (1,), np.float32)

    def begin(self, key: Array) -> PhysicsState:
        """Begins at any angle, at little speed."""
        most = jnp.array([jnp.pi, 1.0])
        physics = most * jax.random.uniform(key, (2,), minval=-1)
        return PhysicsState(physics, zero(), drawn_noise(self.noise, jax.random.fold_in(key, 1)))

    def act(self, key: Array, state: PhysicsState, action: Array) -> Outcome:
        """Turns the pendulum for a twentieth of a second."""
        torque = jnp.clip(action[0], -MOST_TORQUE, MOST_TORQUE)
        angle, speed = state.physics
        off = jnp.mod(angle + jnp.pi, 2 * jnp.pi) - jnp.pi
        cost = off**2 + 0.1 * speed**2 + 0.001 * torque**2
        speed = speed + (1.5 * GRAVITY * jnp.sin(angle) + 3 * torque) * SECONDS
        speed = jnp.clip(speed, -MOST_SPEED, MOST_SPEED)
        physics = jnp.stack([angle + speed * SECONDS, speed])
        after = PhysicsState(physics, state.clock + 1, drawn_noise(self.noise, key))
        return Outcome(after, (1 - 2 * cost / WORST) / self.time_limit)

    def observe(self, state: PhysicsState) -> Array:
        """Cosine and sine of the angle, and noise, if there is any."""
        angle = state.physics[0]
        seen = jnp.stack([jnp.cos(angle), jnp.sin(angle)])
        return seen if state.noise is None else jnp.clip(seen + state.noise, -1, 1)

    def draw(self, state: PhysicsState, memory: Slots | None = None) -> Image:
        """The pendulum, and the angles that are kept below."""
        image = canvas.blank(200, 200)
        angle = float(state.physics[0])
        _pendulum(image, np.cos(angle), np.sin(angle))
        canvas.write(image, 6, 8, f"speed {float(state.physics[1]):.1f}", FAINT, 1)
        return canvas.with_memory(image, memory, _tile)


def _tile(seen: Any, current: bool) -> Image:
    image = canvas.blank(TILE, TILE)
    border = [(1.5, 1.5), (1.5, TILE - 1.5), (TILE - 1.5, TILE - 1.5), (TILE - 1.5, 1.5)]
    canvas.outline(image, border, 3 if current else 1.2)
    _pendulum(image, float(seen[0]), float(seen[1]))
    return image


def _pendulum(image: Image, cosine: float, sine: float) -> None:
    middle = len(image) / 2
    # A positive angle is to the left, as Gymnasium draws it.
    tip = (middle - 0.8 * middle * cosine, middle - 0.8 * middle * sine)
    canvas.stroke(image, (middle, middle), tip, middle / 6, canvas.VERMILION)
    canvas.disc(image, round(middle), round(middle), middle / 16)
