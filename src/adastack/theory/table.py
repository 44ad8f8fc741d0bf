"""The paper's table of value-consistency, computed for the finite tasks."""

from __future__ import annotations

from dataclasses import dataclass

from adastack.process.induced import Induced, induce
from adastack.tasks import resolve
from adastack.tasks.finite import Floats
from adastack.theory.consistency import Consistency, optimal_consistency, policy_consistency
from adastack.theory.kappa import kappa
from adastack.theory.optimal import Criterion
from adastack.theory.question import Question
from adastack.theory.stacks import StackPolicy
from adastack.theory.values import policy_matrix, policy_table, uniform_policy

SPECS = (
    "passive-tmaze",
    "passive-tmaze:continual=true",
    "active-tmaze",
    "active-tmaze:continual=true",
    "xormaze",
    "heaven-hell",
    "repeat-first",
    "memory-length",
    "office",
    "key-order",
)
EXPLORATION = 0.1
"""How often the exploring policy acts at random."""


@dataclass(frozen=True)
class Row:
    """One task of the table."""

    task: str
    paper_kappa: str
    paper_consistent: bool
    """The paper's tick."""
    kappa: int
    discounted: Consistency
    """Optimal stack policies of size kappa, at discount 0.99."""
    undiscounted: Consistency
    """The same for the total reward, or the differential value if the task is continual."""
    exploring: Consistency
    """The optimal policy with some exploration, at discount 0.99."""


def consistency_table(specs: tuple[str, ...] = SPECS) -> list[Row]:
    """Computes the table; the tasks need an adaptive stack policy that is optimal."""
    return [_row(spec) for spec in specs]


def _row(spec: str) -> Row:
    resolved = resolve(spec)
    task, paper = resolved.finite(), resolved.entry.paper
    found = kappa(task)
    if paper is None or found.kappa is None or found.policy is None:
        raise ValueError(f"expected a task with a row in the paper and a kappa, actual: {spec}")
    discounted = Question(task, found.kappa)
    criterion: Criterion = "average" if task.continual else "discounted"
    undiscounted = Question(task, found.kappa, gamma=1.0, criterion=criterion)
    induced = induce(task, "adaptive", found.kappa)
    return Row(
        spec,
        paper.kappa,
        paper.value_consistent,
        found.kappa,
        optimal_consistency(discounted),
        optimal_consistency(undiscounted),
        policy_consistency(induced, exploring_policy(induced, found.policy)),
    )


def exploring_policy(induced: Induced, policy: StackPolicy) -> Floats:
    """A policy that acts at random now and then."""
    greedy = policy_matrix(induced, policy_table(induced, policy))
    return (1 - EXPLORATION) * greedy + EXPLORATION * uniform_policy(induced)
