"""Which library's algorithms learn what to remember, on which actions and observations.

The table in ``docs/integrations.md`` is written from this one, and a test trains every cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ACTIONS = ("Discrete", "MultiDiscrete", "MultiBinary", "Box")
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
    Support("Stable-Baselines3", "DDPG", {"Box": "scores"}),
    Support("sb3-contrib", "RecurrentPPO", {**_CHOICES, "Box": "scores"}),
    Support("sb3-contrib", "TRPO", {**_CHOICES, "Box": "scores"}),
    Support("sb3-contrib", "MaskablePPO", _CHOICES),
    Support("sb3-contrib", "QRDQN", {"Discrete": "flat"}),
    Support("sb3-contrib", "TQC", {"Box": "scores"}),
    Support("RLlib", "PPO", {**_CHOICES, "Box": "pair"}),
    Support("TorchRL", "any", dict.fromkeys(ACTIONS, "beside")),
    Support("single file", "PPO", {"Discrete": "factored"}, ("symbol",)),
)


def table() -> str:
    """The table in Markdown."""
    head = ["library", "algorithm", *ACTIONS, "observations"]
    rows = [
        [
            *(row.library, row.algorithm),
            *(row.forms.get(space, "-") for space in ACTIONS),
            ", ".join(row.observations),
        ]
        for row in SUPPORT
    ]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
