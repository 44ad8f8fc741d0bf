"""A linear recurrent unit (Orvieto et al. 2023): a diagonal, complex, linear recurrence.

Of the linear recurrences (S5, FFM) it takes the least code: no discretisation, and a decay for each
unit that is drawn so that all time scales are there from the beginning. What is linear in the state
is trained by a parallel scan; what is not, a gated output beside the features themselves, needs no
loop.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.initial import orthogonal

LEAST, MOST = 0.9, 0.999
"""Moduli of the eigenvalues at first; their squares are uniform in between."""
LARGEST_PHASE = math.pi / 10


def width(hidden: int) -> int:
    """The state is real parts, then imaginary parts."""
    return 2 * hidden


def draw(hidden: int, rng: np.random.Generator) -> dict[str, Any]:
    """Eigenvalues on a ring; orthogonal weights around them."""
    squares = rng.uniform(LEAST**2, MOST**2, hidden)
    phases = rng.uniform(0, LARGEST_PHASE, hidden)
    return {
        "decay": np.log(-0.5 * np.log(squares)).astype(np.float32),
        "phase": np.log(phases).astype(np.float32),
        "inputs": orthogonal((hidden, 2 * hidden), 1.0, rng),
        "outputs": orthogonal((2 * hidden, hidden), 1.0, rng),
        "through": np.ones(hidden, np.float32),
        "gate": orthogonal((hidden, hidden), 1.0, rng),
        "gate_bias": np.zeros(hidden, np.float32),
    }


def inputs(weights: Any, features: Array) -> Array:
    """What the features add to the state, scaled to keep their variance; then the features."""
    _, size = _eigenvalues(weights)
    scale = jnp.sqrt(1 - size**2)
    added = features @ weights["inputs"] * jnp.tile(scale, 2)[:, None]
    return jnp.concatenate([added, features], axis=-1)


def step(weights: Any, state: Array, inputs: Array) -> tuple[Array, Array]:
    """See `adastack.deep.cell_table`."""
    added, features = _split(inputs)
    after = _eigenvalues(weights)[0][:, None] * _complex(state) + _complex(added)
    state = jnp.concatenate([after.real, after.imag], axis=-1)
    return state, _outputs(weights, state, features)


def scan(weights: Any, state: Array, inputs: Array, reset: Array) -> Array:
    """See `adastack.deep.cell_table`."""
    added, features = _split(inputs)
    factors = jnp.where(reset[:, None, :, None], 0, _eigenvalues(weights)[0][:, None])
    terms = _complex(added)
    terms = terms.at[0].add(factors[0] * _complex(state))
    _, states = jax.lax.associative_scan(_after, (factors, terms))
    return _outputs(weights, jnp.concatenate([states.real, states.imag], axis=-1), features)


def _after(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """One step, or many, after another: state -> factor * state + term."""
    return first[0] * second[0], first[1] * second[0] + second[1]


def _outputs(weights: Any, state: Array, features: Array) -> Array:
    """The features plus a gated projection of the state."""
    read = state @ weights["outputs"] + features * weights["through"][:, None]
    read = jax.nn.gelu(read)
    gate = jax.nn.sigmoid(read @ weights["gate"] + weights["gate_bias"][:, None])
    return features + read * gate


def _eigenvalues(weights: Any) -> tuple[Array, Array]:
    """(towers, hidden): the eigenvalues, whose moduli are below 1, and these moduli."""
    size = jnp.exp(-jnp.exp(weights["decay"]))
    return size * jnp.exp(1j * jnp.exp(weights["phase"])), size


def _complex(halves: Array) -> Array:
    real, imaginary = jnp.split(halves, 2, axis=-1)
    return jax.lax.complex(real, imaginary)


def _split(inputs: Array) -> tuple[Array, Array]:
    hidden = inputs.shape[-1] // 3
    return inputs[..., : 2 * hidden], inputs[..., 2 * hidden :]
