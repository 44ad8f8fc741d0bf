"""Where the k slots of one environment live: an array, or a list for spaces without one shape.

One environment steps far too often for the machinery of a batch, so this is the memory of
`adastack.memory.Stack` once more, for a single stack, at a tenth of the cost.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Protocol

import numpy as np
from gymnasium import Space

from adastack.wrappers.observations import from_leaves, is_array, leaf_spaces, to_leaves


class Slots(Protocol):
    """k slots; what they return are copies in the form of the batched space."""

    def reset(self, padding: Any, observation: Any) -> Any:
        """Shows ``padding`` in every slot but the last."""

    def push(self, slot: int, observation: Any) -> Any:
        """Takes one slot out and appends the observation."""

    def read(self) -> Any:
        """A copy of the slots."""


class ArraySlots:
    """Slots in one array of shape (k, ...)."""

    def __init__(self, space: Space[Any], stack_size: int) -> None:
        self.array = np.zeros((stack_size, *(space.shape or ())), space.dtype)
        # What stays when each slot goes; the last row is overwritten. One `take` is faster than
        # moving overlapping slices.
        order = np.arange(stack_size)
        self._kept = [np.append(np.delete(order, slot), 0) for slot in range(stack_size)]

    def reset(self, padding: Any, observation: Any) -> Any:
        """Shows ``padding`` in every slot but the last."""
        self.array[:] = padding
        self.array[-1] = observation
        return self.array.copy()

    def push(self, slot: int, observation: Any) -> Any:
        """Takes one slot out and appends the observation."""
        array = self.array.take(self._kept[slot], 0)
        array[-1] = observation
        self.array = array
        return array.copy()

    def read(self) -> Any:
        """A copy of the array."""
        return self.array.copy()


class ObjectSlots:
    """Slots in a list, for observations that are not arrays of one shape."""

    def __init__(self, stack_size: int) -> None:
        self.stack_size = stack_size
        self.objects: list[Any] = []

    def reset(self, padding: Any, observation: Any) -> Any:
        """Shows ``padding`` in every slot but the last."""
        self.objects = [deepcopy(held) for held in [padding] * (self.stack_size - 1)]
        self.objects.append(deepcopy(observation))
        return self.read()

    def push(self, slot: int, observation: Any) -> Any:
        """Takes one slot out and appends the observation."""
        self.objects.pop(slot)
        self.objects.append(deepcopy(observation))
        return self.read()

    def read(self) -> Any:
        """A tuple of copies."""
        return tuple(deepcopy(held) for held in self.objects)


class TreeSlots:
    """Slots of a Dict or Tuple space: one set for each leaf."""

    def __init__(self, space: Space[Any], stack_size: int) -> None:
        self.space = space
        self.leaves = [make_slots(leaf, stack_size) for leaf in leaf_spaces(space)]

    def reset(self, padding: Any, observation: Any) -> Any:
        """Shows ``padding`` in every slot but the last."""
        pads, values = to_leaves(self.space, padding), to_leaves(self.space, observation)
        for slots, pad, value in zip(self.leaves, pads, values, strict=True):
            slots.reset(pad, value)
        return self.read()

    def push(self, slot: int, observation: Any) -> Any:
        """Takes one slot out and appends the observation."""
        values = to_leaves(self.space, observation)
        stacks = [s.push(slot, value) for s, value in zip(self.leaves, values, strict=True)]
        return from_leaves(self.space, stacks)

    def read(self) -> Any:
        """The leaves' copies in the shape of the space."""
        return from_leaves(self.space, [slots.read() for slots in self.leaves])


def make_slots(space: Space[Any], stack_size: int) -> Slots:
    """The slots that fit a space."""
    if is_array(space):
        return ArraySlots(space, stack_size)
    if leaf_spaces(space) == [space]:
        return ObjectSlots(stack_size)
    return TreeSlots(space, stack_size)
