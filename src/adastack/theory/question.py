"""What exact questions are about: a task, a memory, a criterion, and how far to search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from adastack.memory import Rule, get_rule
from adastack.tasks import FiniteTask, make_task
from adastack.theory.kappa import MAX_CHOICES, MAX_K, KappaResult, kappa
from adastack.theory.optimal import Criterion, Optimal, default_gamma, optimal_values
from adastack.theory.stacks import Stacks


@dataclass(frozen=True, eq=False)
class Question:
    """A memory on a task."""

    task: FiniteTask
    k: int | None = None
    """The stack size; kappa if not given."""
    memory: str | Rule = "adaptive"
    """The memory rule or its name."""
    gamma: float | None = None
    """The discount; by default the task's own, or 0.99. 1 for the total reward."""
    criterion: Criterion = "discounted"
    """``"discounted"``, or ``"average"`` for average rewards and differential values."""
    max_k: int = MAX_K
    """The largest stack size to try."""
    max_choices: int = MAX_CHOICES
    """How many choices to try, for each stack size, before stopping."""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """The question in some settings, with the task or its name; others are ignored."""
        names = {field.name for field in fields(cls)}
        given = {n: v for n, v in settings.items() if n in names and v is not None}
        task = given.pop("task")
        return cls(task if isinstance(task, FiniteTask) else make_task(task), **given)

    def __post_init__(self) -> None:
        get_rule(self.memory)

    @property
    def discount(self) -> float:
        """The discount that is used; it plays no role for the average reward."""
        return default_gamma(self.task) if self.gamma is None else self.gamma

    def kappa(self) -> KappaResult:
        """The smallest sufficient stack."""
        return kappa(
            self.task,
            self.memory,
            self.max_k,
            self.gamma,
            self.criterion,
            max_choices=self.max_choices,
        )

    def optimal(self) -> Optimal:
        """The optimal values of the task."""
        return optimal_values(self.task, self.discount, self.criterion)

    def stacks(self) -> Stacks:
        """The stacks of the size that is asked for, or of size kappa.

        Raises:
            ValueError: If no size is given, and kappa is not found.
        """
        found = None if self.k is not None else self.kappa()
        size = self.k if found is None else found.kappa
        if size is None:
            why = f"{self.task.name} has no known kappa ({found and found.stopped})"
            raise ValueError(f"{why}: give the stack size, k")
        return Stacks(self.task, self.memory, size)
