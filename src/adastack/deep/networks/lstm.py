"""An LSTM over the slots, oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple, cast

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.networks.observations import Spec, n_features
from adastack.deep.networks.prefixes import Prefixes
from adastack.deep.networks.slots import from_oldest, look_up, newest

GATES = "ifgo"
UNROLLED = 4
"""Few levels are unrolled: a loop costs more than the small products inside it."""


class Body(nn.Module):
    """An embedding and one LSTM layer over the slots, oldest first; its last hidden state."""

    hidden: int

    @nn.compact
    def __call__(self, features: Array, filled: Array | None = None) -> Array:
        """(batch, k, features) -> (batch, hidden); all slots are read, or the filled ones."""
        embedded = nn.Dense(self.hidden)(from_oldest(features, filled))
        cell = nn.OptimizedLSTMCell(self.hidden)
        unroll = min(features.shape[1], UNROLLED)
        return newest(cast(Array, nn.RNN(cell, unroll=unroll)(embedded)), filled)


def read(bodies: Sequence[Any], features: Sequence[Array], filled: Array | None) -> list[Array]:
    """What each body says of a batch of stacks, as `Body` does, in less time.

    Args:
        bodies: The weights of each.
        features: For each, (batch, k, features).
        filled: (batch,): how many slots are read; all, if None.
    """
    kept = None
    if filled is not None:
        k = features[0].shape[1]
        kept = jnp.arange(k)[:, None] > k - filled

    def tower(weights: _Weights, features: Array) -> Array:
        inputs = _gate_inputs(weights, jnp.swapaxes(features, 0, 1))
        states: Array = hidden_states(inputs, weights.recurrent, None, kept)
        return states[-1]

    return [tower(_weights(body), each) for body, each in zip(bodies, features, strict=True)]


def read_prefixes(bodies: Sequence[Any], prefixes: Prefixes) -> list[Array]:
    """What each body says of all stacks of one-hot symbols, (stacks, hidden)."""
    symbol = jnp.asarray(prefixes.by_level(prefixes.symbol))
    parent = jnp.asarray(prefixes.by_level(prefixes.column[prefixes.parent].astype(np.int32)))
    ends = prefixes.depth[prefixes.end] * symbol.shape[1] + prefixes.column[prefixes.end]

    def tower(weights: _Weights) -> Array:
        inputs = look_up(_gate_inputs(weights, jnp.eye(prefixes.n_symbols)), symbol)
        states: Array = hidden_states(inputs, weights.recurrent, parent, None)
        return look_up(states.reshape(-1, states.shape[-1]), jnp.asarray(ends))

    # One tower after the other: the recurrent weights of one stay in the cache, of two they do not.
    return [tower(_weights(body)) for body in bodies]


def tokens(prefixes: Prefixes) -> float:
    """How many slots' worth of work one pass over the prefixes is."""
    return float(prefixes.widths.max()) * len(prefixes.widths)


class _Weights(NamedTuple):
    embed: Any
    inputs: tuple[Array, ...]
    """Of each gate; joined, they would have to be copied there and back at every gradient."""
    recurrent: tuple[Array, ...]
    bias: Array


def _weights(body: Any) -> _Weights:
    cell = body["OptimizedLSTMCell_0"]
    return _Weights(
        body["Dense_0"],
        tuple(cell[f"i{gate}"]["kernel"] for gate in GATES),
        tuple(cell[f"h{gate}"]["kernel"] for gate in GATES),
        jnp.concatenate([cell[f"h{gate}"]["bias"] for gate in GATES]),
    )


def _gate_inputs(weights: _Weights, features: Array) -> Array:
    """(..., features) -> (..., 4 hidden): what the slots add to the gates.

    Between the embedding and the gates nothing is nonlinear, so where features are few the two are
    multiplied first.
    """
    kernel, bias = weights.embed["kernel"], weights.embed["bias"]
    if 2 * features.shape[-1] > kernel.shape[1]:
        return _to_gates(features @ kernel + bias, weights.inputs) + weights.bias
    joined = _to_gates(jnp.concatenate([kernel, bias[None]]), weights.inputs)
    return features @ joined[:-1] + (joined[-1] + weights.bias)


def _to_gates(rows: Array, kernels: Sequence[Array]) -> Array:
    """(..., hidden) -> (..., 4 hidden)."""
    return jnp.concatenate([rows @ kernel for kernel in kernels], axis=-1)


@jax.custom_vjp
def hidden_states(
    inputs: Array, recurrent: tuple[Array, ...], parent: Array | None, kept: Array | None
) -> Any:
    """The hidden states of an LSTM, level by level.

    Args:
        inputs: (levels, columns, 4 hidden): what the slots add to the gates.
        recurrent: For each gate, (hidden, hidden).
        parent: (levels, columns): the column, in the level before, that each goes on from; its own,
            if None.
        kept: (levels, columns): whether each goes on from a state at all, or begins; all do, except
            in the first level, if None.
    """
    return _forward(inputs, recurrent, parent, kept)[0]


