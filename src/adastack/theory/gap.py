"""The value gap: how far the value of an agent state lies from the value of the history behind it.

An optimal stack policy earns V* on every history, yet the value that belongs to a stack is an
average over all histories behind it. The paper's figure shows the gap |V* - V_k| for the T-mazes at
the moment when the cue and then the corridor have been seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adastack.memory import Rule
from adastack.process.induced import induce
from adastack.tasks.finite import FiniteTask
from adastack.theory.feasible import optimal_policy
from adastack.theory.kappa import MAX_CHOICES
from adastack.theory.optimal import Criterion, default_gamma, optimal_values
from adastack.theory.partial_policy import follow
from adastack.theory.stacks import Stacks
from adastack.theory.values import policy_table, stack_values


@dataclass(frozen=True)
class Gap:
    """The value gap at one agent state under an optimal stack policy."""

    task: str
    stack_size: int
    gamma: float
    stack: str
    """The agent state, oldest slot first."""
    optimal: float
    """V* of the history with which the stack is first met."""
    agent: float
    """V_k of the stack."""
    largest: float
    """The largest gap at this stack over all histories behind it."""

    @property
    def gap(self) -> float:
        """|V* - V_k| when the stack is first met."""
        return abs(self.optimal - self.agent)


def value_gaps(
    task: FiniteTask,
    stack_size: int,
    rule: str | Rule = "adaptive",
    gamma: float | None = None,
    criterion: Criterion = "discounted",
    *,
    max_choices: int = MAX_CHOICES,
) -> list[Gap]:
    """The value gap at every stack that an optimal policy meets, in the order of first meeting.

    Args:
        task: The task.
        stack_size: The number of slots, k; there must be an optimal policy of this size.
        rule: The memory rule or its name.
        gamma: The discount; by default the task's own, or 0.99.
        criterion: ``"discounted"``, or ``"average"`` to compare differential values.
        max_choices: How many choices to try in the search for an optimal policy.

    Raises:
        ValueError: If no optimal policy of this size was found.

    Example:
        >>> from adastack.tasks import passive_tmaze
        >>> gap = largest_gap(value_gaps(passive_tmaze(length=5), 2, gamma=0.5))
        >>> gap.stack, round(gap.optimal, 6), round(gap.agent, 6)
        ('red | grey', 0.125, 0.291667)
    """
    gamma = default_gamma(task) if gamma is None else gamma
    optimal = optimal_values(task, gamma, criterion)
    stacks = Stacks(task, rule, stack_size)
    policy = optimal_policy(optimal, stacks, max_choices=max_choices)
    induced = induce(task, rule, stack_size)
    agents = stack_values(induced, policy_table(induced, policy), gamma, criterion).agent
    met = follow(optimal.beliefs, stacks, policy.get)
    gaps = []
    for agent, nodes in met.behind.items():
        histories = optimal.value[[met.nodes[node][0] for node in nodes]]
        number = induced.find(stacks.contents[agent])
        agent_value = float(agents[number])
        largest = float(np.abs(histories - agent_value).max())
        gaps.append(
            Gap(
                task.name,
                stack_size,
                gamma,
                induced.label(number),
                float(histories[0]),
                agent_value,
                largest,
            )
        )
    return gaps


def largest_gap(gaps: Sequence[Gap]) -> Gap:
    """The largest gap at a first meeting; for the T-mazes the one at (cue, corridor)."""
    return max(gaps, key=lambda gap: round(gap.gap, 12))


def plot_gaps(tables: dict[str, Sequence[tuple[int, float]]], path: str | Path) -> None:
    """Draws value gaps against lengths, as in the paper's figure.

    Args:
        tables: For each curve its name and its points (length, gap).
        path: The picture to write; the ending gives the format.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 3.2), layout="constrained")
    axes: Any = figure.add_subplot()
    for (name, points), style in zip(tables.items(), ("o-", "s--", "^:", "v-."), strict=False):
        lengths, gaps = zip(*points, strict=True)
        axes.plot(lengths, gaps, style, label=name, markersize=4)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("maze length")
    axes.set_ylabel("value gap |V* - V_k|")
    axes.legend(frameon=False)
    figure.savefig(path)
