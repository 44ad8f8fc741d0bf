"""Exact answers as JSON: what `adastack theory` prints and the lab's exact jobs store."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from adastack.memory import get_rule
from adastack.tasks import FiniteTask, resolve
from adastack.theory.consistency import optimal_consistency
from adastack.theory.gap import Gap, largest_gap, value_gaps
from adastack.theory.question import Question
from adastack.theory.randomised import RandomPolicy
from adastack.theory.stacks import StackPolicy
from adastack.theory.states import count_states
from adastack.theory.table import consistency_table

Answer = dict[str, Any]


def kappa_answer(question: Question) -> Answer:
    """The smallest sufficient stack.

    Gives kappa (or None, and why the search ``stopped``) with a policy as proof, ``at_least``, the
    value of perfect memory as ``optimum``, and for each smaller k the best value.
    """
    found = question.kappa()
    names = ("task", "gamma", "criterion", "kappa", "at_least", "optimum", "stopped")
    return {
        **{name: getattr(found, name) for name in names},
        "memory": found.rule,
        "best_below": {
            str(k): {"value": _finite(best.value), "upper": best.upper, "proved": best.proved}
            for k, best in found.smaller.items()
        },
        "policy": found.policy and _spelled(question.task, found.rule, found.policy),
        "draws": found.draws and _drawn(question.task, found.draws),
    }


def gap_answers(question: Question) -> list[Answer]:
    """The value gap at every stack that an optimal policy meets."""
    return [_gap_answer(gap) for gap in value_gaps(question)]


def largest_gaps(settings: Mapping[str, Any], lengths: Iterable[int | None]) -> Iterator[Answer]:
    """The largest value gap when a stack is first met, for each length of the task.

    Args:
        settings: Those of a question.
        lengths: The lengths; None stands for the task as it is.
    """
    found = resolve(settings["task"])
    for length in lengths:
        task = (found if length is None else found.with_options(length=length)).finite()
        gap = largest_gap(value_gaps(Question.of({**settings, "task": task})))
        yield {"length": length, **_gap_answer(gap)}


def _gap_answer(gap: Gap) -> Answer:
    return {**asdict(gap), "gap": gap.gap}


def consistency_answer(question: Question) -> Answer:
    """Whether an optimal policy is value-consistent, the spread of values, and a witness."""
    found = optimal_consistency(question)
    policy = found.policy and _spelled(question.task, found.rule, found.policy)
    return {**asdict(found), "policy": policy}


def table_answer(spec: str) -> Answer:
    """The row of a task in the paper's table of value-consistency: kappa and three policies."""
    (row,) = consistency_table((spec,))
    columns = {name: getattr(row, name) for name in ("discounted", "undiscounted", "exploring")}
    return {
        "task": row.task,
        "kappa": row.kappa,
        "paper_kappa": row.paper_kappa,
        "paper_consistent": row.paper_consistent,
        **{name: found.consistent for name, found in columns.items()},
        "spread": {name: found.spread for name, found in columns.items()},
        "witness": row.discounted.witness and asdict(row.discounted.witness),
    }


def states_answers(task: FiniteTask, memories: Iterable[str], sizes: Sequence[int]) -> list[Answer]:
    """How many agent states each memory has at each stack size."""
    return [asdict(count_states(task, memory, k)) for memory in memories for k in sizes]


def sufficient_states(question: Question, memories: Iterable[str]) -> dict[str, Answer | None]:
    """The agent states of the smallest stack of each memory that is enough, where it is known."""
    sizes = {memory: replace(question, memory=memory).kappa().kappa for memory in memories}
    return {
        memory: None if k is None else asdict(count_states(question.task, memory, k))
        for memory, k in sizes.items()
    }


def _spelled(task: FiniteTask, rule: str, policy: StackPolicy) -> list[Answer]:
    """A policy by name: what is in the stack, the action, which slot is evicted."""
    names = (*task.observation_names, "-")
    size = len(next(iter(policy)))
    slots = get_rule(rule).table(size)
    return [
        {
            "stack": [names[symbol] for symbol in stack],
            "action": task.action_names[action],
            "memory_action": memory_action,
            "evicted_slot": int(slots[memory_action, size - stack.count(task.empty)]),
        }
        for stack, (action, memory_action) in policy.items()
    ]


def _drawn(task: FiniteTask, policy: RandomPolicy) -> list[Answer]:
    """A policy that draws, by name: what is in the stack, and what it draws from."""
    names = (*task.observation_names, "-")
    return [
        {
            "stack": [names[symbol] for symbol in stack],
            "draws": [{"action": task.action_names[a], "memory_action": m} for a, m in support],
        }
        for stack, support in policy.items()
    ]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
