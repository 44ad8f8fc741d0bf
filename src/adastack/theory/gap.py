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

from adastack.process.induced import induce
from adastack.theory.feasible import optimal_policy
from adastack.theory.partial_policy import follow
from adastack.theory.question import Question
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


def value_gaps(question: Question) -> list[Gap]:
    """The value gap at every stack that an optimal policy meets, in the order of first meeting.

    Raises:
        ValueError: If no optimal policy of this stack size was found.

    Example:
        >>> from adastack.tasks import passive_tmaze
        >>> gap = largest_gap(value_gaps(Question(passive_tmaze(length=5), 2, gamma=0.5)))
        >>> gap.stack, round(gap.optimal, 6), round(gap.agent, 6)
        ('red | grey', 0.125, 0.291667)
    """
    optimal, stacks = question.optimal(), question.stacks()
    policy = optimal_policy(optimal, stacks, max_choices=question.max_choices)
    induced = induce(question.task, stacks.rule, stacks.stack_size)
    table = policy_table(induced, policy)
    agents = stack_values(induced, table, question.discount, question.criterion).agent
    met = follow(optimal.beliefs, stacks, policy.get)
    gaps = []
    for agent, nodes in met.behind.items():
        histories = optimal.value[[met.nodes[node][0] for node in nodes]]
        number = induced.find(stacks.contents[agent])
        agent_value = float(agents[number])
        largest = float(np.abs(histories - agent_value).max())
        gaps.append(
            Gap(
                question.task.name,
                stacks.stack_size,
                question.discount,
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
