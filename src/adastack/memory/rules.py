"""What a memory is: a rule that says which slot to evict.

A stack holds ``stack_size`` slots, slot 0 the oldest and slot ``stack_size - 1`` the current
observation. Slots that have not been filled yet are empty and stand at the old end. At every step
the agent names a memory action, the rule turns it into a slot, that slot is taken out, the younger
ones move down and the next observation enters at the young end. Every engine in this package reads
the rule from `Rule.table`, so a rule that is registered here is known everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

Evict = Callable[[int, int, int], int]

_RULES: dict[str, Rule] = {}
RULES: Mapping[str, Rule] = MappingProxyType(_RULES)
"""The registered rules by name, read-only; `register_rule` adds one."""


@dataclass(frozen=True)
class Rule:
    """A memory: how many memory actions there are and which slot each evicts."""

    name: str
    evict: Evict
    """(memory_action, filled, stack_size) -> slot, where ``filled`` counts non-empty slots."""
    actions: Callable[[int], int]
    """stack_size -> number of memory actions."""
    passive: bool = False
    """Whether there is nothing to choose, whatever the stack size."""
    hides: bool = False
    """Whether it may turn the next observation away: slot ``stack_size``, and nothing changes."""

    def table(self, stack_size: int, *, hiding: bool = False) -> NDArray[np.intp]:
        """Tabulates the rule: ``table[memory_action, filled]`` is the slot to evict.

        Column 0 is never used (a stack is never empty) and repeats column 1.

        Args:
            stack_size: The number of slots, k.
            hiding: Whether the caller knows what to do with rules that hide observations.

        Raises:
            ValueError: If the rule names a slot that a stack of this size does not have, or hides
                observations from a caller that cannot do so.
        """
        check_stack_size(stack_size)
        if not hiding:
            self.check_hides_nothing()
        n_actions = self.actions(stack_size)
        if n_actions < 1:
            raise ValueError(f"rule {self.name!r} must have an action, actual: {n_actions}")
        slots = [
            [self._slot(action, max(filled, 1), stack_size) for filled in range(stack_size + 1)]
            for action in range(n_actions)
        ]
        return np.array(slots, dtype=np.intp)

    def check_hides_nothing(self) -> None:
        """Raises if the rule may turn the next observation away."""
        if self.hides:
            raise ValueError(
                f"expected a rule that takes in every observation, actual: {self.name!r}; only "
                "tabular learners on finite tasks know it"
            )

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """A registered rule is pickled by its name: its functions need not be picklable."""
        if _RULES.get(self.name) is self:
            return get_rule, (self.name,)
        return super().__reduce_ex__(protocol)

    def _slot(self, action: int, filled: int, stack_size: int) -> int:
        slot = self.evict(action, filled, stack_size)
        if not isinstance(slot, int | np.integer):
            raise TypeError(f"rule {self.name!r} must return a slot number, actual: {slot!r}")
        if not 0 <= slot < stack_size + self.hides:
            raise ValueError(
                f"rule {self.name!r} must name a slot in 0..{stack_size - 1}, actual slot: {slot} "
                f"(memory action {action}, {filled} of {stack_size} slots filled)"
            )
        return slot


def register_rule(
    name: str, *, actions: int | Callable[[int], int], hides: bool = False
) -> Callable[[Evict], Evict]:
    """Registers a rule under a name; wrappers, learners and theory then know it.

    Args:
        name: The name, as in ``--memory NAME``; it must be new.
        actions: The number of memory actions, or a function of the stack size that gives it.
        hides: Whether it may name slot ``stack_size``: the next observation is not taken in, and
            the stack stays as it is. Only tabular learners on finite tasks know such rules.

    Returns:
        A decorator for the function ``(memory_action, filled, stack_size) -> slot``.

    Example:
        >>> from adastack.memory import RULES, register_rule
        >>> @register_rule("keep_first", actions=1)
        ... def keep_first(memory_action, filled, stack_size):
        ...     return 0 if filled < stack_size else min(1, stack_size - 1)
        >>> RULES["keep_first"].table(3)
        array([[0, 0, 0, 1]])
    """
    if name in _RULES:
        raise ValueError(f"rule {name!r} is already registered: choose another name")

    def decorate(evict: Evict) -> Evict:
        count = actions if callable(actions) else lambda stack_size: actions
        _RULES[name] = Rule(name, evict, count, passive=actions == 1, hides=hides)
        return evict

    return decorate


def get_rule(rule: str | Rule) -> Rule:
    """Looks a rule up by name; a `Rule` is returned as it is."""
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, str) or rule not in _RULES:
        raise ValueError(f"expected a memory rule of {sorted(_RULES)}, actual: {rule!r}")
    return _RULES[rule]


def check_stack_size(stack_size: int) -> None:
    """Raises unless ``stack_size`` is an integer of at least 1."""
    if isinstance(stack_size, bool) or not isinstance(stack_size, int | np.integer):
        raise TypeError(
            f"stack_size must be an integer, actual: {stack_size!r} ({type(stack_size).__name__})"
        )
    if stack_size < 1:
        raise ValueError(f"stack_size must be at least 1, actual: {stack_size}")


@register_rule("adaptive", actions=lambda stack_size: stack_size)
def adaptive(memory_action: int, filled: int, stack_size: int) -> int:
    """Evicts the slot that the agent names."""
    return memory_action


@register_rule("adaptive_full", actions=lambda stack_size: stack_size)
def adaptive_full(memory_action: int, filled: int, stack_size: int) -> int:
    """Evicts the slot that the agent names, but an empty one before the newest."""
    waits = memory_action == stack_size - 1 and filled < stack_size
    return 0 if waits else memory_action


@register_rule("frame", actions=1)
def frame(memory_action: int, filled: int, stack_size: int) -> int:
    """Always evicts the oldest slot: frame stacking."""
    return 0


@register_rule("push_skip", actions=2)
def push_skip(memory_action: int, filled: int, stack_size: int) -> int:
    """Evicts the oldest slot on push (0), the newest on skip (1) once the stack is full."""
    skip = memory_action == 1 and filled == stack_size
    return stack_size - 1 if skip else 0


@register_rule("push_skip_unseen", actions=2, hides=True)
def push_skip_unseen(memory_action: int, filled: int, stack_size: int) -> int:
    """Evicts the oldest slot on push (0); a skip (1) of a full stack turns the next away."""
    skip = memory_action == 1 and filled == stack_size
    return stack_size if skip else 0


@register_rule("none", actions=1)
def none(memory_action: int, filled: int, stack_size: int) -> int:
    """Keeps the current observation only: the memoryless control."""
    if stack_size != 1:
        raise ValueError(f"rule 'none' expects stack_size 1, actual: {stack_size}")
    return 0
