"""``adastack tasks``: what there is to remember."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from adastack.commands import Output
from adastack.tasks import TASKS, TaskEntry
from adastack.tasks.spec import parse_spec


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb takes no arguments of its own."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The tables of finite tasks and of the other worlds."""
    return {
        "tasks": [_row(entry) for entry in TASKS.values() if entry.kind == "finite"],
        "worlds": [_row(entry) for entry in TASKS.values() if entry.kind != "finite"],
    }


def show(result: dict[str, Any]) -> None:
    """Prints the table for a person."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 1, 0))
    table.add_column("task", no_wrap=True)
    for heading in ("what must be remembered", "T", "k*", "kappa"):
        table.add_column(heading)
    table.add_column("paper's\nkappa")
    table.add_column("value-\nconsistent")
    for row in [*result["tasks"], *result["worlds"]]:
        paper = row["paper"] or {"kappa": None, "value_consistent": None}
        facts = (row["T"], row["k_star"], row["kappa"], paper["kappa"], paper["value_consistent"])
        table.add_row(_name(row), row["remember"], *(_fact(value) for value in facts))
    console = Output()
    console.print(table)
    console.print(
        "T: the longest attempt. k*: how many last observations would make the task Markov. "
        "kappa: how many chosen ones are enough to act optimally. The last two columns are the "
        "paper's. "
        "Options follow the name: passive-tmaze:length=64,continual=true"
    )


def _row(entry: TaskEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "spec": entry.default_spec,
        "options": dict(entry.options),
        "env_id": entry.env_id,
        "remember": entry.remember,
        "T": entry.horizon,
        "k_star": entry.k_star,
        "kappa": entry.kappa,
        "paper": None if entry.paper is None else asdict(entry.paper),
    }


def _name(row: dict[str, Any]) -> Text:
    """The name, and below it its options as they stand by default."""
    name, options = parse_spec(row["spec"])
    return Text(name, "bold").append("".join(f"\n {n}={options[n]}" for n in options), "not bold")


def _fact(value: str | int | bool | None) -> str:
    if value is None:
        return "-"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