def _cell(gates: Array, before: Array | None) -> tuple[Array, Array, tuple[Array, ...]]:
    """Hidden state, cell state and activations; the cell state before is 0 if None."""
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    i, f, g, o = nn.sigmoid(i), nn.sigmoid(f), nn.tanh(g), nn.sigmoid(o)
    state = i * g if before is None else f * before + i * g
    shown = nn.tanh(state)
    return o * shown, state, (i, f, g, o, shown)


def _forward(
    inputs: Array, recurrent: tuple[Array, ...], parent: Array | None, kept: Array | None
) -> tuple[Array, Any]:
    hidden, state, first = _cell(inputs[0], None)
    kernels = _kernels(recurrent, len(inputs))

    def step(carry: tuple[Array, Array], now: Any) -> tuple[tuple[Array, Array], Any]:
        inputs, parent, kept = now
        hidden, state = carry if parent is None else (part[parent] for part in carry)
        if kept is not None:
            hidden, state = (jnp.where(kept[:, None], part, 0.0) for part in (hidden, state))
        after, new, activations = _cell(inputs + _to_gates(hidden, kernels), state)
        return (after, new), (after, hidden, state, activations)

    later = jax.tree.map(lambda leaf: leaf[1:], (inputs, parent, kept))
    _, (after, *saved) = jax.lax.scan(step, (hidden, state), later, unroll=_unroll(len(inputs)))
    residuals = (first, saved, recurrent, parent, kept)
    return jnp.concatenate([hidden[None], after]), residuals


def _unroll(levels: int) -> int:
    return max(1, levels - 1) if levels <= UNROLLED else 1


def _kernels(recurrent: tuple[Array, ...], levels: int) -> tuple[Array, ...]:
    """The recurrent weights as they are multiplied with: joined where many levels follow."""
    return recurrent if levels <= UNROLLED else (jnp.concatenate(recurrent, axis=-1),)


def _transposed(kernel: Array, levels: int) -> Array:
    """The weights as the way back multiplies with them.

    A product of few rows is three times as fast with an array that is transposed already; XLA would
    rather transpose inside each product of the loop.
    """
    barrier: Any = jax.lax.optimization_barrier
    return kernel.T if levels <= UNROLLED else cast(Array, barrier(kernel.T))


def _backward(residuals: Any, slopes: Array) -> tuple[Array, tuple[Array, ...], None, None]:
    """The weights' gradient is one product for each gate, after the loop, over all levels."""
    first, (hidden, state, activations), recurrent, parent, kept = residuals
    kernels = [_transposed(kernel, len(slopes)) for kernel in _kernels(recurrent, len(slopes))]

    def step(carry: tuple[Array, Array], now: Any) -> tuple[tuple[Array, Array], Array]:
        slope, activations, state, parent, kept = now
        gates, to_state = _cell_backward(carry[0] + slope, carry[1], activations, state)
        parts = jnp.split(gates, len(kernels), axis=-1)
        products = [part @ kernel for part, kernel in zip(parts, kernels, strict=True)]
        back: tuple[Array, ...] = (reduce(jnp.add, products), to_state)
        if kept is not None:
            back = tuple(jnp.where(kept[:, None], part, 0.0) for part in back)
        if parent is not None:
            back = tuple(_add_up(part, parent) for part in back)
        return cast(tuple[Array, Array], back), gates

    later = jax.tree.map(lambda leaf: leaf[1:], (slopes, parent, kept))
    xs = (later[0], activations, state, *later[1:])
    zeros = jnp.zeros_like(slopes[0])
    unroll = _unroll(len(slopes))
    carry, gates = jax.lax.scan(step, (zeros, zeros), xs, reverse=True, unroll=unroll)
    begin, _ = _cell_backward(carry[0] + slopes[0], carry[1], first, None)
    before = hidden.reshape(-1, hidden.shape[-1]).T
    parts = jnp.split(gates.reshape(-1, gates.shape[-1]), len(recurrent), axis=-1)
    gradient = tuple(before @ part for part in parts)
    return jnp.concatenate([begin[None], gates]), gradient, None, None


def _cell_backward(
    slope: Array, to_state: Array, activations: tuple[Array, ...], before: Array | None
) -> tuple[Array, Array]:
    """From the slopes of a cell's results to those of its gates and of the state before."""
    i, f, g, o, shown = activations
    to_state = to_state + slope * o * (1 - shown**2)
    forget = jnp.zeros_like(i) if before is None else to_state * before * f * (1 - f)
    gates = [
        to_state * g * i * (1 - i),
        forget,
        to_state * i * (1 - g**2),
        slope * shown * o * (1 - o),
    ]
    return jnp.concatenate(gates, axis=-1), to_state * f


def _add_up(rows: Array, parent: Array) -> Array:
    """What the columns send back to those they went on from."""
    return jax.nn.one_hot(parent, len(rows), axis=0) @ rows


hidden_states.defvjp(_forward, _backward)


def gain(path: Sequence[str]) -> float | None:
    """The gain of an orthogonal layer, here the recurrent one; None for the others."""
    return 1.0 if path[-2].startswith("h") else None


def sizes(spec: Spec, stack_size: int, hidden: int, convolve: bool) -> tuple[int, int]:
    """At least so many weights, and numbers per row of a minibatch, grow with the stack."""
    return 0, stack_size * n_features(spec, convolve)
