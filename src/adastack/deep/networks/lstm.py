"""An LSTM over the slots, oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import flax.linen as nn
from jax import Array

from adastack.deep.networks.observations import Spec, n_features


class Body(nn.Module):
    """An embedding and one LSTM layer over the slots, oldest first; its last hidden state."""

    hidden: int

    @nn.compact
    def __call__(self, features: Array) -> Array:
        """(batch, k, features) -> (batch, hidden)."""
        embedded = nn.Dense(self.hidden)(features)
        cell = nn.OptimizedLSTMCell(self.hidden)
        # Few slots are unrolled: a loop costs more than the small products inside it.
        unroll = min(features.shape[1], 4)
        return cast(Array, nn.RNN(cell, unroll=unroll)(embedded))[:, -1]


def gain(path: Sequence[str]) -> float | None:
    """The gain of an orthogonal layer, here the recurrent one; None for the others."""
    return 1.0 if path[-2].startswith("h") else None


def sizes(spec: Spec, stack_size: int, hidden: int, convolve: bool) -> tuple[int, int]:
    """At least so many weights, and numbers per row of a minibatch, grow with the stack."""
    return 0, stack_size * n_features(spec, convolve)
