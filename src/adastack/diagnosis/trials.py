"""Training one memory, and what it came to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adastack.algorithms import algorithm
from adastack.diagnosis.memories import Memory
from adastack.diagnosis.verdict import Trial
from adastack.progress import Progress
from adastack.tasks.entry import Resolved
from adastack.training import train

GOOD = 0.99
"""The share of successes, or of the optimum, that is as good as can be."""
TABULAR = 10
"""Tables take so many times the steps of networks: each costs less than that fraction."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """Who learns, the same for every memory."""

    task: Resolved
    algo: str
    """Of stacks; cells are trained by PPO, for fewer steps where stacks learn tables."""
    preset: str
    seeds: Sequence[int]
    folder: Path
    """Where the runs are kept."""
    solved: float | None = None
    """A return that is as good as can be, if one is known."""
    imports: Sequence[str] = ()
    overrides: Mapping[str, Any] = field(default_factory=dict)
    episodes: int | None = None
    """Attempts behind a score; by default as many as the learner's."""

    @property
    def metric(self) -> str:
        """What is compared: the return, or the reward rate where attempts follow each other."""
        continual = self.task.kind == "finite" and self.task.finite().continual
        return "reward_rate" if continual else "return"

    def run_folder(self, memory: Memory, steps: int) -> Path:
        """The same for the same settings, so that what was stopped is resumed."""
        words = [memory.name, f"{steps}-steps", f"seeds-{self.seeds[0]}-{self.seeds[-1]}"]
        return self.folder / re.sub(r"[^\w.=-]+", "-", "_".join(words))

    def learn(self, memory: Memory, steps: int, progress: Progress) -> Trial:
        """Trains a memory, or goes on with it, or reads what it came to."""
        if memory.recurrent and algorithm(self.algo).tabular:
            learner = replace(self, algo="ppo")
            return learner.learn(memory, max(1, steps // TABULAR), progress)
        result = self.result(memory, steps, progress)
        return self.trial(memory, steps, result["seeds"], result["run"])

    def result(self, memory: Memory, steps: int, progress: Progress) -> dict[str, Any]:
        """The result of the run of a memory, which is trained, or gone on with, if need be."""
        path = self.run_folder(memory, steps)
        cell = {"cell": memory.cell} if memory.recurrent else {}
        return train(
            task=self.task, memory=memory.rule, stack_size=memory.k, algo=self.algo,
            preset=self.preset, steps=steps, seeds=list(self.seeds), path=path,
            overrides={**self.overrides, **cell}, imports=self.imports, resume=path.exists(),
            progress=progress, episodes=self.episodes,
        )  # fmt: skip

    def trial(
        self, memory: Memory, steps: int, seeds: Sequence[Mapping[str, Any]], run: str
    ) -> Trial:
        """What the seeds of a run came to."""
        scores = tuple(float(seed[self.metric]) for seed in seeds)
        known = [goodness(seed, self.solved) for seed in seeds]
        good = () if None in known else tuple(bool(each) for each in known)
        return Trial(memory, steps, scores, good, run)


def goodness(seed: Mapping[str, Any], solved: float | None) -> bool | None:
    """Whether a policy is as good as can be; None if nothing says so."""
    if solved is not None:
        return float(seed["return"]) >= solved
    said = [seed[name] for name in ("success", "optimality") if seed.get(name) is not None]
    return max(said) >= GOOD if said else None
