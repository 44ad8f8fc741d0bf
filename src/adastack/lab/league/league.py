"""The league as studies: memories side by side on every task, and the search for their settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from adastack.lab.experiment import Scale
from adastack.lab.job import Job
from adastack.lab.league.chosen import CHOSEN
from adastack.lab.league.entrants import CANDIDATES, ENTRANTS, PRESET, SIZED, USUAL, Entrant
from adastack.lab.league.sizes import HIDDEN
from adastack.lab.league.speed import ROUNDS, SMOKE_ROUNDS, speed_job
from adastack.lab.studies.study import HELD_OUT, Memory, Point, Study
from adastack.tasks.registry import TASKS, resolve
from adastack.tasks.spec import parse_spec

STEPS, SEEDS = 1_000_000, 3
SEARCH_STEPS, SEARCH_SEEDS = 250_000, 1
"""The search is shorter, and on the first seeds; the league is on those from `HELD_OUT` on."""
SMOKE_STEPS = 3200
EPISODES = 100
MAZES = ("passive-tmaze:length=16", "active-tmaze:length=6", "xormaze", "minigrid-memory:size=7")
ACTS = ("concentration", "battleship", "mine-sweeper", "multiarmed-bandit", "labyrinth")
"""Games in which what was done is a part of what must be remembered, and so is seen."""
GAMES = tuple(
    f"{name}:previous_action=true" if name.removeprefix("popgym-").startswith(ACTS) else name
    for name in TASKS
    if name.startswith("popgym-")
)
OWN = (*MAZES, *GAMES)
"""The league's tasks; POPGym's are the easy ones."""
SMOKE = ("passive-tmaze:length=4", "popgym-repeat-first")
SEARCHED = {
    "mazes": "passive-tmaze:length=10",
    "games": "popgym-repeat-previous:previous_action=true",
    "control": "popgym-position-only-cartpole:previous_action=true",
}
"""The task on which the settings for each family of tasks are chosen; none of the league's own."""
METRICS = {"return": "Return after training, greedy", "mmer": "MMER"}


@dataclass(frozen=True)
class League:
    """Memories under one learner.

    Example:
        >>> League(("passive-tmaze:length=16",)).study.points[0].memories[5].label
        'GRU'
    """

    tasks: tuple[str, ...] = OWN
    entrants: tuple[Entrant, ...] = ENTRANTS
    steps: int = STEPS
    seeds: int = SEEDS
    search: bool = False
    """Whether the runs by which the settings were chosen belong to it."""

    @property
    def smoke_tasks(self) -> tuple[str, ...]:
        """Two small tasks, unless others than the league's own were asked for."""
        return SMOKE if self.tasks == OWN else self.tasks

    @property
    def study(self) -> Study:
        """The runs that are reported."""
        return Study(
            "",
            tuple(self._point(task) for task in self.tasks),
            smoke=tuple(_smoke_point(task, self.entrants) for task in self.smoke_tasks),
            preset=PRESET,
            seeds=self.seeds,
            first_seed=HELD_OUT,
            steps=self.steps,
            batch=1,
            smoke_steps=SMOKE_STEPS,
            episodes=EPISODES,
            metrics=METRICS,
        )

    def jobs(self, scale: Scale) -> list[Job]:
        """The search, all trainings, and how fast they are."""
        searched = search_study(self.entrants).jobs(scale) if self.search else []
        return [*searched, *self.study.jobs(scale), *self._speeds(scale)]

    def _speeds(self, scale: Scale) -> list[Job]:
        """The first task of each kind, with all memories."""
        kinds: dict[str, str] = {}
        for task in scale.pick(paper=self.tasks, smoke=self.smoke_tasks[:1]):
            kinds.setdefault(resolve(task).kind, task)
        rounds = scale.pick(paper=ROUNDS, smoke=SMOKE_ROUNDS)
        entrants = scale.pick(paper=self.entrants, smoke=one_of_each(self.entrants))
        return [speed_job(task, widths(task, entrants), rounds) for task in kinds.values()]

    def _point(self, task: str) -> Point:
        return Point(task, task, memories_on(task, self.entrants))


def memories_on(task: str, entrants: Iterable[Entrant]) -> tuple[Memory, ...]:
    """The entrants with their width on a task and the settings that were chosen for them."""
    entrants, hidden, family = tuple(entrants), widths(task, entrants), family_of(task)
    return tuple(
        Memory(
            each.label,
            each.rule,
            each.stack_size,
            each.overrides(hidden[each], CHOSEN[family].get(each.label, USUAL)),
        )
        for each in entrants
    )


def search_study(entrants: Sequence[Entrant] = ENTRANTS) -> Study:
    """Every candidate's settings with every memory, on one task of each family."""
    points = []
    for family, task in SEARCHED.items():
        hidden = widths(task, entrants)
        memories = tuple(
            Memory(
                search_label(each, name),
                each.rule,
                each.stack_size,
                each.overrides(hidden[each], name),
            )
            for each in entrants
            for name in CANDIDATES
        )
        points.append(Point(family, task, memories))
    few = (replace(points[0], memories=points[0].memories[:2]),)
    return Study(
        "",
        tuple(points),
        smoke=few,
        preset=PRESET,
        seeds=SEARCH_SEEDS,
        steps=SEARCH_STEPS,
        batch=1,
        smoke_steps=SMOKE_STEPS,
        metrics={"auc_return": "Return over the training"},
    )


def search_label(entrant: Entrant, candidate: str) -> str:
    """How a memory with a candidate's settings is named."""
    return f"{entrant.label}, {candidate}"


def widths(task: str, entrants: Iterable[Entrant]) -> Mapping[Entrant, int]:
    """Hidden units of the entrants on a task: known ones, else found by counting weights."""
    known = dict(zip(SIZED, HIDDEN.get(task, ()), strict=False))
    entrants = tuple(entrants)
    if all(each in known for each in entrants):
        return {each: known[each] for each in entrants}
    # Not for tasks whose widths are known: it takes seconds to import.
    from adastack.lab.league.weights import sizes_on

    sizes = sizes_on(task)
    return {each: known.get(each) or sizes.hidden(each) for each in entrants}


def family_of(task: str) -> str:
    """Which search a task's settings come from: mazes, games of symbols, or control."""
    name = parse_spec(task).name
    if name in TASKS:
        if TASKS[name].kind == "finite" or name == "minigrid-memory":
            return "mazes"
        numbers = ("cartpole", "pendulum", "fetch")
        return "control" if any(word in name for word in numbers) else "games"
    from gymnasium.spaces import Box

    from adastack.lab.league.weights import sizes_on

    space = sizes_on(task).spaces[0]
    return "control" if isinstance(space, Box) and space.dtype.kind == "f" else "games"


def one_of_each(entrants: Sequence[Entrant]) -> tuple[Entrant, ...]:
    """The first stack, the first cell and the control, of those that take part."""
    kinds = {(each.rule == "none", each.recurrent): each for each in reversed(entrants)}
    return tuple(each for each in entrants if each in kinds.values() and not each.hybrid)


def _smoke_point(task: str, entrants: Sequence[Entrant]) -> Point:
    return Point(task, task, memories_on(task, one_of_each(entrants)))
