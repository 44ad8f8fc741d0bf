"""The worlds with the published settings beside ours, and AS with and without patience."""

from __future__ import annotations

from typing import Any, NamedTuple

from adastack.lab.checks import above
from adastack.lab.claims import Claim, all_of
from adastack.lab.experiment import Analysis, Experiment
from adastack.lab.experiments import cartpole, cube, fetch, minigrid
from adastack.lab.results import Results
from adastack.lab.studies.study import FETCH_SEEDS, Memory, Study, sweep_of
from adastack.lab.studies.study_figures import together
from adastack.lab.studies.worlds import show_world, succeeds_more, world_study

PUBLISHED = ("AS(k), published", "FS(k), published")
WAITS, EAGER = "AS(k)", "AS(k), patience off"
FEW = 3
"""Seeds of the robot arm, which takes a quarter of an hour for each."""


class World(NamedTuple):
    """A world, and how it is named."""

    study: Study
    place: str
    """As in a sentence: "On scrambled cubes"."""
    where: str
    """Its figure in the paper."""


def _world(
    task: str,
    size: int,
    place: str,
    where: str,
    *,
    n_envs: int = 1,
    patient: bool = True,
    few: int | None = None,
    **rest: Any,
) -> World:
    """AS and FS of one size with both settings.

    Args:
        task: The world.
        size: The number of slots, k.
        place: As in a sentence.
        where: In the paper.
        n_envs: Environments side by side with the published settings; the paper does not say.
        patient: Whether our settings have patience, so that there is something to turn off.
        few: The seeds of all but our settings, if they are fewer.
        rest: Further fields of the study.
    """
    overrides = {"n_envs": n_envs} if n_envs > 1 else {}
    memories = [
        Memory(PUBLISHED[0], "adaptive", size, overrides, preset="paper", seeds=few),
        Memory(PUBLISHED[1], "frame", size, overrides, preset="paper", seeds=few),
        Memory(WAITS, "adaptive", size),
        Memory("FS(k)", "frame", size),
    ]
    if patient:
        memories.append(Memory(EAGER, "adaptive", size, {"patience": 0.0}, seeds=few))
    return World(world_study(task, tuple(memories), (task,), **rest), place, where)


WORLDS = {
    "cube": _world(
        cube.TASK, 10, "On scrambled cubes", "Figure 6c", episodes=512, smoke_steps=6400
    ),
    "minigrid": _world(
        minigrid.STUDY.points[0].task,
        2,
        "In MiniGrid-Memory",
        "Figure 6d",
        n_envs=8,
        greedy=False,
        smoke=False,
    ),
    "cartpole": _world(
        cartpole.TASKS[""],
        2,
        "In CartPole with only its speeds in view",
        "Figure 19",
        patient=False,
        greedy=False,
        metrics=cartpole.METRICS,
        smoke=False,
    ),
    "fetch": _world(
        fetch.TASK,
        4,
        "In FetchReach",
        "Figure 6b",
        n_envs=8,
        few=FEW,
        seeds=FETCH_SEEDS,
        episodes=16,
        smoke=False,
    ),
}


def analyse(results: Results) -> Analysis:
    """Each world, one after the other."""
    return together(
        [
            show_world(results, world.study, f"{world.place}, PPO with an MLP", key=key)
            for key, world in WORLDS.items()
        ]
    )


def _published(key: str, world: World) -> tuple[Claim, ...]:
    place = f"{world.place}, with the published settings"
    return succeeds_more(world.study, f"published-{key}", place, world.where, PUBLISHED)


def _patience(key: str, world: World) -> Claim:
    (pair,) = world.study.pairs(WAITS, EAGER)
    return Claim(
        f"patience-{key}",
        f"{world.place}, AS succeeds more often if it evicts the newest slot at first.",
        "not in the paper",
        all_of([above("success", *pair)], "after training, 95% interval above 0"),
        ours=True,
    )


CLAIMS = (
    *(claim for key in ("cube", "minigrid", "fetch") for claim in _published(key, WORLDS[key])),
    *(_patience(key, WORLDS[key]) for key in ("cube", "minigrid", "fetch")),
)
EXPERIMENT = Experiment(
    sweep=sweep_of(world.study for world in WORLDS.values()), analyse=analyse, claims=CLAIMS
)
