"""The slow, obvious memory: a list. Every other engine is tested against it."""

from __future__ import annotations

from typing import Any

from adastack.memory.rules import Rule, get_rule


class ReferenceStack:
    """One stack as two Python lists: the observations and the steps at which they came."""

    def __init__(self, rule: str | Rule, stack_size: int, padding: Any = None) -> None:
        self.rule = get_rule(rule)
        self.stack_size = stack_size
        self.padding = padding
        self.slots: list[Any] = []
        self.births: list[int | None] = []
        self.clock = 0

    def reset(self, observation: Any) -> None:
        """Forgets everything but the first observation of an episode."""
        empty = self.stack_size - 1
        self.slots = [self.padding] * empty + [observation]
        self.births = [None] * empty + [0]
        self.clock = 0

    def push(self, memory_action: int, observation: Any) -> int:
        """Evicts one slot for the next observation and returns which one it was.

        The slot after the last is that of the next observation, which is then not taken in.
        """
        filled = sum(birth is not None for birth in self.births)
        slot = self.rule.evict(memory_action, filled, self.stack_size)
        self.clock += 1
        self.slots.append(observation)
        self.births.append(self.clock)
        self.slots.pop(slot)
        self.births.pop(slot)
        return slot

    @property
    def ages(self) -> list[int]:
        """Steps since each slot's observation came; -1 while the slot is empty."""
        return [-1 if birth is None else self.clock - birth for birth in self.births]
