"""Stacks that turn up while a policy is evaluated, numbered as they appear.

A policy reads stacks, not hidden states: a maze of a million cells needs no more entries here than
a short one. The compiled walk stops at a push it does not know, the table grows, the walk goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.memory import Rule
from adastack.process.tables import evicted_slots, regret_words
from adastack.tasks.finite import FiniteTask, Ints

Decide = Callable[[tuple[int, ...]], NDArray[np.float64]]
"""stack -> chances of the joint actions."""

UNKNOWN = -1


class StackArrays(NamedTuple):
    """What the compiled walk reads, by agent state."""

    stacks: Ints
    """(agent states, slots): what each stack holds."""
    evicted: Ints
    """(agent states, memory actions): the slot that is given up."""
    push: Ints
    """(agent states, memory actions, observations): the next one; -1 if it is not known yet."""
    regrets: NDArray[np.int64]
    """(agent states, memory actions, cue classes): packed regrets."""
    cdf: NDArray[np.float64]
    """(agent states, joint actions): the policy, cumulated."""
    seen: NDArray[np.bool_]
    """(agent states,): whether it has been held."""


class StackIndex:
    """The stacks met so far under one policy."""

    def __init__(
        self, task: FiniteTask, cues: Ints, rule: Rule, stack_size: int, decide: Decide
    ) -> None:
        self.task, self.cues, self.stack_size, self.decide = task, cues, stack_size, decide
        self.evict = rule.table(stack_size)
        self.stacks: list[tuple[int, ...]] = []
        self._ids: dict[tuple[int, ...], int] = {}
        self.pages = self._room(16, None)

    def first(self, symbol: int, memory: tuple[int, ...] | None = None) -> int:
        """The agent state at a start: with an empty memory, or with a given one."""
        if memory is None:
            memory = (self.task.empty,) * (self.stack_size - 1)
        return self._number((*memory, symbol))

    def push(self, agent: int, memory_action: int, symbol: int) -> int:
        """The agent state after a push, noted from now on."""
        known = int(self.pages.push[agent, memory_action, symbol])
        if known == UNKNOWN:
            stack, slot = self.stacks[agent], int(self.pages.evicted[agent, memory_action])
            known = self._number((*stack[:slot], *stack[slot + 1 :], symbol))
            self.pages.push[agent, memory_action, symbol] = known
        return known

    def _number(self, stack: tuple[int, ...]) -> int:
        if stack in self._ids:
            return self._ids[stack]
        agent = self._ids[stack] = len(self.stacks)
        self.stacks.append(stack)
        if agent == len(self.pages.seen):
            self.pages = self._room(2 * agent, self.pages)
        slots = np.array([stack], np.int32)
        evicted = evicted_slots(slots, self.evict, self.task.empty)
        self.pages.stacks[agent], self.pages.evicted[agent] = slots[0], evicted[0]
        self.pages.regrets[agent] = regret_words(slots, evicted, self.cues)[0]
        cdf = np.cumsum(self.decide(stack))
        # Rounding must not leave a gap at the end, nor open one behind the last possible action.
        self.pages.cdf[agent] = np.where(cdf > 1 - 1e-9, 1.0, cdf)
        return agent

    def _room(self, size: int, old: StackArrays | None) -> StackArrays:
        n_memory, width = len(self.evict), len(self.decide((self.task.empty,) * self.stack_size))
        pages = StackArrays(
            np.zeros((size, self.stack_size), np.int32),
            np.zeros((size, n_memory), np.int32),
            np.full((size, n_memory, self.task.n_observations), UNKNOWN, np.int32),
            np.zeros((size, n_memory, len(self.cues)), np.int64),
            np.ones((size, width)),
            np.zeros(size, np.bool_),
        )
        if old is not None:
            for name in StackArrays._fields:
                previous = getattr(old, name)
                getattr(pages, name)[: len(previous)] = previous
        return pages
