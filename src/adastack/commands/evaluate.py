"""``adastack evaluate``: evaluates the policies of a run, on its own task or on another."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from adastack.commands import Output, add_env_argument
from adastack.commands.train import table_of, with_arguments
from adastack.runs import Run
from adastack.settings import printable
from adastack.training import evaluate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack evaluate``."""
    parser.add_argument("run", metavar="RUN", type=Path, help="the folder of a run")
    parser.add_argument("--task", help="another task with the same observations (the run's own)")
    add_env_argument(parser)
    parser.add_argument(
        "--episodes", type=int, default=100, help="attempts, where they must be sampled (100)"
    )
    parser.add_argument(
        "--sampled",
        action="store_true",
        help="explore as at the end of training, anew at each step (greedy)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of sampled attempts (0)")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Evaluates the policies of every seed."""
    opened = Run.open(args.run)
    if args.env_arg:
        args.task = with_arguments(args.task or opened.settings["task"], args.env_arg)
    # On a terminal only, and gone at the end: long tests of real worlds take minutes.
    doing = printable(f"testing {args.run} on {args.task or 'its own task'}")
    with Console(stderr=True).status(Text(doing)):
        return evaluate(
            opened, task=args.task, episodes=args.episodes, greedy=not args.sampled, seed=args.seed
        )


def show(result: dict[str, Any]) -> None:
    """Prints a row for each seed."""
    console = Output()
    console.print(f"{result['run']} on {result['task']}", highlight=False)
    console.print(table_of(result["seeds"]))
