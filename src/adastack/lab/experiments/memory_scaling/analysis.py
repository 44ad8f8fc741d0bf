"""Return and regret over the stack size, and what is left of it in other mazes."""

from __future__ import annotations

from adastack.lab.claims import above, all_of, below, between, falling
from adastack.lab.experiment import Analysis, Claim
from adastack.lab.experiments.grids import grid_figure
from adastack.lab.experiments.memory_scaling.sweep import SIZES, STUDY
from adastack.lab.experiments.study import Study, tmaze
from adastack.lab.experiments.study_figures import (
    SCALING,
    analysis,
    comparison_table,
    line_figure,
    seed_table,
)
from adastack.lab.results import Results

SHORT = [str(k) for k in SIZES[:3]]


def analyse(results: Results) -> Analysis:
    """The scaling and the heat maps."""
    return show(results, STUDY, "PPO with an MLP")


def show(results: Results, study: Study, how: str) -> Analysis:
    """The scaling and the heat maps of an algorithm."""
    what = f"Episodic Passive-TMaze with corridors of 0 to 16 cells, {how}"
    return analysis(
        [
            seed_table(results, study, "seeds", f"{what}."),
            comparison_table(results, study, "comparison", what),
        ],
        [
            line_figure(results, study, "scaling", f"{what}.", SCALING),
            *(
                grid_figure(results, study, metric, metric, f"{what}: {metric}.", "trained k")
                for metric in ("optimality", "abstraction")
            ),
        ],
    )


def claims_of(study: Study, name: str, how: str, where: str) -> tuple[Claim, ...]:
    """What the paper says of PPO and of GRPO."""
    return (
        Claim(
            f"{name}-above",
            f"With {how}, AS(k) earns more than FS(k) of the same size while k is small.",
            where,
            all_of(
                [above("auc_return", *p) for p in study.pairs("AS(k)", "FS(k)", SHORT)],
                "for k of 2, 4 and 8 the difference's 95% interval is above 0",
            ),
        ),
        Claim(
            f"{name}-abstraction",
            f"With {how}, AS(k) holds fewer different stacks than FS(k) in a long maze.",
            where,
            all_of(
                [
                    below(
                        "abstraction",
                        study.arm(k, "AS(k)", tmaze("passive", 32)),
                        study.arm(k, "FS(k)", tmaze("passive", 32)),
                    )
                    for k in ("4", "8", "16")
                ],
                "tested at length 32, for k of 4, 8 and 16, 95% interval",
            ),
        ),
        Claim(
            f"{name}-generalises",
            f"With {how}, AS(k) does better than FS(k) in mazes longer than any it was trained on.",
            where,
            all_of(
                [
                    above(
                        "optimality",
                        study.arm(str(k), "AS(k)", tmaze("passive", 64)),
                        study.arm(str(k), "FS(k)", tmaze("passive", 64)),
                    )
                    for k in SIZES
                ],
                "tested at length 64, for every k, 95% interval",
            ),
        ),
    )


CLAIMS = (
    *claims_of(STUDY, "memory", "PPO", "Figures 5b and 27"),
    Claim(
        "memory-regret",
        "AS(k) has less memory regret than FS(k) of the same size while k is small.",
        "Section 5, episodic TMaze; Figure 5b, right",
        all_of(
            [below("auc_memory_regret", *p) for p in STUDY.pairs("AS(k)", "FS(k)", SHORT)],
            "for k of 2, 4 and 8, 95% interval",
        ),
    ),
    Claim(
        "memory-easier",
        "The more slots there are, the easier it is to learn what to remember.",
        "Section 5, episodic TMaze; Figure 5b, right",
        all_of(
            [falling("auc_memory_regret", [STUDY.arm(str(k), "AS(k)") for k in SIZES])],
            "the memory regret of AS(k) falls as k grows (slack 0.02)",
        ),
    ),
    Claim(
        "memory-any-size",
        "AS learns to keep the cue however many slots it has.",
        "Figure 5, caption",
        all_of(
            [between("success", STUDY.arm(str(k), "AS(k)"), low=0.95) for k in SIZES],
            "for every k a mean success of at least 0.95 after training",
        ),
    ),
)
