"""``adastack train``: learn a task with a memory."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.table import Table

from adastack.commands import Output
from adastack.commands.learners import LEARNERS, learner_of, seed_table_rows
from adastack.progress import watch

COLUMNS = {
    "success": "success",
    "return": "return",
    "reward_rate": "reward / 1000 steps",
    "optimality": "optimality",
    "memory_regret": "memory regret",
    "active_regret": "active regret",
    "passive_regret": "passive regret",
}
"""What is said about a seed, and how it is headed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack train``."""
    parser.add_argument("task", help="the task, with its options: passive-tmaze:length=16")
    parser.add_argument("--memory", default="adaptive", help="the memory rule (adaptive)")
    parser.add_argument("--k", type=int, default=2, help="the number of slots (2)")
    parser.add_argument("--algo", default="ppo", help=f"of {', '.join(LEARNERS)} (ppo)")
    parser.add_argument("--preset", default="robust", help="robust, or paper as published")
    parser.add_argument("--steps", type=_count, default=1_000_000, help="steps of each seed (1e6)")
    parser.add_argument("--seeds", type=_count, default=1, help="how many seeds (1)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--net", help="of mlp, cnn, lstm, transformer, for ppo and grpo")
    parser.add_argument("--out", type=Path, help="the run's folder; runs/<name> if not given")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change one setting"
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Trains, and returns what the run's seeds came to."""
    learner = learner_of(args.algo)
    overrides: dict[str, Any] = dict(_assignment(text) for text in args.set)
    if args.net is not None:
        overrides["net"] = args.net
    stack_size = 1 if args.memory == "none" else args.k
    with watch(args.steps, f"{args.task} {args.memory}({stack_size})") as progress:
        result: dict[str, Any] = learner.train(
            task=args.task,
            memory=args.memory,
            stack_size=stack_size,
            algo=args.algo,
            preset=args.preset,
            steps=args.steps,
            seeds=list(range(args.seed, args.seed + args.seeds)),
            path=args.out or Path("runs") / _name(args, stack_size, overrides),
            overrides=overrides,
            resume=args.resume,
            progress=progress,
        )
    return result


def show(result: dict[str, Any]) -> None:
    """Prints a row for each seed."""
    header, *rows = seed_table_rows(result["seeds"], COLUMNS)
    table = Table(*header)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    console = Output()
    console.print(table)
    console.print(
        f"{result['steps_per_second']:,.0f} steps/s; the run is in {result['run']}",
        highlight=False,
        soft_wrap=True,
    )


def _count(text: str) -> int:
    """A positive whole number, also as 1e6."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if value < 1 or value != int(value):
        raise argparse.ArgumentTypeError(f"expected a positive whole number, actual: {text!r}")
    return int(value)


def _assignment(text: str) -> tuple[str, Any]:
    """``name=value`` with the value as a number or boolean where it is one."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"--set expects NAME=VALUE, actual: {text!r}")
    if value in ("true", "false"):
        return name, value == "true"
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def _name(args: argparse.Namespace, stack_size: int, overrides: dict[str, Any]) -> str:
    """A folder's name that says what was run."""
    last = args.seed + args.seeds - 1
    seeds = f"seed-{args.seed}" if args.seeds == 1 else f"seeds-{args.seed}-{last}"
    changed = [f"{name}-{value}" for name, value in sorted(overrides.items())]
    words = [args.task, args.memory, str(stack_size), args.algo, args.preset, *changed, seeds]
    return "-".join("".join(c if c.isalnum() else "-" for c in word) for word in words)
