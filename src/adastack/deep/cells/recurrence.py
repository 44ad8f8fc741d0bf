"""Gated cells in a loop over time, with the products that do not depend on it outside of it.

The inputs' product is made before the loop, for all steps at once. In the backward pass so are all
activations and their slopes, and the weights' gradient is one product after the loop. What is left
inside is one product with the recurrent weights and a few multiplications.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.initial import orthogonal

UNROLLED = 4
"""Steps that are compiled as one: a loop costs about as much as a small product inside it."""

Gates = Callable[[Array, Array, Array], Array]
"""(inputs, product, state) -> the next state, entry by entry.

``product`` is that of the recurrent weights and the hidden state, which the state begins with.
"""


def next_state(gates: Gates, recurrent: Array, state: Array, inputs: Array) -> Array:
    """The state after a step; towers on the first axis of everything."""
    return gates(inputs, state[..., : recurrent.shape[-2]] @ recurrent, state)


def reset_where(reset: Array, state: Array) -> Array:
    """(towers, environments, width) with zeros where (environments,) says so."""
    return jnp.where(reset[:, None], 0.0, state)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def all_states(gates: Gates, recurrent: Array, state: Array, inputs: Array, reset: Array) -> Any:
    """(steps, towers, environments, width): the states after each step of a loop.

    Args:
        gates: The cell.
        recurrent: (towers, hidden, n): its recurrent weights.
        state: (towers, environments, width): before the first step.
        inputs: (steps, towers, environments, n).
        reset: (steps, environments): whether the state is zero before the step.
    """
    return _forward(gates, recurrent, state, inputs, reset)[0]


def _forward(
    gates: Gates, recurrent: Array, state: Array, inputs: Array, reset: Array
) -> tuple[Array, Any]:
    hidden = recurrent.shape[-2]

    def step(state: Array, now: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        inputs, reset = now
        state = reset_where(reset, state)
        product = state[..., :hidden] @ recurrent
        after = gates(inputs, product, state)
        return after, (after, product)

    _, (states, products) = jax.lax.scan(step, state, (inputs, reset), unroll=UNROLLED)
    return states, (recurrent, state, inputs, reset, states, products)


def _backward(gates: Gates, residuals: Any, slopes: Array) -> tuple[Array, Array, Array, None]:
    recurrent, state, inputs, reset, states, products = residuals
    hidden = recurrent.shape[-2]
    before = jnp.concatenate([state[None], states[:-1]])
    before = jax.vmap(reset_where)(reset, before)
    pulls = jax.vmap(lambda *at: jax.vjp(gates, *at)[1])(inputs, products, before)
    transposed = jnp.swapaxes(recurrent, -1, -2)

    def step(slope: Array, now: tuple[Any, Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        pull, outside, reset = now
        to_inputs, to_product, to_state = pull(slope + outside)
        to_state = to_state.at[..., :hidden].add(to_product @ transposed)
        return reset_where(reset, to_state), (to_inputs, to_product)

    zeros = jnp.zeros_like(state)
    to_first, (to_inputs, to_products) = jax.lax.scan(
        step, zeros, (pulls, slopes, reset), reverse=True, unroll=UNROLLED
    )
    to_recurrent = jnp.einsum("tpnh,tpng->phg", before[..., :hidden], to_products)
    return to_recurrent, to_first, to_inputs, None


all_states.defvjp(_forward, _backward)


def gate_weights(hidden: int, gates: int, rng: np.random.Generator) -> dict[str, Any]:
    """The first weights of some gates, with an orthogonal matrix for each."""

    def matrices() -> Any:
        """(hidden, gates * hidden)."""
        return np.concatenate([orthogonal((hidden, hidden), 1.0, rng) for _ in range(gates)], 1)

    bias = np.zeros(gates * hidden, np.float32)
    return {"inputs": matrices(), "bias": bias, "recurrent": matrices()}


def gate_inputs(weights: Any, features: Array) -> Array:
    """What the features add to the gates."""
    added: Array = features @ weights["inputs"] + weights["bias"][:, None]
    return added
