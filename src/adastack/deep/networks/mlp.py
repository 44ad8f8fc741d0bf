"""An MLP over the joined slots."""

from __future__ import annotations

import math
from collections.abc import Sequence

import flax.linen as nn
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


def gain(path: Sequence[str]) -> float | None:
    """The gain of an orthogonal layer; None for layers that are drawn normal."""
    return math.sqrt(2)


def sizes(spec: Spec, stack_size: int, hidden: int, convolve: bool) -> tuple[int, int]:
    """At least so many weights, and numbers per row of a minibatch, grow with the stack."""
    inputs = stack_size * n_features(spec, convolve)
    return inputs * hidden, inputs
