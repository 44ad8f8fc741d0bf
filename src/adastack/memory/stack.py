"""A batch of stacks in contiguous arrays: push, padding, ages; no loop over the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from adastack.memory.rules import Rule, get_rule

Array = NDArray[Any]


class Stack:
    """A batch of stacks over one or more columns of observations.

    A *column* is one array of shape (batch, stack_size, ...): an observation made of several arrays
    (a dictionary, say) has a column for each, and they all evict the same slot.

    Args:
        rule: The memory rule or its name.
        stack_size: The number of slots, k.
        batch: The number of stacks.
        columns: Shape and dtype of one observation in each column.

    Example:
        >>> stack = Stack("adaptive", stack_size=2, batch=1, columns=[((), int)])
        >>> stack.reset([np.array([7])], [np.array(0)])
        >>> stack.push(np.array([0]), [np.array([8])])  # evicts the empty slot
        array([0])
        >>> stack.push(np.array([1]), [np.array([9])])  # evicts the 8, keeps the 7
        array([1])
        >>> stack.columns[0], stack.ages
        (array([[7, 9]]), array([[2, 0]]))
    """

    def __init__(
        self,
        rule: str | Rule,
        stack_size: int,
        batch: int,
        columns: Sequence[tuple[tuple[int, ...], DTypeLike]],
    ) -> None:
        self.rule = get_rule(rule)
        self.stack_size = stack_size
        self.batch = batch
        self.table = self.rule.table(stack_size)
        self.columns: list[Array] = [
            np.zeros((batch, stack_size, *shape), dtype) for shape, dtype in columns
        ]
        self.ages = np.full((batch, stack_size), -1, np.int64)
        self._needs_filled = bool((self.table != self.table[:, :1]).any())
        self._any_fill = self.table[:, 1].copy()
        self._rows = np.arange(batch)[:, None] * stack_size
        # Where the slots come from when each one goes; the last is overwritten.
        order = np.arange(stack_size)
        self._kept = np.array([np.append(np.delete(order, slot), 0) for slot in order])

    def reset(
        self,
        observations: Sequence[Array],
        padding: Sequence[Any] | None = None,
        mask: NDArray[np.bool_] | None = None,
    ) -> None:
        """Forgets everything but the first observations of new episodes.

        Args:
            observations: One array of shape (batch, ...) for each column.
            padding: What an empty slot shows in each column; None repeats the observation.
            mask: The stacks to reset; None for all.
        """
        rows = slice(None) if mask is None else mask
        for index, (column, observation) in enumerate(zip(self.columns, observations, strict=True)):
            first = observation[rows]
            column[rows] = first[:, None] if padding is None else padding[index]
            column[rows, -1] = first
        self.ages[rows] = -1
        self.ages[rows, -1] = 0

    def slots(self, memory_actions: NDArray[np.integer]) -> NDArray[np.intp]:
        """The slot that each memory action evicts now, before any push.

        Raises:
            ValueError: If a memory action is out of range.
        """
        self.check(memory_actions)
        return self.slots_of(memory_actions)

    def slots_of(self, memory_actions: NDArray[np.integer]) -> NDArray[np.intp]:
        """`slots` of memory actions that have been checked."""
        if not self._needs_filled:
            return self._any_fill.take(memory_actions)
        slots: NDArray[np.intp] = self.table[memory_actions, (self.ages >= 0).sum(axis=1)]
        return slots

    def push(
        self, memory_actions: NDArray[np.integer], observations: Sequence[Array]
    ) -> NDArray[np.intp]:
        """Evicts one slot of every stack for its next observation; returns the slots.

        The arrays in `columns` are replaced, not written to: what was read before stays as it was.
        """
        slots = self.slots(memory_actions)
        self.give_up(slots, observations)
        return slots

    def give_up(self, slots: NDArray[np.intp], observations: Sequence[Array]) -> None:
        """Evicts these slots for the next observations: `push`, where the slots are known."""
        rows = self._kept.take(slots, axis=0)
        rows += self._rows
        for index, (column, observation) in enumerate(zip(self.columns, observations, strict=True)):
            flat = column.reshape(self.batch * self.stack_size, *column.shape[2:])
            after = flat.take(rows, axis=0)
            after[:, -1] = observation
            self.columns[index] = after
        ages = self.ages.take(rows)
        ages += ages >= 0
        ages[:, -1] = 0
        self.ages = ages

    def check(self, memory_actions: NDArray[np.integer]) -> None:
        """Raises unless there is one memory action in range for each stack."""
        n_actions = len(self.table)
        if memory_actions.shape != (self.batch,):
            raise ValueError(
                f"expected {self.batch} memory actions, actual shape: {memory_actions.shape}"
            )
        if memory_actions.dtype.kind not in "iu":
            raise TypeError(
                f"memory actions must be integers, actual dtype: {memory_actions.dtype}"
            )
        # Seen as unsigned, a negative number is a large one: one reduction checks both ends.
        unsigned = memory_actions.astype(np.intp, copy=False).view(np.uintp)
        if np.maximum.reduce(unsigned) >= n_actions:
            wrong = (memory_actions < 0) | (memory_actions >= n_actions)
            where = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"memory action must be in 0..{n_actions - 1}, "
                f"actual: {memory_actions[where]} (environment {where})"
            )
