"""``adastack bench``: the speed figures."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

from rich.table import Table
from rich.text import Text

from adastack.commands import Output

CHAPTERS = ("wrappers", "tabular", "deep", "sequences", "worlds", "sb3")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack bench``."""
    parser.add_argument(
        "chapters",
        nargs="*",
        metavar="CHAPTER",
        help=f"what to measure, of {', '.join(CHAPTERS)}; all if none is named",
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measures the chapters in turn."""
    unknown = sorted(set(args.chapters) - set(CHAPTERS))
    if unknown:
        raise ValueError(f"expected chapters of {list(CHAPTERS)}, actual: {unknown[0]!r}")
    figures = [
        figure
        for chapter in args.chapters or CHAPTERS
        for figure in importlib.import_module(f"adastack.bench.{chapter}").measure()
    ]
    return {
        "figures": [
            {
                "name": figure.name,
                "value": figure.value,
                "unit": figure.unit,
                "target": figure.target,
                "at_most": figure.at_most,
                "reached": figure.reached,
            }
            for figure in figures
        ]
    }


def show(result: dict[str, Any]) -> None:
    """Prints the figures beside their targets."""
    table = Table("figure", "measured", "target", "", title="adastack bench")
    for column in table.columns[1:3]:
        column.justify = "right"
    for row in result["figures"]:
        sign = "<=" if row["at_most"] else ">="
        table.add_row(
            row["name"],
            f"{_number(row['value'])} {row['unit']}",
            f"{sign} {_number(row['target'])}",
            Text("reached", "green") if row["reached"] else Text("missed", "red"),
        )
    Output().print(table)


def _number(value: float) -> str:
    return f"{value / 1e6:.1f} M" if value >= 1e6 else f"{value:,.3g}"
