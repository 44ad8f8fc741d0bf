"""Every kind of memory under one learner, on mazes and POPGym's games."""

from __future__ import annotations

from adastack.lab.checks import above
from adastack.lab.claims import Check, Claim, all_of
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


def _better(task: str, first: str, second: str) -> Check:
    return above("return", STUDY.arm(task, first), STUDY.arm(task, second))


CLAIMS = (
    Claim(
        "league-keep",
        "Where one card must be kept for the whole game, AS(2) does better than a window of 4.",
        "not in the paper",
        all_of([_better(FIRST, "AS(2)", "FS(4)")], "95% interval of the difference above 0"),
        ours=True,
    ),
    Claim(
        "league-window",
        "Where the card of four steps ago is asked for, a window of 4 does better than AS(4).",
        "not in the paper",
        all_of([_better(PREVIOUS, "FS(4)", "AS(4)")], "95% interval of the difference above 0"),
        ours=True,
    ),
    Claim(
        "league-count",
        "Where cards must be counted, every recurrent cell does better than AS(4).",
        "not in the paper",
        all_of([_better(COUNT, cell, "AS(4)") for cell in CELLS], "95% intervals above 0"),
        ours=True,
    ),
    Claim(
        "league-hybrid",
        "AS(2) above a GRU does better than the GRU alone where one card must be kept.",
        "not in the paper",
        all_of([_better(FIRST, "AS(2)+GRU", "GRU")], "95% interval of the difference above 0"),
        ours=True,
    ),
)
EXPERIMENT = Experiment(sweep=LEAGUE.jobs, analyse=analyse, claims=CLAIMS)
