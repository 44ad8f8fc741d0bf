"""Gymnasium's spaces as the learner sees them: columns of observations, heads for actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from adastack.deep.heads import Bernoulli, Categorical, Gaussian, Head
from adastack.deep.networks.observations import Leaf, Spec

Array = NDArray[Any]
Spaces = tuple[spaces.Space[Any], spaces.Space[Any]]
"""Of observations and of actions."""
LETTERS = 80
"""A space that takes more to write down is told by its kind and shape."""


def check_spaces(ours: Spaces, theirs: Spaces, task: str = "") -> None:
    """Compares the spaces that an agent learned with and those of a task.

    Raises:
        ValueError: If they differ.
    """
    if ours == theirs:
        return
    shows, takes, shown, taken = map(_in_words, (*ours, *theirs))
    where = f" in {task}" if task else ""
    raise ValueError(
        f"expected a task that shows {shows} and takes {takes}, actual: {shown} and {taken}{where}"
    )


def _in_words(space: spaces.Space[Any]) -> str:
    text = " ".join(str(space).split())
    if len(text) <= LETTERS or space.shape is None:
        return text
    return f"{type(space).__name__} of shape {space.shape}"


def columns_of(spec: Spec, space: spaces.Space[Any]) -> list[tuple[tuple[int, ...], Any, Any]]:
    """Shape, dtype and the empty slot of each array of an observation, in the order of the spec."""
    if not isinstance(spec, Leaf):
        parts = zip(spec, _parts(space), strict=True)
        return [column for (_, leaf), part in parts for column in columns_of(leaf, part)]
    shape, dtype = tuple(space.shape or ()), space.dtype
    empty: Any = 0
    if spec.kind == "onehot" and isinstance(space, spaces.Box):
        empty = np.array(spec.shape, dtype).reshape(shape)  # One too many: a row of zeros.
    elif spec.kind == "onehot":
        dtype = np.dtype(np.int32)
        empty = np.array(spec.shape).reshape(shape) - 1
    return [(shape, dtype, empty)]


def offset_of(spec: Leaf, space: Any) -> Any:
    """What an encoded observation is counted from."""
    if spec.kind != "onehot":
        return 0
    return space.low if isinstance(space, spaces.Box) else space.start


def leaves_of(spec: Spec, space: spaces.Space[Any], observation: Any) -> list[Array]:
    """The arrays of an observation, in the order of the spec."""
    if not isinstance(spec, Leaf):
        values = observation.values() if isinstance(observation, dict) else observation
        if isinstance(observation, dict):
            values = [observation[name] for name, _ in spec]
        parts = zip(spec, _parts(space), values, strict=True)
        return [leaf for (_, sub), part, value in parts for leaf in leaves_of(sub, part, value)]
    if spec.kind != "onehot":
        return [np.asarray(observation)]
    return [np.asarray(observation) - offset_of(spec, space)]


def nested(spec: Spec, leaves: list[Any]) -> Any:
    """Arrays in the order of the spec, nested as the networks expect."""
    remaining = list(leaves)

    def build(part: Spec) -> Any:
        if isinstance(part, Leaf):
            return remaining.pop(0)
        return {name: build(sub) for name, sub in part}

    return build(spec)


def _parts(space: Any) -> list[spaces.Space[Any]]:
    return list(space.values()) if isinstance(space, spaces.Dict) else list(space)


def head_of(space: spaces.Space[Any]) -> Head:
    """The distribution over an action space.

    Raises:
        TypeError: If there is none.
    """
    if isinstance(space, spaces.Discrete):
        return Categorical((int(space.n),))
    if isinstance(space, spaces.MultiDiscrete):
        return Categorical(tuple(int(n) for n in space.nvec.ravel()))
    if isinstance(space, spaces.MultiBinary):
        return Bernoulli(int(np.prod(space.shape)))
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
        return Gaussian(int(np.prod(space.shape)))
    raise TypeError(
        f"expected a Discrete, MultiDiscrete, MultiBinary or real Box action space, actual: {space}"
    )


def env_action(space: spaces.Space[Any], action: Array) -> Array:
    """A batch of what a head gave, (batch, entries), as the environments expect it."""
    if isinstance(space, spaces.Discrete):
        chosen: Array = action[:, 0].astype(np.int64) + space.start
        return chosen
    if isinstance(space, spaces.Box):
        shaped = action.reshape(-1, *space.shape)
        clipped: Array = np.clip(shaped, space.low, space.high).astype(space.dtype)
        return clipped
    assert space.shape is not None
    shaped = action.reshape(-1, *space.shape).astype(space.dtype)
    return shaped + space.start if isinstance(space, spaces.MultiDiscrete) else shaped
