"""Networks over a stack of k slots: encode each slot, read the slots, put heads on top.

Weights are drawn in `adastack.deep.initial`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from jax import Array

LARGE_IMAGE = 36
SMALLEST_IMAGE = 4
"""Three convolutions of two by two leave nothing of a smaller one."""
MOST_CODES = 32
"""Whole numbers of a box that can take no more values than this are symbols, not amounts."""
MOST_INPUTS = 4096
"""Symbols are one-hot inputs while there are no more of these."""


@dataclass(frozen=True)
class Leaf:
    """One observation array of a slot and how to encode it."""

    kind: str
    """onehot, box or image."""
    shape: tuple[int, ...]
    """onehot: the number of options of each entry, of which an entry may also be none; otherwise
    the array's shape."""
    scale: float = 1.0
    """What box and image entries are multiplied with."""


Spec = Leaf | tuple[tuple[str, Any], ...]
"""The observation of a slot: a leaf, or named specs for Dict and Tuple observations."""


def spec_of(space: spaces.Space[Any], *, empty: bool = True) -> Spec:
    """How to encode an observation of this space; ``empty`` adds a symbol for empty slots.

    Raises:
        TypeError: If there is no encoder for the space.
    """
    if isinstance(space, spaces.Discrete):
        return Leaf("onehot", (int(space.n) + empty,))
    if isinstance(space, spaces.MultiDiscrete):
        return Leaf("onehot", tuple(int(n) + empty for n in space.nvec.ravel()))
    if isinstance(space, spaces.MultiBinary):
        return Leaf("box", tuple(space.shape))
    if isinstance(space, spaces.Box) and (sizes := _codes(space)):
        return Leaf("onehot", sizes)
    if isinstance(space, spaces.Box):
        whole = np.issubdtype(space.dtype, np.integer)
        scale = 1.0 / float(space.high.max()) if whole and space.high.max() > 0 else 1.0
        return Leaf("image" if len(space.shape) == 3 else "box", tuple(space.shape), scale)
    if isinstance(space, spaces.Dict):
        return tuple((name, spec_of(part, empty=empty)) for name, part in space.items())
    if isinstance(space, spaces.Tuple):
        return tuple((str(i), spec_of(part, empty=empty)) for i, part in enumerate(space))
    raise TypeError(
        f"expected a Discrete, MultiDiscrete, MultiBinary, Box, Dict or Tuple observation, "
        f"actual: {space}"
    )


def _codes(space: spaces.Box) -> tuple[int, ...]:
    """How many values each entry of a box of symbols can take; none for other boxes."""
    if not np.issubdtype(space.dtype, np.integer):
        return ()
    sizes = (space.high.astype(np.int64) - space.low + 1).ravel()
    few = len(sizes) and sizes.max() <= MOST_CODES and sizes.sum() <= MOST_INPUTS
    return tuple(int(size) for size in sizes) if few else ()


def leaves_in(spec: Spec) -> list[Leaf]:
    """The leaves of a spec, in order."""
    if isinstance(spec, Leaf):
        return [spec]
    return [leaf for _, part in spec for leaf in leaves_in(part)]


def respecified(spec: Spec, leaves: list[Leaf]) -> Spec:
    """The spec with other leaves."""
    remaining = iter(leaves)

    def build(part: Spec) -> Spec:
        if isinstance(part, Leaf):
            return next(remaining)
        return tuple((name, build(sub)) for name, sub in part)

    return build(spec)


def has_image(spec: Spec) -> bool:
    """Whether some part of the observation is an image."""
    return any(leaf.kind == "image" for leaf in leaves_in(spec))


class SlotEncoder(nn.Module):
    """Turns the slots into features of shape (batch, k, features), the same weights for each."""

    spec: Spec
    convolve: bool
    hidden: int

    @nn.compact
    def __call__(self, slots: Any) -> Array:
        """Encodes slots: arrays of shape (batch, k, ...), nested as the spec is."""
        return self._encode(self.spec, slots)

    def _encode(self, spec: Spec, slots: Any) -> Array:
        if not isinstance(spec, Leaf):
            return jnp.concatenate([self._encode(part, slots[name]) for name, part in spec], -1)
        if spec.kind == "onehot":
            return one_hot(slots.reshape(*slots.shape[:2], -1), spec.shape)
        scaled = slots.astype(jnp.float32) * spec.scale
        if spec.kind == "image" and self.convolve:
            return self._convolve(scaled)
        return cast(Array, scaled.reshape(*slots.shape[:2], -1))

    def _convolve(self, images: Array) -> Array:
        large = min(images.shape[2:4]) >= LARGE_IMAGE
        layers = (
            [(32, 8, 4), (64, 4, 2), (64, 3, 1)] if large else [(16, 2, 1), (32, 2, 1), (64, 2, 1)]
        )
        x = images.reshape(-1, *images.shape[2:])
        for features, size, stride in layers:
            x = nn.relu(nn.Conv(features, (size, size), stride, padding="VALID")(x))
        x = nn.relu(nn.Dense(self.hidden)(x.reshape(len(x), -1)))
        return x.reshape(*images.shape[:2], -1)


