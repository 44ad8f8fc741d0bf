"""A rollout that stores each observation once.

A stack of k observations shares all but one of them with the stack before it. So the buffer holds
every observation in one row, and a step holds k row numbers; minibatches gather.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.memory import Rule, Stack

Array = NDArray[Any]
PADDING = 0
"""The row of the empty slot."""


class StoreOnce:
    """The observations of one rollout and the stacks that point to them.

    Rows: the empty slot, what the stacks held when the rollout began, then one row for each
    observation that came.

    Args:
        rule: The memory rule.
        stack_size: The number of slots, k.
        n_envs: The environments side by side.
        n_steps: The steps of each in a rollout.
        columns: Shape and dtype of each array of an observation.
        padding: What an empty slot shows in each array.
        repeat: Begin with the first observation in every slot instead of empty ones.
    """

    def __init__(
        self,
        rule: str | Rule,
        stack_size: int,
        n_envs: int,
        n_steps: int,
        columns: Sequence[tuple[tuple[int, ...], Any]],
        padding: Sequence[Any],
        repeat: bool = False,
    ) -> None:
        self.n_envs, self.n_steps = n_envs, n_steps
        self._first = None if repeat else [np.array(PADDING)]
        self.head = 1 + n_envs * stack_size
        rows = self.head + n_envs * n_steps
        self.columns: list[Array] = [np.zeros((rows, *shape), dtype) for shape, dtype in columns]
        for column, empty in zip(self.columns, padding, strict=True):
            column[PADDING] = empty
        self.slots = np.zeros((n_steps + 1, n_envs, stack_size), np.int32)
        self.stack = Stack(rule, stack_size, n_envs, [((), np.int32)])
        self.t = 0

    @property
    def nbytes(self) -> int:
        """Bytes of all observations and slots."""
        return self.slots.nbytes + sum(column.nbytes for column in self.columns)

    def reset(self, observation: Sequence[Array]) -> None:
        """Begins episodes everywhere, outside of any rollout."""
        rows = np.arange(1, self.head, len(self._held[0]), dtype=np.int32)
        for column, part in zip(self.columns, observation, strict=True):
            column[rows] = part
        self.stack.reset([rows], self._first)
        self.t = 0
        self.slots[0] = self._held

    @property
    def _held(self) -> Array:
        """(environments, k): the rows that the stacks point to now."""
        return self.stack.columns[0]

    def current(self) -> list[Array]:
        """The stacks as they are: one array of shape (environments, k, ...) for each column."""
        return [column[self._held] for column in self.columns]

    def filled(self) -> Array:
        """(environments,): how many slots of each stack show an observation."""
        held: Array = (self._held != PADDING).sum(axis=1, dtype=np.int32)
        return held

    def push(
        self, memory_action: Array, observation: Sequence[Array], over: Array
    ) -> NDArray[np.intp]:
        """Takes in what followed a step and returns the slots that were evicted.

        Where an episode is over, ``observation`` is the first of the next one.
        """
        begin = self.head + self.t * self.n_envs
        rows = np.arange(begin, begin + self.n_envs, dtype=np.int32)
        for column, part in zip(self.columns, observation, strict=True):
            column[begin : begin + self.n_envs] = part
        evicted = self.stack.push(memory_action, [rows])
        if over.any():
            self.stack.reset([rows], self._first, over)
        self.t += 1
        self.slots[self.t] = self._held
        return evicted

    def last_stack(
        self, memory_action: Array, env: int, observation: Sequence[Array]
    ) -> tuple[list[Array], Array]:
        """One environment's stack with the last observation of its episode on top, not stored.

        Also how many of its slots are filled, (1,).
        """
        slots = self.stack.slots(memory_action)
        kept = np.delete(self._held[env], slots[env])
        stack = [
            np.concatenate([column[kept], np.asarray(part)[None]])[None]
            for column, part in zip(self.columns, observation, strict=True)
        ]
        return stack, np.array([1 + (kept != PADDING).sum()], np.int32)

    def begin(self) -> None:
        """Begins the next rollout: what the stacks hold moves to the head."""
        held = self._held.copy()
        rows = np.arange(1, self.head, dtype=np.int32).reshape(held.shape)
        for column in self.columns:
            column[1 : self.head] = column[held.reshape(-1)]
        self._held[:] = np.where(held == PADDING, PADDING, rows)
        self.t = 0
        self.slots[0] = self._held
