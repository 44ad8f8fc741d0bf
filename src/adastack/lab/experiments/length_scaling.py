"""PPO in episodic passive mazes with random corridors, up to length 64: AS(2), FS(2), FS(k*)."""

from __future__ import annotations

from adastack.lab.checks import below, rising, solves
from adastack.lab.claims import Claim, all_of
from adastack.lab.experiment import Analysis, Experiment
from adastack.lab.job import BATCH
from adastack.lab.results import Results
from adastack.lab.studies.mazes import earns_as_the_oracle, earns_more_than
from adastack.lab.studies.study import Study, lengths, smoke_points
from adastack.lab.studies.study_figures import AFTER, analysis, scaling_figure, show_study

LENGTHS = (2, 4, 8, 16, 64)
NAMES = [str(n) for n in LENGTHS]
WHAT = "Episodic Passive-TMaze with random corridors, PPO"


def study_of(net: str | None, batch: int = BATCH) -> Study:
    """The study with a network: None for the MLP."""
    short = lengths("passive", (4,), random_length=True)
    return Study(
        "maximum maze length",
        lengths("passive", LENGTHS, random_length=True),
        smoke=short if net is None else smoke_points(short),
        net=net,
        batch=batch,
    )


def show(results: Results, study: Study, net: str) -> Analysis:
    """Bars, curves and tables of a network."""
    return show_study(results, study, f"{WHAT}, {net}")


def above_claim(study: Study, name: str, net: str, where: str) -> Claim:
    """What the paper says of every network."""
    says = f"With {net}, AS(2) earns more than FS(2) wherever the maze can be longer than two."
    return Claim(f"{name}-above", says, where, earns_more_than(study, "FS(κ)"))


def oracle_claim(study: Study, name: str, net: str, where: str) -> Claim:
    """What the paper says of the MLP and the LSTM."""
    says = f"With {net}, AS(2) earns what the oracle FS(k*) earns."
    return Claim(f"{name}-oracle", says, where, earns_as_the_oracle(study))


STUDY = study_of(None)


def analyse(results: Results) -> Analysis:
    """As the paper's main figure, and the appendix's bars and curves."""
    shown = show(results, STUDY, "MLP")
    scaling = scaling_figure(results, STUDY, f"{WHAT} with an MLP.")
    return analysis(shown.tables, [scaling, *shown.figures])


CLAIMS = (
    above_claim(STUDY, "length", "an MLP", "Figure 5a"),
    oracle_claim(STUDY, "length", "an MLP", "Figure 5a"),
    Claim(
        "length-regret",
        "AS(2) has less memory regret than FS(2).",
        "Section 5, episodic TMaze; Figure 5a",
        all_of(
            [
                below("auc_memory_regret_after", *p)
                for p in STUDY.pairs("AS(κ)", "FS(κ)", NAMES[1:])
            ],
            "at every maximum length from 4 on, 95% interval",
        ),
        reading=AFTER,
    ),
    Claim(
        "length-any-length",
        "AS(2) learns to keep the cue however long the maze is.",
        "Figure 5, caption",
        all_of(
            [solves("success", STUDY.arm(name, "AS(κ)"), 0.95) for name in NAMES],
            "at every maximum length more than half of the seeds succeed in 95% of the attempts",
        ),
        why="Seeds that fail stay at the guess of one goal, which earns 0 and is a local optimum.",
    ),
    Claim(
        "length-harder",
        "With two slots, the longer the maze, the harder it is to learn what to remember.",
        "Section 5, episodic TMaze; Figure 5a, right",
        all_of(
            [rising("auc_memory_regret_after", [STUDY.arm(name, "AS(κ)") for name in NAMES])],
            "the memory regret of AS(2) rises with the length, no step down beyond 0.02",
        ),
        reading=AFTER,
    ),
)
EXPERIMENT = Experiment(sweep=STUDY.jobs, analyse=analyse, claims=CLAIMS)
