"""M_k as far as the machine has room for it."""

from __future__ import annotations

import os

from adastack.memory import get_rule
from adastack.memory.rules import check_stack_size
from adastack.process.induced import MAX_PAIRS, Induced, TooLargeError, induce
from adastack.tasks.finite import FiniteTask

MAX_BYTES = 2 * 1024**3
BYTES_PER_ENTRY = 64
"""Of a rule's table, while it is made: one entry for every memory action and number of slots."""
PAIRS_PER_STATE = 16
"""Long tasks with few stacks are never too large."""
UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def induce_within(task: FiniteTask, rule: str, stack_size: int, bytes_per_agent: int) -> Induced:
    """M_k, unless its tables are larger than `MAX_BYTES` or half of the machine's memory.

    Args:
        task: The task.
        rule: The name of a memory rule.
        stack_size: The number of slots, k.
        bytes_per_agent: What a learner needs for every agent state.

    Raises:
        TooLargeError: If they are; nothing large has been allocated.
    """
    check_stack_size(stack_size)
    available = min(half_of_memory(), MAX_BYTES)
    limit = min(max(MAX_PAIRS, PAIRS_PER_STATE * task.n_states), available // bytes_per_agent)
    refused = TooLargeError(
        f"{task.name} with {rule} memory of {stack_size} slots has more pairs of state and stack "
        f"than there is room for, {limit:,}; "
        f"{_needs(task.n_observations, stack_size, bytes_per_agent)}: "
        f"use a smaller k, fewer seeds or a shorter task"
    )
    if rule_bytes(rule, stack_size) > available:
        raise refused
    try:
        return induce(task, rule, stack_size, max_pairs=limit)
    except TooLargeError:
        raise refused from None


def half_of_memory() -> int:
    """Half of the machine's memory, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def rule_bytes(rule: str, stack_size: int) -> int:
    """What the table of a rule takes while it is made."""
    return BYTES_PER_ENTRY * get_rule(rule).actions(stack_size) * stack_size


def _needs(n_observations: int, stack_size: int, bytes_per_agent: int) -> str:
    """What a table of all conceivable stacks takes."""
    if stack_size > 60:
        return f"there are {n_observations}^{stack_size} stacks and more"
    stacks = sum(n_observations**filled for filled in range(1, stack_size + 1))
    return f"a table for its {stacks:,} stacks takes {readable(stacks * bytes_per_agent)}"


def readable(count: int) -> str:
    """A number of bytes for people."""
    power = min(len(UNITS) - 1, (len(str(count)) - 1) // 3)
    return f"{count:,} bytes" if power == 0 else f"{count / 1000**power:.3g} {UNITS[power]}"
