"""``adastack archive``: what finished runs found, in files small enough for the repository."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from adastack.commands import Output
from adastack.lab.archive import EVIDENCE, Archive
from adastack.lab.archiving import Merged, merge
from adastack.lab.experiment import SCALES
from adastack.lab.experiments import choose_experiments
from adastack.lab.job import Job, merged

NOWHERE = Path(os.devnull)
"""An archive of nothing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack archive``."""
    parser.epilog = (
        "Archived are the finished runs that an experiment has at the paper's scale. The order in "
        "which sources come does not matter. Without a source the archive is verified."
    )
    parser.add_argument(
        "sources", metavar="DIR", nargs="*", type=Path, help="stores and other archives"
    )
    parser.add_argument(
        "--into", type=Path, metavar="DIR", default=EVIDENCE, help=f"the archive ({EVIDENCE})"
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Merges the sources, then verifies the archive."""
    archive = Archive(args.into)
    if not args.sources and not args.into.is_dir():
        raise ValueError(f"expected an archive, actual: {args.into}; name a store to make one of")
    wanted = wanted_jobs()
    found = merge(args.sources, archive, wanted.values()) if args.sources else Merged()
    jobs = archive.jobs()
    return {
        "archive": str(args.into),
        "sources": [str(path) for path in args.sources],
        **asdict(found),
        "wanted": len(wanted),
        "finished": sum(job.address in wanted for job in jobs),
        "lack_tests": [
            job.address
            for job in jobs
            if job.address in wanted and not archive.is_finished(wanted[job.address])
        ],
        "bytes": sum(archive.path(address).stat().st_size for address in archive.addresses()),
        "damaged": archive.damaged,
        "changed": archive.changed,
        "unused": [job.address for job in jobs if job.address not in wanted],
    }


def add_archive_argument(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Adds ``--archive`` to the verbs that count what is archived."""
    parser.add_argument(
        "--archive",
        type=Path,
        metavar="DIR",
        default=EVIDENCE,
        help=f"runs that exist beside those of the store ({EVIDENCE})",
    )


def archive_of(args: argparse.Namespace) -> Archive:
    """The archive that counts; at smoke scale, which tries out the computing, none does."""
    return Archive(args.archive if args.scale == "paper" else NOWHERE)


def exit_code(result: dict[str, Any]) -> int:
    """1 if a file of the archive, or of a source, is damaged."""
    return int(bool(result["damaged"] or result["refused"]))


def wanted_jobs() -> dict[str, Job]:
    """Every job that an experiment has at the paper's scale, by its address."""
    chosen, scale = choose_experiments(["all"]), SCALES["paper"]
    jobs = merged(job for each in chosen.values() for job in each.sweep(scale))
    return {job.address: job for job in jobs}


def notices(archive: Archive) -> list[str]:
    """A line for what is damaged, and one for each reason why archived runs no longer count."""
    lines = [f"damaged: {line}" for line in archive.damaged.values()]
    return lines + grouped(archive.changed, "archived", "not counted")


def grouped(reasons: Mapping[str, str], what: str, fate: str) -> list[str]:
    """A line for each reason: how many runs it concerns, and which."""
    lines = []
    for reason, count in Counter(reasons.values()).items():
        names = [address for address, why in reasons.items() if why == reason]
        shown = ", ".join(names[:3]) + (", ..." if count > 3 else "")
        runs = f"1 {what} run" if count == 1 else f"{count} {what} runs"
        lines.append(f"{runs} {fate}: {reason} ({shown})")
    return lines


def show(result: dict[str, Any]) -> None:
    """Prints what was merged, and what the archive holds."""
    console = Output()
    lines = []
    if result["sources"]:
        numbers = {name: len(result[name]) for name in ("added", "updated", "kept", "unfinished")}
        words = ", ".join(f"{number} {name}" for name, number in numbers.items())
        lines += [f"{words}; {len(result['unasked'])} are of no experiment at the paper's scale"]
        lines += grouped(result["refused"], "finished", "not archived")
    lines += [f"damaged: {line}" for line in result["damaged"].values()]
    lines += grouped(result["changed"], "archived", "not counted")
    if result["unused"]:
        unused = dict.fromkeys(result["unused"], "no experiment has it now")
        lines += grouped(unused, "archived", "not used")
    if result["lack_tests"]:
        lacking = dict.fromkeys(result["lack_tests"], "another experiment has more")
        lines += grouped(lacking, "archived", "without all tests")
    lines += [
        f"{result['finished']} of {result['wanted']} runs, {result['bytes'] / 1e6:.1f} MB "
        f"in {result['archive']}"
    ]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
