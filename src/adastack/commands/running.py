"""What the verbs share that compute jobs of the lab: their arguments, and the computation."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from adastack.commands.archive import add_archive_argument
from adastack.lab.archive import Archive
from adastack.lab.job import Job
from adastack.lab.live import watch_jobs
from adastack.lab.runner import BACKENDS, Outcome, run
from adastack.lab.store import ROOT, Store

Arguments = argparse.ArgumentParser | argparse._ArgumentGroup


def add_store_argument(parser: Arguments) -> None:
    """Adds ``--store``."""
    parser.add_argument(
        "--store", type=Path, metavar="DIR", default=ROOT, help="the folder of the runs (lab)"
    )


def add_runner_arguments(parser: Arguments) -> None:
    """Adds where jobs run: the store, the archive, workers, and a Ray cluster."""
    add_store_argument(parser)
    add_archive_argument(parser)
    parser.add_argument("--workers", type=int, metavar="N", help="runs at a time (one a core)")
    parser.add_argument(
        "--backend", choices=BACKENDS, default="local", help="processes here (this), or Ray"
    )
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="of the Ray cluster (one is started here)"
    )


def check_backend(args: argparse.Namespace) -> None:
    """Raises a ValueError if there is an address and no cluster."""
    if args.address and args.backend != "ray":
        raise ValueError("--address expects --backend ray")


def compute(
    args: argparse.Namespace, jobs: Sequence[Job], store: Store, archive: Archive
) -> Outcome:
    """Computes the jobs that are neither in the store nor in the archive, with progress."""
    where = {"backend": args.backend, "workers": args.workers, "address": args.address}
    jobs = [replace(job, imports=tuple(args.imports)) for job in jobs]
    try:
        with watch_jobs() as on_change:
            return run(jobs, store, archive=archive, on_change=on_change, **where)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped: the same command goes on") from None
