"""kappa: how many observations an agent must be able to keep in order to act optimally.

It is about the histories that the policy itself reaches: elsewhere a stack may stand for anything.
For which policies a size is refuted depends on the criterion. With a discount, for all of them: one
that draws is optimal only if each of its actions is. Without (gamma = 1), for all of them, too, but
one that draws may be the only optimal one (see `adastack.theory.randomised`). For the average
reward, for policies that always do the same with a stack: one that draws may be enough earlier.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from adastack.memory import Rule, get_rule
from adastack.process.evaluated import Optimum
from adastack.process.induced import TooLargeError
from adastack.tasks.finite import FiniteTask
from adastack.theory.belief import MAX_BELIEFS, beliefs
from adastack.theory.bound import Best, best_policy
from adastack.theory.feasible import find_optimal
from adastack.theory.no_stack_suffices import beyond_stacks
from adastack.theory.optimal import Criterion, Optimal, default_gamma, optimal_values
from adastack.theory.randomised import RandomPolicy, find_randomised
from adastack.theory.stacks import StackPolicy, Stacks

MAX_K = 16
MAX_CHOICES = 150_000
MAX_DRAWN = 20_000
"""How many choices to try for policies that draw."""
QUICK_STATES, QUICK_CHOICES = 2000, 20_000
"""`quick_optimum` leaves larger tasks and longer searches alone."""


@dataclass(frozen=True)
class KappaResult:
    """What is known about kappa. See `kappa`."""

    task: str
    rule: str
    gamma: float
    """The discount; it plays no role for the average reward."""
    criterion: Criterion
    optimum: float | None = None
    """The value of perfect memory, averaged over starts; None if it could not be computed."""
    kappa: int | None = None
    """The smallest sufficient stack size; None if the search stopped before it was found."""
    at_least: int = 1
    """Every smaller stack size is proved to be too small."""
    policy: StackPolicy | None = None
    """An optimal stack policy of size kappa: the proof that it is enough."""
    draws: RandomPolicy | None = None
    """The same, where only a policy that draws its actions is optimal: what it draws from."""
    smaller: dict[int, Best] = field(default_factory=dict)
    """For each smaller stack size, the best that a deterministic stack policy can do."""
    no_stack: bool = False
    """Whether it is known that no stack of any size is enough."""
    stopped: str | None = None
    """Why the search stopped, if it did before kappa was found."""


def kappa(
    task: FiniteTask,
    rule: str | Rule = "adaptive",
    max_k: int = MAX_K,
    gamma: float | None = None,
    criterion: Criterion = "discounted",
    *,
    max_choices: int = MAX_CHOICES,
    max_beliefs: int = MAX_BELIEFS,
) -> KappaResult:
    """Finds the smallest stack size with a policy that is optimal from every start.

    The search is exhaustive: the answer comes with an optimal policy, and every smaller size has
    been refuted, under the average criterion for policies that do not draw. A search that grows
    too long reports where it stopped instead.

    Args:
        task: The task; its time limit is ignored.
        rule: The memory rule or its name.
        max_k: The largest stack size to try.
        gamma: The discount; by default the task's own, or 0.99.
        criterion: ``"discounted"``, or ``"average"`` for the average reward of a continual task.
        max_choices: How many choices to try, for each stack size, before stopping.
        max_beliefs: How many beliefs to enumerate before stopping.

    Example:
        >>> from adastack.tasks import passive_tmaze
        >>> kappa(passive_tmaze(length=5)).kappa
        2
        >>> kappa(passive_tmaze(length=5), "frame").kappa
        5
    """
    if max_k < 1:
        raise ValueError(f"max_k must be at least 1, actual: {max_k}")
    rule, gamma = get_rule(rule), default_gamma(task) if gamma is None else gamma
    known: dict[str, Any] = {"task": task.name, "rule": rule.name}
    known.update(gamma=gamma, criterion=criterion)
    try:
        optimal = optimal_values(beliefs(task, max_beliefs=max_beliefs), gamma, criterion)
    except TooLargeError as error:
        return KappaResult(**known, stopped=str(error))
    known.update(optimum=optimal.start_value, smaller={})
    impossible = _why_impossible(optimal)
    known.update(no_stack=impossible is not None)
    for k in range(1, max_k + 1):
        try:
            stacks, before = Stacks(task, rule, k), known["smaller"].get(k - 1)
            policy, best, decided = _examine(optimal, stacks, max_choices, before)
        except ValueError as error:
            return KappaResult(**known, at_least=k, stopped=impossible or f"k={k}: {error}")
        if policy is not None:
            return KappaResult(**known, kappa=k, at_least=k, policy=policy)
        if gamma == 1 and criterion == "discounted":
            drawn = find_randomised(optimal, stacks, max_choices=min(max_choices, MAX_DRAWN))
            if drawn.policy is not None:
                return KappaResult(**known, kappa=k, at_least=k, draws=drawn.policy)
            if not drawn.complete:
                known["smaller"][k] = best
                why = (
                    f"k={k}: without discount a policy that draws its actions may be enough, which "
                    f"was undecided after {MAX_DRAWN:,} choices: use gamma < 1"
                )
                return KappaResult(**known, at_least=k, stopped=why)
        known["smaller"][k] = best
        if impossible and not (decided and best and best.proved):
            return KappaResult(**known, at_least=max_k + 1, stopped=impossible)
        if not decided:
            why = f"k={k}: undecided after {max_choices:,} choices"
            return KappaResult(**known, at_least=k, stopped=why)
    why = impossible or f"no k up to max_k={max_k} is enough"
    return KappaResult(**known, at_least=max_k + 1, stopped=why)


def quick_optimum(task: FiniteTask, gamma: float) -> Optimum | None:
    """The optimal value, and the stacks of an optimal policy of size kappa, if found soon."""
    if task.n_states > QUICK_STATES:
        return None
    criterion: Criterion = "average" if task.continual else "discounted"
    try:
        found = kappa(task, gamma=gamma, criterion=criterion, max_choices=QUICK_CHOICES)
    except ValueError:
        return None
    if found.optimum is None:
        return None
    return Optimum(found.optimum, None if found.policy is None else len(found.policy))


def _why_impossible(optimal: Optimal) -> str | None:
    """Why no stack size is enough, if it is known."""
    seen = beyond_stacks(optimal) if optimal.gamma < 1 else None
    if seen is None:
        return None
    name = optimal.beliefs.task.observation_names[seen]
    return (
        f"no stack size is enough: while {name!r} repeats, what is optimal keeps changing, "
        "and a stack does not"
    )


def _examine(
    optimal: Optimal, stacks: Stacks, max_choices: int, before: Best | None
) -> tuple[StackPolicy | None, Best | None, bool]:
    """An optimal policy of this size, else the best there is and whether none can be optimal."""
    found = find_optimal(optimal, stacks, max_choices=max_choices)
    if found.policy is not None:
        return found.policy, None, True
    best = best_policy(
        optimal, stacks, max_choices=max_choices, smaller=before.policy if before else None
    )
    # No start is worth more than the optimum, so a policy that earns it on average earns it from
    # each. Under the average reward it may err, as long as it never comes back to where it erred.
    if best.value >= optimal.start_value - optimal.tolerance:
        return best.policy, None, True
    return None, best, best.proved if optimal.criterion == "average" else found.complete
