"""``adastack league``: every kind of memory on every task, under one learner."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adastack.commands import (
    OF_A_MODULE,
    Output,
    add_page_argument,
    check_out,
    command_line,
    whole_number,
)
from adastack.commands.archive import archive_of, notices
from adastack.commands.reproduce import plan, show_plan
from adastack.commands.running import add_runner_arguments, check_backend, compute
from adastack.lab.archive import EVIDENCE
from adastack.lab.evidence import Evidence
from adastack.lab.experiment import SCALES, Experiment
from adastack.lab.experiments import load_experiments
from adastack.lab.league.entrants import ENTRANTS, entrant_of
from adastack.lab.league.league import OWN, SEARCHED, SEEDS, STEPS, League
from adastack.lab.league.page import league_page, taken
from adastack.lab.league.search import settings_in_words
from adastack.lab.league.show import sentences, show_league
from adastack.lab.live import duration
from adastack.lab.local import available_cores
from adastack.lab.report_data import gather
from adastack.lab.results import Results
from adastack.lab.store import ROOT, Store
from adastack.tasks.registry import resolve

PAGE = "league.html"
OF_YOUR_OWN = (
    "PPO learns each task with each memory: none, a window (FS), what is chosen to be kept (AS), "
    "push or skip, a recurrent cell (GRU, LSTM, LRU), or a stack and a cell. All have about as "
    "many weights as a GRU of 64 units has; wider stacks get narrower layers. The score is the "
    "mean return of 100 episodes after training, greedy; MMER, POPGym's measure, is beside it."
)
"""What the page of a league of the user's own tasks says instead of the experiment's words."""
DEFAULTS = {
    **{"memories": None, "steps": None, "seeds": None, "scale": "paper", "search": False},
    **{"store": ROOT, "archive": EVIDENCE, "out": Path(PAGE)},
}
"""What a page depends on; it is the same wherever its runs are computed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack league``."""
    labels = [each.label for each in ENTRANTS]
    parser.epilog = (
        "Interrupted in any way, the same command goes on, and runs that exist are reused. "
        f"{settings_in_words(dict.fromkeys(SEARCHED, labels))} See docs/league.md."
    )
    parser.add_argument(
        "tasks",
        metavar="TASK",
        nargs="*",
        help=f"tasks with their options, Gymnasium ids, {OF_A_MODULE}; none: the league's own",
    )
    what = parser.add_argument_group("what is run")
    what.add_argument(
        "--memories",
        nargs="+",
        metavar="MEMORY",
        help="RULE:K or RULE:K+CELL, such as frame:8 none+gru adaptive:2+gru (the league's own)",
    )
    what.add_argument("--steps", type=whole_number, metavar="N", help="steps of each seed (1e6)")
    what.add_argument("--seeds", type=whole_number, metavar="N", help=f"how many seeds ({SEEDS})")
    what.add_argument(
        "--scale", choices=SCALES, default="paper", help="paper: this; smoke: as small as can be"
    )
    what.add_argument("--search", action="store_true", help="the search for settings, too")
    what.add_argument("--dry-run", action="store_true", help="how many runs, steps and hours")
    where = parser.add_argument_group("where it runs")
    add_runner_arguments(where)
    add_page_argument(where, PAGE)


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Runs what the league lacks, and writes its page."""
    check_backend(args)
    league, scale = league_of(args), SCALES[args.scale]
    jobs = league.jobs(scale)
    store, archive = Store(args.store), archive_of(args)
    about = {"tasks": list(league.tasks), "scale": args.scale, "store": str(args.store)}
    if args.dry_run:
        store.check()
        evidence = Evidence(store, archive)
        found = plan({"league": jobs}, evidence, args.workers or available_cores())
        return {**about, "plan": found, "notices": notices(archive)}
    check_out(args.out)
    began = time.perf_counter()
    outcome = compute(args, jobs, store, archive)
    evidence = Evidence(store, archive)
    experiment = _experiment(league)
    (report,) = gather(evidence, {"league": experiment}, scale).reports
    results = Results(evidence, jobs)
    command = command_line("league", args.tasks, args, DEFAULTS)
    league_page(report, results, league, command).write(args.out)
    tables = {each.name: each for each in report.analysis.tables}
    return {
        **about,
        "finished": outcome.finished,
        "skipped": outcome.skipped,
        "failed": outcome.failed,
        "seconds": time.perf_counter() - began,
        "words": sentences(results, league),
        "tables": {
            name: [dict(zip(table.header, row, strict=True)) for row in table.rows]
            for name, table in tables.items()
        },
        "out": str(args.out),
        "notices": notices(archive),
    }


def league_of(args: argparse.Namespace) -> League:
    """What the command line asks for; what is named twice takes part once.

    Raises:
        ValueError: If there is no such task or memory.
    """
    tasks = tuple(dict.fromkeys(str(resolve(task)) for task in args.tasks)) or OWN
    entrants = tuple(dict.fromkeys(map(entrant_of, args.memories or ()))) or ENTRANTS
    steps = STEPS if args.steps is None else args.steps
    seeds = SEEDS if args.seeds is None else args.seeds
    for name, value in (("--steps", steps), ("--seeds", seeds)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, actual: {value}")
    return League(tasks, entrants, steps, seeds, args.search)


def exit_code(result: dict[str, Any]) -> int:
    """1 if a run failed."""
    return int(bool(result.get("failed")))


def _experiment(league: League) -> Experiment:
    """The league as an experiment; its page's words are those of the one in the report."""
    own = load_experiments()["league"]
    return Experiment(
        name="league",
        title=own.title,
        where=own.where,
        page=own.page if league.tasks == OWN else OF_YOUR_OWN,
        sweep=league.jobs,
        analyse=lambda results: show_league(results, league),
    )


def show(result: dict[str, Any]) -> None:
    """Prints the plan, or what follows from the runs."""
    console = Output()
    if "plan" in result:
        show_plan(result["plan"])
    else:
        for line in _lines(result):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    for line in result["notices"]:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _lines(result: dict[str, Any]) -> Sequence[str]:
    rows = result["tables"].get("which-memory", ())
    return [
        *(f"{row['task']}: {taken(row['take'])} ({row['because']})" for row in rows),
        *result["words"],
        f"{len(result['finished'])} runs computed in {duration(result['seconds'])}, "
        f"{len(result['skipped'])} there already, {len(result['failed'])} failed",
        *(f"  {address}: {why}" for address, why in result["failed"].items()),
        f"Page: {result['out']}",
    ]
