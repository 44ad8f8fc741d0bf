"""Networks of the shapes that `adastack.theory.cost` counts, compiled, counted and timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.theory.cost import Shape

REPEATS = 20

Layers = list[list[Array]]


def measure(net: str, memory: str, stack_size: int, shape: Shape) -> dict[str, float]:
    """What the compiler counts for one action and for one TD update, and how long they take.

    The compiler counts the inside of a loop only once, so loops are written out to be counted.
    Bytes are arguments, results and temporaries of the compiled program, without the optimiser.
    """
    rng = np.random.default_rng(0)
    outputs = shape.actions + (stack_size if memory == "adaptive" else 0)
    layers = [[_weights(rng, *size) for size in layer] for layer in _sizes(net, stack_size, shape)]
    parameters = (layers, _weights(rng, shape.hidden, outputs), _weights(rng, outputs))
    one = _weights(rng, stack_size, shape.hidden)
    stacks = _weights(rng, shape.batch, stack_size, shape.hidden)
    action, update = _programs(net, unroll=False)
    counted_action, counted_update = _programs(net, unroll=True)
    both = (parameters, parameters, stacks, stacks[::-1])
    return {
        "action_flops": _flops(counted_action, parameters, one),
        "update_flops": _flops(counted_update, *both),
        **{f"action_{name}": value for name, value in _run(action, parameters, one).items()},
        **{f"update_{name}": value for name, value in _run(update, *both).items()},
    }


def _programs(net: str, *, unroll: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """One action, and the gradient of the TD errors of a batch."""
    body = _BODIES[net]

    def values(parameters: Any, stack: Array) -> Array:
        layers, head, bias = parameters
        return jnp.add(body(layers, stack, unroll) @ head, bias)

    def error(parameters: Any, target: Any, stacks: Array, following: Array) -> Array:
        now = jax.vmap(values, (None, 0))(parameters, stacks)
        then = jax.vmap(values, (None, 0))(target, following)
        return jnp.square(now - jax.lax.stop_gradient(then)).sum()

    return values, jax.grad(error)


def _flops(function: Callable[..., Any], *arguments: Any) -> float:
    lowered: Any = jax.jit(function).lower(*arguments)
    return float(lowered.cost_analysis()["flops"])


def _run(function: Callable[..., Any], *arguments: Any) -> dict[str, float]:
    compiled: Any = jax.jit(function).lower(*arguments).compile()
    held: Any = compiled.memory_analysis()
    ready: Callable[[Any], Any] = jax.block_until_ready
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        ready(compiled(*arguments))
        seconds.append(time.perf_counter() - began)
    return {
        "bytes": held.argument_size_in_bytes + held.output_size_in_bytes + held.temp_size_in_bytes,
        "seconds": float(np.median(seconds)),
    }


def _weights(rng: np.random.Generator, *size: int) -> Array:
    return jnp.asarray(rng.normal(size=size) / np.sqrt(size[0]), jnp.float32)


def _sizes(net: str, k: int, shape: Shape) -> list[list[tuple[int, ...]]]:
    h, more = shape.hidden, shape.layers - 1
    if net == "mlp":
        return [[(k * h, h), (h,)], *[[(h, h), (h,)]] * more]
    if net == "lstm":
        return [[(h, 4 * h), (h, 4 * h), (4 * h,)]] * shape.layers
    return [[*[(h, h)] * 4, (h, 4 * h), (4 * h, h)]] * shape.layers


def _mlp(layers: Layers, x: Array, unroll: bool) -> Array:
    x = x.reshape(-1)
    for matrix, bias in layers:
        x = jax.nn.relu(x @ matrix + bias)
    return x


def _lstm(layers: Layers, x: Array, unroll: bool) -> Array:
    for of_input, of_state, bias in layers:

        def slot(
            held: tuple[Array, Array],
            entry: Array,
            weights: tuple[Array, ...] = (of_input, of_state, bias),
        ) -> tuple[tuple[Array, Array], Array]:
            state, cell = held
            gates = jnp.split(entry @ weights[0] + state @ weights[1] + weights[2], 4)
            write, forget, read = (jax.nn.sigmoid(gate) for gate in gates[:3])
            cell = forget * cell + write * jnp.tanh(gates[3])
            state = read * jnp.tanh(cell)
            return (state, cell), state

        empty = jnp.zeros_like(x[0])
        _, x = jax.lax.scan(slot, (empty, empty), x, unroll=unroll or 1)
    return x[-1]


def _transformer(layers: Layers, x: Array, unroll: bool) -> Array:
    for query, key, value, out, up, down in layers:
        y = _normed(x)
        attention = jax.nn.softmax((y @ query) @ (y @ key).T / np.sqrt(x.shape[-1]))
        x = x + attention @ (y @ value) @ out
        x = x + jax.nn.relu(_normed(x) @ up) @ down
    return x[-1]


def _normed(x: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5)


_BODIES: dict[str, Callable[[Layers, Array, bool], Array]] = {
    "mlp": _mlp,
    "lstm": _lstm,
    "transformer": _transformer,
}
