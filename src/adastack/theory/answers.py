"""Exact answers as JSON: what `adastack theory` prints and the lab's exact jobs store."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from adastack.memory import get_rule
from adastack.tasks import FiniteTask, make_task, resolve
from adastack.theory.consistency import optimal_consistency
from adastack.theory.gap import Gap, largest_gap, value_gaps
from adastack.theory.kappa import MAX_CHOICES, MAX_K, KappaResult, kappa
from adastack.theory.optimal import Criterion
from adastack.theory.stacks import StackPolicy
from adastack.theory.states import count_states
from adastack.theory.table import consistency_table

Answer = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """A task and a memory, and how far to search."""

    task: str
    """The task's name, with its options."""
    memory: str = "adaptive"
    k: int | None = None
    """The stack size; kappa if not given."""
    max_k: int = MAX_K
    """The largest stack size to try."""
    gamma: float | None = None
    """The discount; by default the task's own, or 0.99."""
    criterion: Criterion = "discounted"
    max_choices: int = MAX_CHOICES
    """How many choices to try, for each stack size, before stopping."""

    def __post_init__(self) -> None:
        get_rule(self.memory)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """The question in some settings; others are ignored."""
        names = {field.name for field in fields(cls)}
        return cls(**{n: v for n, v in settings.items() if n in names and v is not None})

    def kappa(self, task: FiniteTask, memory: str | None = None) -> KappaResult:
        """The search for the smallest sufficient stack, of this memory or another."""
        return kappa(
            task,
            memory or self.memory,
            self.max_k,
            self.gamma,
            self.criterion,
            max_choices=self.max_choices,
        )

    def about_optimal(self, task: FiniteTask) -> dict[str, Any]:
        """The arguments of functions about optimal policies of one stack size."""
        return {
            "task": task,
            "stack_size": self._stack_size(task),
            "rule": self.memory,
            "gamma": self.gamma,
            "criterion": self.criterion,
            "max_choices": self.max_choices,
        }

    def _stack_size(self, task: FiniteTask) -> int:
        if self.k is not None:
            return self.k
        found = self.kappa(task)
        if found.kappa is None:
            raise ValueError(
                f"{task.name} has no known kappa ({found.stopped}): give the stack size, k"
            )
        return found.kappa


def kappa_answer(question: Question) -> Answer:
    """The smallest sufficient stack.

    Gives kappa (or None, and why the search ``stopped``) with a policy as proof, ``at_least``, the
    value of perfect memory as ``optimum``, and for each smaller k the best value.
    """
    task = make_task(question.task)
    found = question.kappa(task)
    names = ("task", "gamma", "criterion", "kappa", "at_least", "optimum", "stopped")
    return {
        **{name: getattr(found, name) for name in names},
        "memory": found.rule,
        "best_below": {
            str(k): {"value": _finite(best.value), "upper": best.upper, "proved": best.proved}
            for k, best in found.smaller.items()
        },
        "policy": found.policy and _spelled(task, found.rule, found.policy),
    }


def gap_answers(question: Question) -> list[Answer]:
    """The value gap at every stack that an optimal policy meets."""
    gaps = value_gaps(**question.about_optimal(make_task(question.task)))
    return [_gap_answer(gap) for gap in gaps]


def largest_gaps(question: Question, lengths: Iterable[int | None]) -> Iterator[Answer]:
    """The largest value gap when a stack is first met, for each length of the task.

    None stands for the task as it is.
    """
    found = resolve(question.task)
    for length in lengths:
        task = (found if length is None else found.with_options(length=length)).finite()
        gap = largest_gap(value_gaps(**question.about_optimal(task)))
        yield {"length": length, **_gap_answer(gap)}


def _gap_answer(gap: Gap) -> Answer:
    return {**asdict(gap), "gap": gap.gap}


def consistency_answer(question: Question) -> Answer:
    """Whether an optimal policy is value-consistent, the spread of values, and a witness."""
    task = make_task(question.task)
    found = optimal_consistency(**question.about_optimal(task))
    policy = found.policy and _spelled(task, found.rule, found.policy)
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


def states_answers(task: str, memories: Iterable[str], sizes: Sequence[int]) -> list[Answer]:
    """How many agent states each memory has at each stack size."""
    known = make_task(task)
    return [asdict(count_states(known, memory, k)) for memory in memories for k in sizes]


def sufficient_states(question: Question, memories: Iterable[str]) -> dict[str, Answer | None]:
    """The agent states of the smallest stack of each memory that is enough, where it is known."""
    task = make_task(question.task)
    sizes = {memory: question.kappa(task, memory).kappa for memory in memories}
    return {
        memory: None if k is None else asdict(count_states(task, memory, k))
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


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
