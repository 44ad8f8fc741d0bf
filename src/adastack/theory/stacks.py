"""Stacks that are numbered as they appear, for searches that visit few of them."""

from __future__ import annotations

from functools import cache

from adastack.memory import Rule, get_rule
from adastack.tasks.finite import FiniteTask

StackPolicy = dict[tuple[int, ...], tuple[int, int]]
"""stack -> (action, memory action), for the stacks that the policy meets."""


def lifted(
    stack: tuple[int, ...], policy: StackPolicy, smaller: Stacks, larger: Stacks
) -> tuple[int, int] | None:
    """What a policy of one slot less would do, with the oldest slot ignored; None if it cannot."""
    if stack[1:] not in policy:
        return None
    action, memory_action = policy[stack[1:]]
    kept = smaller.kept(stack[1:], memory_action)
    for larger_action in range(larger.n_memory_actions):
        if larger.kept(stack, larger_action)[1:] == kept:
            return action, larger_action
    return None


class Stacks:
    """All stacks of one rule and size; a stack's number is its *agent state*."""

    def __init__(self, task: FiniteTask, rule: str | Rule, stack_size: int) -> None:
        self.task = task
        self.rule = get_rule(rule)
        self.stack_size = stack_size
        self.contents: list[tuple[int, ...]] = []
        self._slots = self.rule.table(stack_size).tolist()
        self._known: dict[tuple[int, ...], int] = {}
        # Bound methods under a cache of their own, so that it dies with the object.
        self.push = cache(self._push)
        self.memory_actions = cache(self._memory_actions)

    @property
    def n_memory_actions(self) -> int:
        """The number of memory actions of the rule at this size."""
        return len(self._slots)

    def first(self, symbol: int) -> int:
        """The agent state after a reset."""
        return self._number((self.task.empty,) * (self.stack_size - 1) + (symbol,))

    def _push(self, agent: int, memory_action: int, symbol: int) -> int:
        """The agent state after one slot has been evicted for an observation."""
        return self._number((*self.kept(self.contents[agent], memory_action), symbol))

    def _memory_actions(self, agent: int) -> list[int]:
        """One memory action for each different set of slots that can be kept."""
        stack = self.contents[agent]
        kept = {self.kept(stack, action): action for action in reversed(range(len(self._slots)))}
        return sorted(kept.values())

    def kept(self, stack: tuple[int, ...], memory_action: int) -> tuple[int, ...]:
        """What is left of a stack once the slot that a memory action names is evicted."""
        slot = self._slots[memory_action][self.stack_size - stack.count(self.task.empty)]
        return stack[:slot] + stack[slot + 1 :]

    def _number(self, stack: tuple[int, ...]) -> int:
        if stack not in self._known:
            self._known[stack] = len(self.contents)
            self.contents.append(stack)
        return self._known[stack]
