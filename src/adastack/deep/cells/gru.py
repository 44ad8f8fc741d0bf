"""A gated recurrent unit (Cho et al. 2014), with the reset gate after the product as in cuDNN."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from flax.linen import sigmoid
from jax import Array

from adastack.deep.cells.recurrence import all_states, gate_inputs, gate_weights, next_state

inputs = gate_inputs


def width(hidden: int) -> int:
    """The state is the hidden state."""
    return hidden


def draw(hidden: int, rng: np.random.Generator) -> dict[str, Any]:
    """Orthogonal weights."""
    return gate_weights(hidden, 3, rng)


def _gates(inputs: Array, product: Array, state: Array) -> Array:
    keep, reset, new = jnp.split(inputs, 3, axis=-1)
    from_keep, from_reset, from_new = jnp.split(product, 3, axis=-1)
    keep, reset = sigmoid(keep + from_keep), sigmoid(reset + from_reset)
    new = jnp.tanh(new + reset * from_new)
    return new + keep * (state - new)


def step(weights: Any, state: Array, inputs: Array) -> tuple[Array, Array]:
    """See `adastack.deep.cell_table`."""
    state = next_state(_gates, weights["recurrent"], state, inputs)
    return state, state


def scan(weights: Any, state: Array, inputs: Array, reset: Array) -> Array:
    """See `adastack.deep.cell_table`."""
    states: Array = all_states(_gates, weights["recurrent"], state, inputs, reset)
    return states
