"""Stacks that turn up while a policy is evaluated, numbered as they appear.

A policy reads stacks, not hidden states: a maze of a million cells needs no more entries here than
a short one. The compiled walk stops at a push it does not know, the table grows, the walk goes on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.memory import Rule
from adastack.process.events import Flags
from adastack.process.policy import StackPolicy
from adastack.process.tables import evicted_slots, regret_flags
from adastack.tasks.finite import FiniteTask, Ints

UNKNOWN = -1


class StackArrays(NamedTuple):
    """What the compiled walk reads, by agent state."""

    stacks: Ints
    """(agent states, slots): what each stack holds."""
    evicted: Ints
    """(agent states, memory actions): the slot that is evicted."""
    push: Ints
    """(agent states, memory actions, observations): the next one; -1 if it is not known yet."""
    regrets: Flags
    """(agent states, memory actions, cue classes): the regrets of a step."""
    cdf: NDArray[np.float64]
    """(agent states, joint actions): the policy, cumulated."""
    seen: NDArray[np.bool_]
    """(agent states,): whether it has been held."""


class StackIndex:
    """The stacks met so far under one policy."""

    def __init__(
        self, task: FiniteTask, cues: Ints, rule: Rule, stack_size: int, policy: StackPolicy
    ) -> None:
        self.task, self.cues, self.stack_size, self.policy = task, cues, stack_size, policy
        self.evict = rule.table(stack_size, hiding=True)
        self.stacks: list[tuple[int, ...]] = []
        self._ids: dict[tuple[int, ...], int] = {}
        self.arrays = self._allocated(16, None)

    def first(self, symbol: int, memory: tuple[int, ...] | None = None) -> int:
        """The agent state at a start: with an empty memory, or with a given one."""
        if memory is None:
            memory = (self.task.empty,) * (self.stack_size - 1)
        return self._number((*memory, symbol))

    def push(self, agent: int, memory_action: int, symbol: int) -> int:
        """The agent state after a push, noted from now on."""
        known = int(self.arrays.push[agent, memory_action, symbol])
        if known == UNKNOWN:
            stack, slot = self.stacks[agent], int(self.arrays.evicted[agent, memory_action])
            held = (*stack, symbol)
            known = self._number((*held[:slot], *held[slot + 1 :]))
            self.arrays.push[agent, memory_action, symbol] = known
        return known

    def _number(self, stack: tuple[int, ...]) -> int:
        if stack in self._ids:
            return self._ids[stack]
        agent = self._ids[stack] = len(self.stacks)
        self.stacks.append(stack)
        if agent == len(self.arrays.seen):
            self.arrays = self._allocated(2 * agent, self.arrays)
        slots = np.array([stack], np.int32)
        evicted = evicted_slots(slots, self.evict, self.task.empty)
        self.arrays.stacks[agent], self.arrays.evicted[agent] = slots[0], evicted[0]
        self.arrays.regrets[agent] = regret_flags(slots, evicted, self.cues)[0]
        cdf = np.cumsum(self.policy(stack))
        # Rounding must not leave a gap at the end, nor open one behind the last possible action.
        self.arrays.cdf[agent] = np.where(cdf > 1 - 1e-9, 1.0, cdf)
        return agent

    def _allocated(self, size: int, old: StackArrays | None) -> StackArrays:
        n_memory, width = len(self.evict), len(self.policy((self.task.empty,) * self.stack_size))
        arrays = StackArrays(
            np.zeros((size, self.stack_size), np.int32),
            np.zeros((size, n_memory), np.int32),
            np.full((size, n_memory, self.task.n_observations), UNKNOWN, np.int32),
            np.zeros((size, n_memory, len(self.cues)), np.uint8),
            np.ones((size, width)),
            np.zeros(size, np.bool_),
        )
        if old is not None:
            for name in StackArrays._fields:
                previous = getattr(old, name)
                getattr(arrays, name)[: len(previous)] = previous
        return arrays
