"""A Transformer over the slots; it reads the newest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import flax.linen as nn
import jax.numpy as jnp
from jax import Array

from adastack.deep.networks.observations import Spec, n_features


class Body(nn.Module):
    """Two causal layers over embedded slots with learned positions; the last token."""

    hidden: int
    layers: int = 2
    heads: int = 4

    @nn.compact
    def __call__(self, features: Array) -> Array:
        """(batch, k, features) -> (batch, hidden)."""
        k = features.shape[1]
        position = self.param("position", nn.initializers.normal(0.02), (k, self.hidden))
        x = nn.Dense(self.hidden)(features) + position
        for layer in range(self.layers):
            # Only the last token is read, so the last layer asks for it alone.
            last = layer == self.layers - 1
            mask = None if last else jnp.tril(jnp.ones((k, k), bool))
            keys = nn.LayerNorm()(x)
            queries = keys[:, -1:] if last else keys
            attended = nn.MultiHeadDotProductAttention(self.heads)(queries, keys, mask=mask)
            x = (x[:, -1:] if last else x) + attended
            wide = nn.relu(nn.Dense(2 * self.hidden)(nn.LayerNorm()(x)))
            x = x + nn.Dense(self.hidden)(wide)
        return cast(Array, nn.LayerNorm()(x[:, -1]))


def gain(path: Sequence[str]) -> float | None:
    """The gain of an orthogonal layer: there is none here."""
    return None


def sizes(spec: Spec, stack_size: int, hidden: int, convolve: bool) -> tuple[int, int]:
    """At least so many weights, and numbers per row of a minibatch, grow with the stack."""
    scores = Body.heads * stack_size**2
    return stack_size * hidden, stack_size * n_features(spec, convolve) + scores
