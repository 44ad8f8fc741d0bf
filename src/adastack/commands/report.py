"""``adastack report``: which claims hold, on one page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from adastack.commands import Output, add_page_argument, check_out
from adastack.commands.archive import add_archive_argument, archive_of, notices
from adastack.commands.running import add_store_argument
from adastack.lab.episodes import watch_all
from adastack.lab.evidence import Evidence
from adastack.lab.experiment import SCALES
from adastack.lab.experiments import choose_experiments
from adastack.lab.publish import write_results
from adastack.lab.report import report_page, summary_of
from adastack.lab.report_data import gather
from adastack.lab.store import ROOT, Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack report``."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="experiments, or all (all)")
    add_store_argument(parser)
    parser.add_argument(
        "--scale", choices=SCALES, default="paper", help="whose runs are counted (paper)"
    )
    add_archive_argument(parser)
    add_page_argument(parser, "report.html")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="also write tables, figures and verdicts of all experiments there",
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Reads the archive and the store, and writes the page."""
    chosen = choose_experiments(args.names or ["all"])
    if args.results and len(chosen) < len(choose_experiments(["all"])):
        raise ValueError("--results holds all experiments: leave out their names")
    archive = archive_of(args)
    if not args.store.is_dir() and not archive.addresses():
        raise ValueError(f"expected a store, actual: {args.store}; run `adastack reproduce` first")
    check_out(args.out)
    store = Store(args.store)
    with Console(stderr=True).status("reading the runs") as status:
        data = gather(Evidence(store, archive), chosen, SCALES[args.scale])
        status.update("playing the best runs")
        episodes = watch_all(store, [job for job in data.finished if store.folder(job).exists()])
    page = report_page(data, episodes, "" if args.store == ROOT else str(args.store))
    page.write(args.out)
    if args.results:
        args.results.mkdir(parents=True, exist_ok=True)
        write_results(data, args.results)
    return {
        "file": str(args.out),
        "results": args.results and str(args.results),
        "notices": notices(archive),
        **summary_of(data),
    }


def show(result: dict[str, Any]) -> None:
    """Prints a row for each experiment."""
    table = Table("experiment", "runs", "failed", *result["claims"])
    for name, found in result["experiments"].items():
        verdicts = list(found["claims"].values())
        table.add_row(
            name,
            f"{found['finished']} of {found['runs']}",
            str(found["failed"]),
            *(str(verdicts.count(status)) for status in result["claims"]),
        )
    console = Output()
    console.print(table)
    for line in result["notices"]:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(f"open {result['file']} in a browser", highlight=False)
