"""A long short-term memory (Hochreiter & Schmidhuber 1997) with a forget gate."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from flax.linen import sigmoid
from jax import Array

from adastack.deep.cells.recurrence import all_states, gate_inputs, gate_weights, next_state

inputs = gate_inputs


def width(hidden: int) -> int:
    """The state is the hidden state, then the cell state."""
    return 2 * hidden


def draw(hidden: int, rng: np.random.Generator) -> dict[str, Any]:
    """Orthogonal weights."""
    return gate_weights(hidden, 4, rng)


def _gates(inputs: Array, product: Array, state: Array) -> Array:
    put, keep, new, show = jnp.split(inputs + product, 4, axis=-1)
    cell = jnp.split(state, 2, axis=-1)[1]
    cell = sigmoid(keep) * cell + sigmoid(put) * jnp.tanh(new)
    return jnp.concatenate([sigmoid(show) * jnp.tanh(cell), cell], axis=-1)


def step(weights: Any, state: Array, inputs: Array) -> tuple[Array, Array]:
    """See `adastack.deep.cell_table`."""
    state = next_state(_gates, weights["recurrent"], state, inputs)
    return state, _hidden(state)


def scan(weights: Any, state: Array, inputs: Array, reset: Array) -> Array:
    """See `adastack.deep.cell_table`."""
    return _hidden(all_states(_gates, weights["recurrent"], state, inputs, reset))


def _hidden(state: Array) -> Array:
    return jnp.split(state, 2, axis=-1)[0]
