"""Which library's algorithms learn what to remember, on which actions and observations.

The table in ``docs/integrations.md`` is written from this one, and a test trains every cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OBSERVATIONS = ("vector", "symbol", "image", "Dict")
"""Kinds of observations: a Box of one axis, a Discrete, a Box that is an image, a Dict of these."""


@dataclass(frozen=True)
class Support:
    """A row of the table: an algorithm and what it takes."""

    library: str
    algorithm: str
    forms: Mapping[str, str]
    """For each action space of the environment, the form of the joint action."""
    observations: tuple[str, ...] = OBSERVATIONS


_CHOICES = {"Discrete": "factored", "MultiDiscrete": "factored", "MultiBinary": "factored"}

SUPPORT = (
    Support("Stable-Baselines3", "PPO", {**_CHOICES, "Box": "hybrid"}),
    Support("Stable-Baselines3", "A2C", {**_CHOICES, "Box": "hybrid"}),
    Support("Stable-Baselines3", "DQN", {"Discrete": "flat"}),
    Support("Stable-Baselines3", "SAC", {"Box": "scores"}),
    Support("Stable-Baselines3", "TD3", {"Box": "scores"}),
    Support("sb3-contrib", "RecurrentPPO", {**_CHOICES, "Box": "scores"}),
    Support("sb3-contrib", "TRPO", {**_CHOICES, "Box": "scores"}),
    Support("sb3-contrib", "MaskablePPO", _CHOICES),
    Support("sb3-contrib", "QRDQN", {"Discrete": "flat"}),
    Support(
        "RLlib", "PPO", {"Discrete": "factored", "MultiDiscrete": "factored", "Box": "factored"}
    ),
)


def table() -> str:
    """The table in Markdown."""
    lines = ["| library | algorithm | actions (form) | observations |", "| --- | --- | --- | --- |"]
    for row in SUPPORT:
        actions = ", ".join(f"{space} ({form})" for space, form in row.forms.items())
        cells = (row.library, row.algorithm, actions, ", ".join(row.observations))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
