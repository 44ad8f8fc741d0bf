"""``adastack find-k``: the smallest stack that is enough, learned or proved."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from adastack.commands import Output, add_env_argument, whole_number
from adastack.commands.train import add_learner_arguments, learner_settings, with_arguments
from adastack.diagnosis.memories import NO_CELL, Memory
from adastack.diagnosis.trials import GOOD, Learner
from adastack.lab.statistics import difference_interval, summary
from adastack.progress import watch
from adastack.tasks.registry import make_task, resolve

PATIENCE = 2
"""How many larger stacks in a row must not help before the search stops."""
KNOWN = ("success", "optimality")
"""What is known on some tasks only."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack find-k``."""
    parser.add_argument("task", help="the task, with its options: passive-tmaze:length=16")
    add_learner_arguments(parser)
    add_env_argument(parser)
    parser.add_argument("--max-k", type=int, default=6, help="the largest stack to try (6)")
    parser.add_argument("--steps", type=whole_number, default=1_000_000, help="of each run (1e6)")
    parser.add_argument("--seeds", type=int, default=10, help="seeds of each stack (10)")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="where runs are kept")
    parser.add_argument("--no-proof", action="store_true", help="do not ask the theory for kappa")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Trains with larger and larger stacks until the return stops improving."""
    if args.max_k < 1 or args.seeds < 2:
        raise ValueError(
            f"expected --max-k of at least 1 and --seeds of at least 2, "
            f"actual: {args.max_k} and {args.seeds}"
        )
    args.task = with_arguments(args.task, args.env_arg)
    overrides = learner_settings(args)
    words = ["find-k", args.task, args.algo, args.net, args.preset]
    learner = Learner(
        task=resolve(args.task),
        algo=args.algo,
        preset=args.preset,
        seeds=range(args.seeds),
        # The same for the same settings, so that a search that was stopped is resumed.
        folder=args.out / re.sub(r"[^\w.=-]+", "-", "_".join(filter(None, words))),
        overrides=overrides,
        imports=args.imports,
    )
    rows: list[dict[str, Any]] = []
    for k in range(1, args.max_k + 1):
        rows.append(_learned(learner, Memory(args.memory, k, args.cell or NO_CELL), args.steps))
        if _stop(rows):
            break
    return {
        "task": args.task,
        "memory": args.memory,
        "algo": args.algo,
        "k": _answer(rows),
        "stacks": rows,
        "kappa": None if args.no_proof else _proved(args),
    }


def _learned(learner: Learner, memory: Memory, steps: int) -> dict[str, Any]:
    """The return of one stack size: mean over the seeds with its 95% interval."""
    with watch(steps, f"k = {memory.k}") as progress:
        result = learner.result(memory, steps, progress)
    returns = [row["return"] for row in result["seeds"]]
    found = summary(returns)
    return {
        "k": memory.k,
        "return": found.mean,
        "low": found.interval.low,
        "high": found.interval.high,
        "returns": returns,
        "success": _mean(result["seeds"], "success"),
        "optimality": _mean(result["seeds"], "optimality"),
        "run": result["run"],
    }


def _mean(seeds: list[dict[str, Any]], metric: str) -> float | None:
    """The mean over the seeds; None if a seed's is not known."""
    known = [row[metric] for row in seeds if row.get(metric) is not None]
    return float(np.mean(known)) if len(known) == len(seeds) else None


def _first_enough(rows: list[dict[str, Any]]) -> int:
    """The first stack that the best one is not above, with 95% confidence, by more than allowed."""
    best = max(rows, key=lambda row: float(row["return"]))
    allowed = (1 - GOOD) * abs(best["return"])
    return next(
        i
        for i, row in enumerate(rows)
        if difference_interval(best["returns"], row["returns"]).low <= allowed
    )


def _answer(rows: list[dict[str, Any]]) -> int | None:
    """The smallest k that is enough; None if it may be that nothing was learned.

    That no stack beats k = 1 says that one slot is enough only where it is known to be good.
    """
    first = _first_enough(rows)
    good = any((rows[0].get(name) or 0) >= GOOD for name in KNOWN)
    return rows[first]["k"] if first > 0 or good else None


def _stop(rows: list[dict[str, Any]]) -> bool:
    """Whether the optimum is reached, or larger stacks have stopped helping."""
    optimality = rows[-1]["optimality"]
    if optimality is not None and optimality >= GOOD:
        return True
    first = _first_enough(rows)
    # Nothing above the first stack is a flat start rather than a plateau: some tasks need several
    # slots before any of them helps.
    return first > 0 and len(rows) - 1 - first >= PATIENCE


def _proved(args: argparse.Namespace) -> int | None:
    """Kappa, where the theory can prove it."""
    from adastack.theory.kappa import kappa

    try:
        return kappa(make_task(args.task), args.memory, args.max_k).kappa
    except ValueError:
        return None


def show(result: dict[str, Any]) -> None:
    """Prints the stacks that were tried and the answer."""
    title = f"find-k {result['task']}, {result['algo']}"
    known = {"success": "success\nfraction", "optimality": "optimality\nfraction"}
    table = Table("k", "return\nper attempt", "95% interval", *known.values(), title=title)
    for row in result["stacks"]:
        interval = f"{row['low']:.3f} .. {row['high']:.3f}"
        cells = ["-" if row[name] is None else f"{row[name]:.3f}" for name in known]
        table.add_row(str(row["k"]), f"{row['return']:.3f}", interval, *cells)
    console = Output()
    console.print(table)
    proved = result["kappa"]
    beside = "not proved here" if proved is None else f"proved to be {proved}"
    console.print(f"{_verdict(result)}; kappa is {beside}")


def _verdict(result: dict[str, Any]) -> str:
    best = max(row["return"] for row in result["stacks"])
    if result["k"] is None:
        return (
            f"undecided: no stack beat k = 1 (best return {best:.3f}): either one slot is enough, "
            "or nothing was learned; try more --steps, another --algo or a larger --max-k"
        )
    return f"smallest stack that does as well as any tried (return {best:.3f}): k = {result['k']}"
