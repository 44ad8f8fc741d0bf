"""Observations of any space as a flat list of leaves, and back.

Dict and Tuple spaces are trees; their leaves are arrays (Box, Discrete, MultiDiscrete, MultiBinary)
or objects (Graph, Text and whatever else Gymnasium batches into a tuple).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from gymnasium import Space
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text, Tuple
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers.utils import create_zero_array


def leaf_spaces(space: Space[Any]) -> list[Space[Any]]:
    """The leaves of a space, in order."""
    if isinstance(space, Dict):
        return [leaf for part in space.spaces.values() for leaf in leaf_spaces(part)]
    if isinstance(space, Tuple):
        return [leaf for part in space.spaces for leaf in leaf_spaces(part)]
    return [space]


def is_array(space: Space[Any]) -> bool:
    """Whether observations of a leaf space are numbers or arrays of one shape."""
    return isinstance(space, Box | Discrete | MultiDiscrete | MultiBinary)


def to_leaves(space: Space[Any], observation: Any) -> list[Any]:
    """The leaves of an observation (or of a batch), in the order of `leaf_spaces`."""
    if isinstance(space, Dict):
        return [
            leaf for key, part in space.spaces.items() for leaf in to_leaves(part, observation[key])
        ]
    if isinstance(space, Tuple):
        parts = zip(space.spaces, observation, strict=True)
        return [leaf for part, value in parts for leaf in to_leaves(part, value)]
    return [observation]


def from_leaves(space: Space[Any], leaves: list[Any]) -> Any:
    """The observation (or batch, or stack) with these leaves."""
    return _build(space, iter(leaves))


def _build(space: Space[Any], leaves: Iterator[Any]) -> Any:
    if isinstance(space, Dict):
        return {key: _build(part, leaves) for key, part in space.spaces.items()}
    if isinstance(space, Tuple):
        return tuple(_build(part, leaves) for part in space.spaces)
    return next(leaves)


def with_empty(space: Space[Any]) -> Space[Any]:
    """The space with one more symbol, "nothing here", in each Discrete leaf."""
    if isinstance(space, Dict):
        return Dict({key: with_empty(part) for key, part in space.spaces.items()})
    if isinstance(space, Tuple):
        return Tuple(tuple(with_empty(part) for part in space.spaces))
    if isinstance(space, Discrete):
        return Discrete(int(space.n) + 1, start=int(space.start))
    return space


def repeats_first(padding_type: Any) -> bool:
    """Whether an empty slot shows the first observation, and so holds it."""
    return isinstance(padding_type, str) and padding_type == "reset"


def padding_for(space: Space[Any], padding_type: Any) -> Any:
    """What an empty slot shows, as an observation; None repeats the first observation.

    Args:
        space: The observation space.
        padding_type: ``"reset"``, ``"zero"``, ``"empty"`` or an element of the space.

    Raises:
        ValueError: If it is none of these.
    """
    if repeats_first(padding_type):
        return None
    if isinstance(padding_type, str):
        if padding_type == "zero":
            return create_zero_array(space)
        if padding_type == "empty":
            zeros = to_leaves(space, create_zero_array(space))
            symbols = [
                leaf.start + leaf.n if isinstance(leaf, Discrete) else zero
                for leaf, zero in zip(leaf_spaces(space), zeros, strict=True)
            ]
            return from_leaves(space, symbols)
    if (isinstance(space, Text) or not isinstance(padding_type, str)) and padding_type in space:
        return deepcopy(padding_type)
    raise ValueError(
        f"padding_type must be 'reset', 'zero', 'empty' or an element of {space}, "
        f"actual: {padding_type!r}"
    )


def stacked_space(space: Space[Any], stack_size: int, padding_type: Any) -> Space[Any]:
    """The space of a stack of observations."""
    empty = isinstance(padding_type, str) and padding_type == "empty"
    return batch_space(with_empty(space) if empty else space, n=stack_size)
