"""``adastack reproduce``: every figure and table of the paper."""

from __future__ import annotations

import argparse
import re
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table

from adastack.commands import Output
from adastack.commands.archive import archive_of, notices
from adastack.commands.running import add_runner_arguments, check_backend, compute
from adastack.lab.evidence import Evidence
from adastack.lab.experiment import SCALES, Experiment
from adastack.lab.experiments import choose_experiments
from adastack.lab.job import Job, merged
from adastack.lab.live import duration, label
from adastack.lab.local import available_cores
from adastack.lab.speed_estimates import SpeedEstimates
from adastack.lab.store import ROOT, Store

BASES = {
    "same": "by runs of the same network, memory and task",
    "similar": "by similar ones",
    "table": "by usual speeds",
}
"""What a time rests on, as a sentence says it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack reproduce``."""
    parser.epilog = (
        "Interrupted in any way, the same command goes on. Runs that exist are reused, also "
        "between experiments. `adastack report` then shows which claims hold."
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="experiments, or all (see --list)")
    what = parser.add_argument_group("what is run")
    what.add_argument("--list", action="store_true", help="the experiments and their size")
    what.add_argument("--dry-run", action="store_true", help="how many runs, steps and hours")
    what.add_argument(
        "--scale",
        choices=SCALES,
        default="paper",
        help="paper: the paper's seeds and steps (this); smoke: all of it, as small as can be",
    )
    what.add_argument("--seeds", type=int, metavar="N", help="the first N only, in whole jobs")
    what.add_argument(
        "--skip",
        nargs="+",
        action="extend",
        default=[],
        metavar="WORD",
        help="leave out runs with one of these words: NAME --skip lstm transformer, "
        "or --skip=lstm,transformer NAME",
    )
    add_runner_arguments(parser.add_argument_group("where it runs"))


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Runs what the experiments lack, or lists it."""
    if args.skip and not (args.names or args.list):
        raise ValueError(
            "expected names of experiments, actual: all words behind --skip are words to skip; "
            f"put the names first, or write --skip={args.skip[0]} NAME"
        )
    chosen = choose_experiments(args.names or ["all"] * args.list)
    sweeps = {
        name: first_seeds(each.sweep(SCALES[args.scale]), args.seeds)
        for name, each in chosen.items()
    }
    sweeps = without(sweeps, [word for words in args.skip for word in words.split(",") if word])
    about = {"scale": args.scale, "store": str(args.store)}
    if args.list:
        return {**about, "list": [_line(chosen[name], jobs) for name, jobs in sweeps.items()]}
    check_backend(args)
    store, archive = Store(args.store), archive_of(args)
    if args.dry_run:
        store.check()
        found = plan(sweeps, Evidence(store, archive), args.workers or available_cores())
        return {**about, "plan": found, "notices": notices(archive)}
    began = time.perf_counter()
    jobs = [job for jobs in sweeps.values() for job in jobs]
    outcome = compute(args, jobs, store, archive)
    names = {job.address: label(job) for job in jobs}
    return {
        **about,
        "names": list(sweeps),
        "finished": outcome.finished,
        "skipped": outcome.skipped,
        "failed": {address: [names[address], why] for address, why in outcome.failed.items()},
        "seconds": time.perf_counter() - began,
        "notices": notices(archive),
    }


def exit_code(result: dict[str, Any]) -> int:
    """1 if a run failed."""
    return int(bool(result.get("failed")))


def first_seeds(jobs: Iterable[Job], most: int | None) -> list[Job]:
    """The batches with one of the first seeds; whole, so that they are those of the full sweep."""
    if most is None:
        return merged(jobs)
    if most < 1:
        raise ValueError(f"--seeds must be at least 1, actual: {most}")
    jobs = merged(jobs)
    first: dict[str, int] = {}
    for job in jobs:
        first[_alike(job)] = min(first.get(_alike(job), _first_seed(job)), _first_seed(job))
    return [job for job in jobs if _first_seed(job) - first[_alike(job)] < most]


def _first_seed(job: Job) -> int:
    return int(min(job.settings.get("seeds", (0,))))


def _alike(job: Job) -> str:
    """The same for all batches of a training."""
    settings = {name: value for name, value in job.settings.items() if name != "seeds"}
    return Job(job.kind, settings).address


def without(sweeps: dict[str, list[Job]], words: Sequence[str]) -> dict[str, list[Job]]:
    """The jobs whose line in the live table has none of the words.

    Words that only other experiments' lines have change nothing here.

    Raises:
        ValueError: If no line of any experiment has a word: what it should leave out would be run.
    """
    said = {job.address: _words_of(job) for jobs in sweeps.values() for job in jobs}
    unknown = set(words).difference(*said.values())
    if unknown:
        unknown -= _words_of_all()
    for word in words:
        if word in unknown:
            raise ValueError(f"--skip expects words of a run's line, actual: {word!r} is in none")
    return {
        name: [job for job in jobs if said[job.address].isdisjoint(words)]
        for name, jobs in sweeps.items()
    }


def _words_of(job: Job) -> set[str]:
    return set(re.findall(r"[\w=*-]+", label(job)))


def _words_of_all() -> set[str]:
    """The words of every run of every experiment, at every scale."""
    jobs = (
        job
        for experiment in choose_experiments(["all"]).values()
        for scale in SCALES.values()
        for job in experiment.sweep(scale)
    )
    return set().union(*map(_words_of, jobs))


def plan(sweeps: dict[str, list[Job]], evidence: Evidence, workers: int) -> dict[str, Any]:
    """How many runs exist, how many are to do, and how long that takes."""
    speeds = SpeedEstimates(evidence.store, evidence.archive)
    everything = merged(job for jobs in sweeps.values() for job in jobs)
    finished = {job.address for job in everything if evidence.is_finished(job)}

    def exists(job: Job) -> bool:
        # One experiment may have all its tests of a run that another wants tested further.
        return job.address in finished or evidence.archive.is_finished(job)

    def size(jobs: list[Job]) -> dict[str, Any]:
        todo = [job for job in jobs if not exists(job)]
        each = [speeds.seconds_left(job) for job in todo]
        return {
            "exist": len(jobs) - len(todo),
            "to_do": len(todo),
            "steps": sum(round(job.steps * speeds.share_left(job)) for job in todo),
            "seconds": max([sum(each) / workers, *each], default=0.0),
        }

    return {
        "experiments": {name: size(jobs) for name, jobs in sweeps.items()},
        "all": size(everything),
        "workers": workers,
        "rests_on": _basis([job for job in everything if job.address not in finished], speeds),
    }


def _basis(jobs: list[Job], speeds: SpeedEstimates) -> dict[str, Any]:
    """How many times rest on what, and where and when that was measured."""
    count: Counter[str] = Counter(speeds.basis(job) for job in jobs)
    measured = {timed for job in jobs for timed in speeds.nearest(job)}
    days = sorted(timed.finished[:10] for timed in measured if timed.finished)
    return {
        **{basis: count[basis] for basis in BASES},
        "machines": sorted({timed.processor for timed in measured if timed.processor}),
        "elsewhere": sum(not timed.here for timed in measured),
        "days": days[:1] + days[-1:],
    }


def _line(experiment: Experiment, jobs: list[Job]) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "title": experiment.title,
        "where": experiment.where,
        "claims": len(experiment.claims),
        "jobs": len(jobs),
        "steps": sum(job.steps for job in jobs),
    }


def show(result: dict[str, Any]) -> None:
    """Prints the list, the plan, or how the runs ended."""
    if "list" in result:
        _show_list(result["list"])
    elif "plan" in result:
        show_plan(result["plan"])
    else:
        _show_outcome(result)
    for line in result.get("notices", ()):
        Output().print(line, markup=False, highlight=False, soft_wrap=True)


def _show_list(lines: list[dict[str, Any]]) -> None:
    table = Table("name", "shows", "in the paper", "claims", "jobs", "steps")
    for line in lines:
        numbers = (str(line["claims"]), str(line["jobs"]), f"{line['steps']:,}")
        table.add_row(line["name"], line["title"], line["where"], *numbers)
    _right(table, 3)
    Output().print(table)


def show_plan(plan: dict[str, Any]) -> None:
    """Prints what `plan` found."""
    table = Table("experiment", "exist", "to do", "steps", "time")
    rows = {**plan["experiments"], "all, shared runs once": plan["all"]}
    for name, size in rows.items():
        numbers = (str(size["exist"]), str(size["to_do"]), f"{size['steps']:,}")
        table.add_row(name, *numbers, duration(size["seconds"]) if size["to_do"] else "-")
    _right(table, 1)
    console = Output()
    console.print(table)
    console.print(_rests_on(plan), markup=False, highlight=False)


def _rests_on(plan: dict[str, Any]) -> str:
    """What the times rest on, in a sentence or two."""
    found = plan["rests_on"]
    parts = [f"{found[basis]} {words}" for basis, words in BASES.items() if found[basis]]
    if not parts:
        return "Nothing is left to do."
    said = f"Times are for {plan['workers']} workers: of these runs {', '.join(parts)}."
    if found["days"]:
        when = " to ".join(dict.fromkeys(found["days"]))
        said += f" Measured {when} on {' and '.join(found['machines'])}"
        said += ", not this machine." if found["elsewhere"] else "."
    return said


def _right(table: Table, first: int) -> None:
    for column in table.columns[first:]:
        column.justify = "right"


def _show_outcome(result: dict[str, Any]) -> None:
    console = Output()
    total = sum(len(result[name]) for name in ("finished", "skipped", "failed"))
    console.print(
        f"{total} runs: {len(result['finished'])} computed in {duration(result['seconds'])}, "
        f"{len(result['skipped'])} there already, {len(result['failed'])} failed",
        highlight=False,
    )
    for address, (name, reason) in result["failed"].items():
        console.print(f"  {name}: {reason}  ({address})", markup=False, highlight=False)
    everything = result["names"] == list(choose_experiments(["all"]))
    words = ["adastack report", *([] if everything else result["names"])]
    words += [] if result["scale"] == "paper" else [f"--scale {result['scale']}"]
    words += [] if result["store"] == str(ROOT) else [f"--store {shlex.quote(result['store'])}"]
    # One line, however narrow the terminal: it is there to be copied.
    console.print(f"Now: {' '.join(words)}", markup=False, highlight=False, soft_wrap=True)