def one_hot(entries: Array, sizes: tuple[int, ...]) -> Array:
    """(..., entries) -> (..., sum of sizes): entries of one size are encoded together."""
    by_size = {size: np.flatnonzero(np.equal(sizes, size)) for size in dict.fromkeys(sizes)}
    rows = [
        jax.nn.one_hot(entries if len(by_size) == 1 else entries[..., where], size)
        for size, where in by_size.items()
    ]
    return jnp.concatenate([row.reshape(*row.shape[:-2], -1) for row in rows], -1)


class MlpBody(nn.Module):
    """Three layers with tanh over the joined slots."""

    hidden: int
    layers: int = 3

    @nn.compact
    def __call__(self, features: Array) -> Array:
        """(batch, k, features) -> (batch, hidden)."""
        x = features.reshape(len(features), -1)
        for _ in range(self.layers):
            x = nn.tanh(nn.Dense(self.hidden)(x))
        return x


class LstmBody(nn.Module):
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


class TransformerBody(nn.Module):
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


BODIES = {"mlp": MlpBody, "cnn": MlpBody, "lstm": LstmBody, "transformer": TransformerBody}


class ActorCritic(nn.Module):
    """Policy outputs and a value for each stack."""

    spec: Spec
    net: str
    n_outputs: int
    """Network outputs of the policy, deviations excluded."""
    n_deviations: int = 0
    """Log-deviations, which do not depend on the stack, appended to the first outputs."""
    critic: bool = True
    shared: bool = False
    hidden: int = 128

    def setup(self) -> None:
        """Builds the towers: actor, and critic unless it is shared or absent."""
        convolve = self.net != "mlp"
        self.actor_encoder = SlotEncoder(self.spec, convolve, self.hidden)
        self.actor_body = BODIES[self.net](self.hidden)
        self.policy = nn.Dense(self.n_outputs)
        if self.n_deviations:
            self.log_std = self.param("log_std", nn.initializers.zeros, (self.n_deviations,))
        if self.critic:
            self.value = nn.Dense(1)
        if self.critic and not self.shared:
            self.critic_encoder = SlotEncoder(self.spec, convolve, self.hidden)
            self.critic_body = BODIES[self.net](self.hidden)

    def __call__(self, slots: Any) -> tuple[Array, Array]:
        """Slots of shape (batch, k, ...) -> policy outputs (batch, n) and values (batch,)."""
        read = self.actor_body(self.actor_encoder(slots))
        outputs = self._with_deviations(self.policy(read))
        if not self.critic:
            return outputs, jnp.zeros(len(outputs))
        if not self.shared:
            read = self.critic_body(self.critic_encoder(slots))
        return outputs, self.value(read)[:, 0]

    def act(self, slots: Any) -> Array:
        """The policy outputs alone."""
        return self._with_deviations(self.policy(self.actor_body(self.actor_encoder(slots))))

    def _with_deviations(self, outputs: Array) -> Array:
        if not self.n_deviations:
            return outputs
        log_std = jnp.broadcast_to(self.log_std, (len(outputs), self.n_deviations))
        mean, rest = jnp.split(outputs, [self.n_deviations], axis=-1)
        return jnp.concatenate([mean, log_std, rest], axis=-1)


def policy_and_value(net: ActorCritic, params: Any, slots: Any) -> tuple[Array, Array]:
    """Policy outputs and values of a batch of stacks."""
    outputs, value = cast(tuple[Array, Array], net.apply(params, slots))
    return outputs, value


def act(net: ActorCritic, params: Any, slots: Any) -> Array:
    """The policy outputs alone of a batch of stacks."""
    return cast(Array, net.apply(params, slots, method="act"))


def check_net(net: str, spec: Spec) -> None:
    """Raises if the network cannot read the observation."""
    if net == "cnn" and not has_image(spec):
        raise ValueError("net 'cnn' expects an image observation of three axes: use net 'mlp'")
    for leaf in leaves_in(spec):
        if net != "mlp" and leaf.kind == "image" and min(leaf.shape[:2]) < SMALLEST_IMAGE:
            raise ValueError(
                f"net {net!r} expects images of at least {SMALLEST_IMAGE} x {SMALLEST_IMAGE} with "
                f"channels last, actual: {leaf.shape}: transpose them, or use net 'mlp'"
            )
