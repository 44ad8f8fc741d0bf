"""How many agent states there are, and how much smaller the search for a policy becomes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from adastack.memory import Rule, get_rule
from adastack.process.induced import TooLargeError, induce
from adastack.tasks.finite import FiniteTask

MAX_PAIRS = 1_000_000


@dataclass(frozen=True)
class States:
    """The agent states of one memory on one task."""

    rule: str
    stack_size: int
    reachable: int | None
    """The stacks that some behaviour can produce; None if there are too many to enumerate."""
    pairs: int | None
    """The pairs of hidden state and stack that some behaviour can produce."""
    possible: int
    """All stacks of this size: every filled slot holds any observation."""
    log10_policies: float | None
    """The decimal logarithm of the number of deterministic stack policies."""


def count_states(
    task: FiniteTask, rule: str | Rule, stack_size: int, *, max_pairs: int = MAX_PAIRS
) -> States:
    """Counts the agent states of a memory.

    Example:
        >>> from adastack.tasks import passive_tmaze
        >>> count_states(passive_tmaze(length=16), "adaptive", 2).reachable
        10
        >>> count_states(passive_tmaze(length=16), "frame", 16).reachable
        32
    """
    rule = get_rule(rule)
    possible = sum(task.n_observations**filled for filled in range(1, stack_size + 1))
    try:
        induced = induce(task, rule, stack_size, max_pairs=max_pairs)
    except TooLargeError:
        return States(rule.name, stack_size, None, None, possible, None)
    choices = task.n_actions * induced.n_memory_actions
    return States(
        rule.name,
        stack_size,
        induced.n_agent_states,
        induced.n_pairs,
        possible,
        induced.n_agent_states * math.log10(choices),
    )
