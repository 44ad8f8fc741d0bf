"""``adastack train``: trains agents that learn what to remember, and keeps them as a run."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from rich.table import Table

from adastack.algorithms import (
    ALGORITHMS,
    algorithm,
    default_algo,
    default_preset,
    default_stack_size,
)
from adastack.commands import OF_A_MODULE, Output, add_env_argument, whole_number
from adastack.deep.cell_table import CELLS
from adastack.deep.network_table import NETWORKS
from adastack.progress import watch
from adastack.tasks.spec import parse_literal, parse_spec, spell
from adastack.training import train

COLUMNS = {
    "success": "success\nfraction",
    "return": "return\nper attempt",
    "reward_rate": "reward\nper 1000 steps",
    "memory_regret": "memory regret\nper step",
    "active_regret": "active regret\nper attempt",
    "passive_regret": "passive regret\nper attempt",
    "optimality": "optimality\nfraction",
    "abstraction": "abstraction\nfraction",
}
"""What is measured, and its name and unit in a table."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack train``."""
    parser.add_argument(
        "task",
        metavar="TASK",
        help=f"a task with its options (see `adastack tasks`), a Gymnasium id, {OF_A_MODULE}",
    )
    add_learner_arguments(parser)
    parser.add_argument(
        "--k", type=whole_number, help="slots in the stack (2, or 1 with --memory none)"
    )
    parser.add_argument(
        "--steps", type=whole_number, default=1_000_000, help="steps of each seed (1e6)"
    )
    add_env_argument(parser)
    parser.add_argument("--seeds", type=whole_number, default=1, help="how many seeds (1)")
    parser.add_argument("--seed", type=whole_number, default=0, help="the first of them (0)")
    parser.add_argument("--out", type=Path, help="the run's folder (runs/ and a readable name)")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_setting,
        metavar="NAME=VALUE",
        help="a setting that differs from the preset; may be repeated",
    )


def add_learner_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that say who learns; `learner_settings` reads them."""
    parser.add_argument("--memory", default="adaptive", help="a memory rule, or random (a control)")
    parser.add_argument(
        "--algo", help=f"of {', '.join(ALGORITHMS)} (sarsa on finite tasks, else ppo)"
    )
    parser.add_argument(
        "--preset", help="paper, robust, default or a world's own (what learns the task best)"
    )
    parser.add_argument("--net", help=f"of {', '.join(NETWORKS)}, for ppo and grpo (mlp)")
    parser.add_argument("--cell", help=f"of {', '.join(CELLS)}, over the network (none)")


def learner_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Fills in algorithm and preset if not asked for; returns what ``--net`` and ``--cell`` set.

    Raises:
        ValueError: If the algorithm cannot learn the task, or has no network.
    """
    asked = {name: getattr(args, name) for name in ("net", "cell")}
    asked = {name: value for name, value in asked.items() if value is not None}
    args.algo = args.algo or ("ppo" if "cell" in asked else default_algo(args.task))
    tabular = algorithm(args.algo, args.task).tabular
    args.preset = args.preset or default_preset(args.algo, args.task)
    if tabular and asked:
        options = " and ".join(f"--{name}" for name in asked)
        raise ValueError(f"algo {args.algo} learns a table: {options} is for ppo and grpo")
    return asked


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Trains, or resumes training, and returns the final evaluation."""
    args.task = with_arguments(args.task, args.env_arg)
    args.k = default_stack_size(args.memory, args.k)
    overrides = dict(args.set) | learner_settings(args)
    asked: dict[str, Any] = {
        "task": args.task,
        "memory": args.memory,
        "stack_size": args.k,
        "algo": args.algo,
        "preset": args.preset,
        "steps": args.steps,
        "seeds": list(range(args.seed, args.seed + args.seeds)),
        "path": args.out or default_folder(args, overrides),
        "overrides": overrides,
        "imports": args.imports,
        "resume": args.resume,
    }
    try:
        with watch(args.steps) as progress:
            result = train(**asked, progress=progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped: the same command with --resume goes on") from None
    return result


def show(result: dict[str, Any]) -> None:
    """Prints a row for each seed."""
    console = Output()
    console.print(table_of(result["seeds"]))
    console.print(
        f"{result['steps_per_second']:,.0f} steps/s   saved in {result['run']}", highlight=False
    )


def table_of(seeds: list[dict[str, Any]]) -> Table:
    """What was measured, a row for each seed."""
    known = [
        name
        for name in COLUMNS
        if name == "success" or any(row.get(name) is not None for row in seeds)
    ]
    table = Table("seed", *(COLUMNS[name] for name in known))
    for row in seeds:
        table.add_row(str(row["seed"]), *(_number(row.get(name)) for name in known))
    return table


def with_arguments(task: str, arguments: list[str]) -> str:
    """A task's name with further arguments of its environment."""
    if not arguments:
        return task
    name, options = parse_spec(task)
    for word in arguments:
        option, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"--env-arg expects name=value, actual: {word!r}")
        options[option] = value
    return spell(name, options)


def default_folder(args: argparse.Namespace, overrides: dict[str, Any]) -> Path:
    """A folder named after the settings, so that the same settings give the same folder."""
    words = [
        args.task,
        f"{args.memory}-{args.k}",
        args.algo,
        args.preset,
        f"{args.steps}-steps",
        f"seeds-{args.seed}-{args.seed + args.seeds - 1}",
        *(f"{name}-{value}" for name, value in sorted(overrides.items())),
    ]
    return Path("runs") / re.sub(r"[^\w.=-]+", "-", "_".join(words))


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected name=value, actual: {text!r}")
    return name, parse_literal(value)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
