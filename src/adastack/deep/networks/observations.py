"""How the observation of a slot is encoded."""

from __future__ import annotations

import math
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
"""Integers of a box that can take no more values than this are symbols, not amounts."""
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
    if isinstance(space, spaces.Box | spaces.Dict | spaces.Tuple) and not _holds_anything(space):
        raise TypeError(f"expected an observation of at least one number, actual: {space}")
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


def _holds_anything(space: spaces.Box | spaces.Dict | spaces.Tuple[Any]) -> bool:
    return math.prod(space.shape) > 0 if isinstance(space, spaces.Box) else len(space) > 0


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


def n_features(spec: Spec, convolve: bool) -> int:
    """How many numbers a slot is at least, as a network is given it."""
    return sum(
        sum(leaf.shape) if leaf.kind == "onehot" else math.prod(leaf.shape)
        for leaf in leaves_in(spec)
        if leaf.kind != "image" or not convolve
    )


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
