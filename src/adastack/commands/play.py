"""``adastack play``: hold the stack yourself, in the browser."""

from __future__ import annotations

import argparse
from typing import Any

from adastack.commands import Output, add_page_argument, check_out, whole_number
from adastack.tasks import make_task
from adastack.viewer.game import game_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack play``."""
    parser.add_argument("task", metavar="TASK", help="a finite task; see `adastack tasks`")
    parser.add_argument("--k", type=whole_number, default=2, help="slots in the stack (2)")
    parser.add_argument("--memory", default="adaptive", help="a memory rule (adaptive)")
    add_page_argument(parser, "play.html")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Writes the page."""
    task = make_task(args.task)
    check_out(args.out)
    page = game_page(task, args.memory, args.k)
    page.write(args.out)
    return {"file": str(args.out), "task": task.name, "memory": args.memory, "k": args.k}


def show(result: dict[str, Any]) -> None:
    """Prints where the page is."""
    Output().print(f"Hold the stack yourself: open {result['file']} in a browser", highlight=False)
