"""Every kind of memory under one learner, on mazes and POPGym's games."""

from __future__ import annotations

from collections.abc import Sequence

from adastack.lab.checks import above
from adastack.lab.claims import Claim, all_of
from adastack.lab.experiment import Analysis, Experiment
from adastack.lab.league.league import League
from adastack.lab.league.search import search_table
from adastack.lab.league.show import show_league
from adastack.lab.results import Results
from adastack.lab.studies.study_figures import analysis, together

LEAGUE = League(search=True)
STUDY = LEAGUE.study
FIRST, PREVIOUS, COUNT = (
    *("popgym-repeat-first", "popgym-repeat-previous"),
    "popgym-count-recall",
)
CELLS = ("GRU", "LSTM", "LRU")


def analyse(results: Results) -> Analysis:
    """The league, and the search for its settings."""
    return together([show_league(results, LEAGUE), analysis([search_table(results)])])


def _better(name: str, sentence: str, task: str, first: Sequence[str], second: str) -> Claim:
    """A claim of ours: each of the first memories does better on the task than the second."""
    worse = STUDY.arm(task, second)
    checks = [above("return", STUDY.arm(task, label), worse) for label in first]
    needed = "95% interval of the difference above 0"
    return Claim(f"league-{name}", sentence, "not in the paper", all_of(checks, needed), ours=True)


CLAIMS = (
    _better(
        "keep",
        "Where one card must be kept for the whole game, AS(2) does better than a window of 4.",
        FIRST, ["AS(2)"], "FS(4)",
    ),
    _better(
        "window",
        "Where the card of four steps ago is asked for, a window of 4 does better than AS(4).",
        PREVIOUS, ["FS(4)"], "AS(4)",
    ),
    _better(
        "count",
        "Where cards must be counted, every recurrent cell does better than AS(4).",
        COUNT, CELLS, "AS(4)",
    ),
    _better(
        "hybrid",
        "AS(2) above a GRU does better than the GRU alone where one card must be kept.",
        FIRST, ["AS(2)+GRU"], "GRU",
    ),
)  # fmt: skip
EXPERIMENT = Experiment(sweep=LEAGUE.jobs, analyse=analyse, claims=CLAIMS)
