"""``adastack cost``: what each network costs with each memory."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from rich.table import Table

from adastack.commands import Output
from adastack.theory.cost import COUNTINGS, Shape, cost_table

MEASURES = {
    "action_flops": "FLOPs, one action",
    "update_flops": "FLOPs, one update",
    "action_bytes": "bytes, one action",
    "update_bytes": "bytes, one update",
}
HELP = {
    "hidden": "h, the width of the network",
    "layers": "its number of layers",
    "actions": "the number of environment actions",
    "precision": "bytes per number",
    "batch": "the size of a learning batch",
    "copies": "copies of the model in the optimiser: 1 SGD, 3 Adam, 4 in the paper",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack cost``."""
    parser.add_argument("--k", type=int, nargs="+", default=[2, 16, 1000], help="stack sizes")
    for field in fields(Shape):
        parser.add_argument(
            f"--{field.name}", type=int, default=field.default, help=HELP[field.name]
        )
    parser.add_argument(
        "--counting", choices=COUNTINGS, default=COUNTINGS[0], help="recounted, or as printed"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the costs over k to this file")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Computes the costs and, if asked, draws them."""
    shape = Shape(**{field.name: getattr(args, field.name) for field in fields(Shape)})
    if args.plot:
        from adastack.theory.cost_plot import plot_costs

        plot_costs(args.plot, shape, args.counting)
    answer = cost_table(args.k, shape, counting=args.counting)
    rows = answer.pop("rows")
    return {"counting": args.counting, "plot": args.plot, "costs": rows, **answer}


def show(result: dict[str, Any]) -> None:
    """Prints the costs, how they grow, and where the paper's counting slips."""
    console = Output()
    table = Table("network", "memory", "k", *MEASURES.values(), title="What a stack costs")
    for row in result["costs"]:
        numbers = [_short(row[name]) for name in MEASURES]
        table.add_row(row["net"], row["memory"], str(row["k"]), *numbers)
    orders = Table("network", "memory", *MEASURES.values(), title="How it grows with k")
    for row in result["growth"]:
        powers = ["k" if row[name] == 1 else f"k^{row[name]}" for name in MEASURES]
        orders.add_row(row["net"], row["memory"], *powers)
    for drawn in (table, orders):
        for column in drawn.columns[2:]:
            column.justify = "right"
        console.print(drawn)
    if result["counting"] == "recounted":
        console.print("Where these differ from the paper's appendix:")
        for slip in result["slips"]:
            console.print(f"  - {slip}", highlight=False)
    if result["plot"]:
        console.print(f"wrote {result['plot']}")


def _short(value: int) -> str:
    for size, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return str(value)
