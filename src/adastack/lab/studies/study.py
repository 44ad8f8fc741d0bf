"""A study: memories side by side at some points, such as maze lengths. Most experiments are one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adastack.lab.claims import FEWEST, PAPER_STEPS, Arm
from adastack.lab.experiment import Scale
from adastack.lab.job import BATCH, Evaluation, Job, train_jobs
from adastack.lab.results import Results

SMOKE_SEEDS, SMOKE_STEPS = 2, 2000
Q_SEEDS, PPO_SEEDS, FETCH_SEEDS = 20, 10, 5
HELD_OUT = 10
"""The first of the seeds on which no setting was chosen."""
NETS = {"MLP": None, "LSTM": "lstm", "Transformer": "transformer"}
"""The paper's networks as figures name them, and as settings do; None is the preset's own."""


@dataclass(frozen=True)
class Memory:
    """A memory in a study; what it leaves open is set by the study."""

    label: str
    """As in legends: the same label, the same colour."""
    rule: str
    size: int
    overrides: Mapping[str, Any] = field(default_factory=dict, hash=False)
    algo: str | None = None
    preset: str | None = None
    seeds: int | None = None
    tests: tuple[Evaluation, ...] = ()
    """Tests of this memory alone, beside those of its point."""


@dataclass(frozen=True)
class Point:
    """Where memories are compared."""

    name: str
    """As on the axis, or as a panel's title."""
    task: str
    memories: tuple[Memory, ...]
    tests: tuple[str, ...] = ()
    """Other tasks that the trained policies are tested on."""


@dataclass(frozen=True)
class Study:
    """Memories at points, all trained alike."""

    axis: str
    """What the points differ by."""
    points: tuple[Point, ...]
    smoke: tuple[Point, ...]
    """The points at smoke scale: few and short."""
    algo: str = "ppo"
    preset: str = "paper"
    net: str | None = None
    seeds: int = PPO_SEEDS
    first_seed: int = 0
    """The first seed: later ones where settings were chosen on the first."""
    steps: int = PAPER_STEPS
    batch: int = BATCH
    continual: bool = False
    """Whether reward is counted by time rather than by episode."""
    smoke_steps: int = SMOKE_STEPS
    episodes: int = 100
    """How many attempts a test has, where they must be sampled."""
    metrics: Mapping[str, str] | None = field(default=None, hash=False)
    """What tables and bars show, each with its title; None for the paper's four."""
    greedy: bool = True
    """Whether tests take the likeliest action or draw as in training."""

    def jobs(self, scale: Scale) -> list[Job]:
        """All trainings."""
        jobs: list[Job] = []
        for point in scale.pick(paper=self.points, smoke=self.smoke):
            for memory in point.memories:
                paper = self.seeds if memory.seeds is None else memory.seeds
                jobs += train_jobs(
                    point.task,
                    memory.rule,
                    memory.size,
                    algo=memory.algo or self.algo,
                    preset=memory.preset or self.preset,
                    steps=scale.pick(paper=self.steps, smoke=self.smoke_steps),
                    seeds=self._seeds(scale.pick(paper=paper, smoke=min(paper, SMOKE_SEEDS))),
                    overrides=self._overrides(memory),
                    evaluate=[*self._tests(point), *memory.tests],
                    batch=scale.pick(paper=self.batch, smoke=BATCH),
                )
        return jobs

    def where(self, point: Point, memory: Memory) -> dict[str, Any]:
        """The settings by which `Results` finds these runs."""
        return {
            "task": point.task,
            "memory": memory.rule,
            "stack_size": memory.size,
            "algo": memory.algo or self.algo,
            "preset": memory.preset or self.preset,
            "overrides": self._overrides(memory),
        }

    def shown(self, results: Results) -> list[Point]:
        """The points that were asked for, at whichever scale."""
        points = {(point.name, point.task): point for point in (*self.smoke, *self.points)}
        order = dict.fromkeys((p.name, p.task) for p in (*self.points, *self.smoke))
        return [points[key] for key in order if key[1] in results.tasks]

    def arm(self, point: str, label: str, tested: str | None = None, *, least: int = FEWEST) -> Arm:
        """The runs of one memory at one point, for claims."""
        (place,) = (each for each in self.points if each.name == point)
        (memory,) = (each for each in place.memories if each.label == label)
        seeds = self.seeds if memory.seeds is None else memory.seeds
        used = self._seeds(seeds)
        name = f"{label} at {point}"
        words = f"{used[0]} to {used[-1]}"
        return Arm(name, self.where(place, memory), least, tested, words)

    def pairs(
        self,
        first: str,
        second: str,
        points: Sequence[str] | None = None,
        tested: str | None = None,
    ) -> list[tuple[Arm, Arm]]:
        """Two memories at all points, or at some; on their own task, or tested on another."""
        names = [p.name for p in self.points] if points is None else points
        return [(self.arm(n, first, tested), self.arm(n, second, tested)) for n in names]

    def _seeds(self, number: int) -> range:
        return range(self.first_seed, self.first_seed + number)

    def _tests(self, point: Point) -> list[Evaluation]:
        return [Evaluation(task, self.episodes, self.greedy) for task in point.tests]

    def _overrides(self, memory: Memory) -> dict[str, Any]:
        if self.net is None:
            return dict(memory.overrides)
        # Said, not left to the default: earlier runs with these networks read empty slots.
        return {"net": self.net, "read_empty": False, **memory.overrides}


def sweep_of(studies: Iterable[Study]) -> Callable[[Scale], list[Job]]:
    """The trainings of several studies, as an experiment's sweep."""
    studies = tuple(studies)
    return lambda scale: [job for study in studies for job in study.jobs(scale)]


def tmaze(
    kind: str,
    length: int,
    *,
    random_length: bool = False,
    continual: bool = False,
    time_limit: int | None = None,
) -> str:
    """A maze's name with its options.

    Example:
        >>> tmaze("passive", 6, continual=True)
        'passive-tmaze:length=6,continual=true'
    """
    flags = {"random_length": random_length, "continual": continual}
    name = f"{kind}-tmaze:length={length}" + "".join(f",{n}=true" for n, on in flags.items() if on)
    return name if time_limit is None else f"{name},time_limit={time_limit}"


def paper_memories(length: int) -> tuple[Memory, ...]:
    """The paper's comparison: AS and FS with the two slots that can be enough, FS with all."""
    return (
        Memory("AS(κ)", "adaptive", 2),
        Memory("FS(κ)", "frame", 2),
        Memory("FS(k*)", "frame", length),
    )


def lengths(
    kind: str, sizes: Iterable[int], *, random_length: bool = False, continual: bool = False
) -> tuple[Point, ...]:
    """Mazes of some lengths with the three memories."""
    return tuple(
        Point(
            str(n),
            tmaze(kind, n, random_length=random_length, continual=continual),
            paper_memories(n),
        )
        for n in sizes
    )


def smoke_points(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Points with the first and the last of their memories, for a smoke run."""
    return tuple(
        replace(point, memories=tuple(dict.fromkeys((point.memories[0], point.memories[-1]))))
        for point in points
    )
