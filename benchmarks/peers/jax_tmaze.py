"""The Passive-TMaze with the interface of gymnax, which memorax and rejax take."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from gymnax.environments import spaces
from tmaze import CORRIDOR, JUNCTION, LENGTH, RED


class TMaze:
    """States are (place, goal); an episode that is over begins anew in the same step."""

    name = "TMaze"
    num_actions = 4
    default_params: Any = None

    def reset(self, key: Any, params: Any = None) -> Any:
        """A new cue."""
        goal = jax.random.randint(key, (), 0, 2)
        return jax.nn.one_hot(RED + goal, 4), (jnp.zeros((), jnp.int32), goal)

    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        """One cell to the right; at the junction, up or down."""
        place, goal = state[0] + 1, state[1]
        over = place == LENGTH
        reward = jnp.where(over, jnp.where((action >= 2) == (goal == 1), 1.0, -1.0), 0.0)
        shown = jax.nn.one_hot(jnp.where(place == LENGTH - 1, JUNCTION, CORRIDOR), 4)
        first, begun = self.reset(key)
        following = jax.tree.map(lambda new, old: jnp.where(over, new, old), begun, (place, goal))
        return jnp.where(over, first, shown), following, reward, over, {}

    def observation_space(self, params: Any = None) -> Any:
        """Four colours."""
        return spaces.Box(0, 1, (4,))

    def action_space(self, params: Any = None) -> Any:
        """Four moves."""
        return spaces.Discrete(4)
