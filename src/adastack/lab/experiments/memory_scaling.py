"""PPO with stacks of growing size in corridors of 0 to 16 cells, tested on fixed lengths."""

from __future__ import annotations

from adastack.lab.checks import above, below, falling, solves
from adastack.lab.claims import Claim, all_of
from adastack.lab.experiment import Analysis, Experiment
from adastack.lab.results import Results
from adastack.lab.studies.grids import grid_figure, tested
from adastack.lab.studies.study import Memory, Point, Study, tmaze
from adastack.lab.studies.study_figures import (
    AFTER,
    analysis,
    comparison_table,
    scaling_figure,
    seed_table,
)

SIZES = (2, 4, 8, 16, 32)
NAMES = [str(k) for k in SIZES]
LONGEST, SMOKE_LONGEST = 18, 4
TESTS = (2, 4, 8, 16, 32, 64)
MORE = {("ppo", 8): 25}
"""Seeds of AS(k) where the usual ten did not decide."""


def _points(longest: int, sizes: tuple[int, ...], algo: str) -> tuple[Point, ...]:
    task = tmaze("passive", longest, random_length=True)
    return tuple(
        Point(
            str(k),
            task,
            (
                Memory("AS(k)", "adaptive", k, seeds=MORE.get((algo, k))),
                Memory("FS(k)", "frame", k),
            ),
        )
        for k in sizes
    )


def study_of(algo: str) -> Study:
    """The study with an algorithm."""
    study = Study(
        "stack size k",
        _points(LONGEST, SIZES, algo),
        smoke=_points(SMOKE_LONGEST, (2, 4), algo),
        algo=algo,
    )
    tests = [tmaze("passive", length) for length in TESTS]
    return tested(study, tests, smoke=tests[:2])


def show(results: Results, study: Study, how: str) -> Analysis:
    """The scaling and the heat maps of an algorithm."""
    what = f"Episodic Passive-TMaze with corridors of 0 to 16 cells, {how}"
    return analysis(
        [
            seed_table(results, study, "seeds", f"{what}."),
            comparison_table(results, study, "comparison", what),
        ],
        [
            scaling_figure(results, study, f"{what}."),
            *(
                grid_figure(results, study, metric, metric, f"{what}: {metric}.", "trained k")
                for metric in ("optimality", "abstraction")
            ),
        ],
    )


def claims_of(study: Study, name: str, how: str, where: str) -> tuple[Claim, ...]:
    """What the paper says of PPO and of GRPO."""
    long, longest = tmaze("passive", 32), tmaze("passive", 64)
    return (
        Claim(
            f"{name}-above",
            f"With {how}, AS(k) earns more than FS(k) of the same size while k is small.",
            where,
            all_of(
                [above("auc_return", *p) for p in study.pairs("AS(k)", "FS(k)", NAMES[:3])],
                "for k of 2, 4 and 8 the difference's 95% interval is above 0",
            ),
        ),
        Claim(
            f"{name}-abstraction",
            f"With {how}, AS(k) holds fewer different stacks than FS(k) in a long maze.",
            where,
            all_of(
                [below("abstraction", *p) for p in study.pairs("AS(k)", "FS(k)", NAMES[1:], long)],
                "tested at length 32, for k from 4 on, 95% interval",
            ),
        ),
        Claim(
            f"{name}-generalises",
            f"With {how}, AS(k) does better than FS(k) in mazes longer than any it was trained on.",
            where,
            all_of(
                [above("optimality", *p) for p in study.pairs("AS(k)", "FS(k)", NAMES, longest)],
                "tested at length 64, for every k, 95% interval",
            ),
        ),
    )


STUDY = study_of("ppo")
CLAIMS = (
    *claims_of(STUDY, "memory", "PPO", "Figures 5b and 27"),
    Claim(
        "memory-regret",
        "AS(k) has less memory regret than FS(k) of the same size while k is small.",
        "Section 5, episodic TMaze; Figure 5b, right",
        all_of(
            [
                below("auc_memory_regret_after", *p)
                for p in STUDY.pairs("AS(k)", "FS(k)", NAMES[:3])
            ],
            "for k of 2, 4 and 8, 95% interval",
        ),
        reading=AFTER,
    ),
    Claim(
        "memory-easier",
        "The more slots there are, the easier it is to learn what to remember.",
        "Section 5, episodic TMaze; Figure 5b, right",
        all_of(
            [falling("auc_memory_regret_after", [STUDY.arm(k, "AS(k)") for k in NAMES])],
            "the memory regret of AS(k) falls as k grows, no step up beyond 0.02",
        ),
        reading=AFTER,
    ),
    Claim(
        "memory-any-size",
        "AS learns to keep the cue however many slots it has.",
        "Figure 5, caption",
        all_of(
            [solves("success", STUDY.arm(k, "AS(k)"), 0.95) for k in NAMES],
            "for every k more than half of the seeds succeed in 95% of the attempts",
        ),
    ),
)
EXPERIMENT = Experiment(
    sweep=STUDY.jobs, analyse=lambda results: show(results, STUDY, "PPO with an MLP"), claims=CLAIMS
)
