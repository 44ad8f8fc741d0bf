"""An MLP over the joined slots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from jax import Array

from adastack.deep.networks.observations import Spec, n_features


class Body(nn.Module):
    """Three layers with tanh over the joined slots."""

    hidden: int
    layers: int = 3

    @nn.compact
    def __call__(self, features: Array, filled: Array | None = None) -> Array:
        """(batch, k, features) -> (batch, hidden); empty slots are inputs like others."""
        x = features.reshape(len(features), -1)
        for _ in range(self.layers):
            x = nn.tanh(nn.Dense(self.hidden)(x))
        return x


def read_distinct(
    bodies: Sequence[Any], features: Sequence[Array], index: Array, of_row: Sequence[Array | None]
) -> list[Array]:
    """What each body says of stacks, as `Body` does; each observation is multiplied once.

    Args:
        bodies: The weights of each.
        features: For each, (observations, features).
        index: (batch, k): the observation in each slot.
        of_row: For each, (batch, k, further features), or None.
    """

    def tower(body: Any, features: Array, of_row: Array | None) -> Array:
        first, k = body["Dense_0"], index.shape[1]
        kernel = first["kernel"].reshape(k, -1, first["kernel"].shape[1])
        seen, rest = jnp.split(kernel, [features.shape[1]], axis=1)
        x = first["bias"] + sum((features @ seen[slot])[index[:, slot]] for slot in range(k))
        if of_row is not None:
            x += of_row.reshape(len(x), -1) @ rest.reshape(-1, rest.shape[-1])
        for layer in range(1, len(body)):
            dense = body[f"Dense_{layer}"]
            x = nn.tanh(x) @ dense["kernel"] + dense["bias"]
        return nn.tanh(x)

    return [tower(*each) for each in zip(bodies, features, of_row, strict=True)]


def gain(path: Sequence[str]) -> float | None:
    """The gain of an orthogonal layer; None for layers that are drawn normal."""
    return math.sqrt(2)


def sizes(spec: Spec, stack_size: int, hidden: int, convolve: bool) -> tuple[int, int]:
    """At least so many weights, and numbers per row of a minibatch, grow with the stack."""
    inputs = stack_size * n_features(spec, convolve)
    return inputs * hidden, inputs
