"""``adastack diagnose``: which memory an environment needs, with evidence, in minutes."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from adastack.commands import (
    OF_A_MODULE,
    Output,
    add_env_argument,
    command_line,
    whole_number,
)
from adastack.commands.train import with_arguments
from adastack.diagnosis.diagnosis import MAX_K, MINUTES, Diagnosis, diagnose
from adastack.diagnosis.search import INTERRUPTED
from adastack.files import write_whole
from adastack.tasks.registry import resolve

DEFAULTS = {
    **{"minutes": None, "steps": None, "seeds": 3, "seed": 0, "max_k": MAX_K, "solved": None},
    **{"preset": "default", "out": None, "no_proof": False},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack diagnose``."""
    parser.add_argument(
        "task",
        metavar="ENV",
        help=f"a task with its options (see `adastack tasks`), a Gymnasium id, {OF_A_MODULE}",
    )
    parser.add_argument(
        "--minutes", type=float, help=f"when to stop ({MINUTES:.0f}, or never with --steps)"
    )
    parser.add_argument(
        "--steps",
        type=whole_number,
        help="steps of each seed in the longest training: the answer depends on the seeds alone",
    )
    parser.add_argument(
        "--seeds", type=whole_number, default=DEFAULTS["seeds"], help="seeds of each memory (3)"
    )
    parser.add_argument("--seed", type=whole_number, default=0, help="the first of them (0)")
    parser.add_argument(
        "--max-k",
        type=whole_number,
        default=DEFAULTS["max_k"],
        help=f"the largest stack to try ({MAX_K})",
    )
    parser.add_argument(
        "--solved",
        type=float,
        metavar="RETURN",
        help="a return that is as good as can be (the environment's reward_threshold)",
    )
    parser.add_argument("--no-proof", action="store_true", help="learn also what can be proved")
    parser.add_argument("--preset", default="default", help="settings of the learner (default)")
    add_env_argument(parser)
    parser.add_argument(
        "--out",
        type=Path,
        help="the folder of the page and the runs; the same again goes on (runs/diagnose_...)",
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Diagnoses, and writes the page."""
    args.task = with_arguments(args.task, args.env_arg)
    words = ["diagnose", args.task, args.preset, *(["learned"] if args.no_proof else [])]
    out = args.out or Path("runs") / re.sub(r"[^\w.=-]+", "-", "_".join(words))
    resolve(args.task)
    _check_folder(out)
    found = diagnose(
        args.task, minutes=args.minutes, steps=args.steps, seeds=args.seeds, seed=args.seed,
        max_k=args.max_k, solved=args.solved, prove_first=not args.no_proof, preset=args.preset,
        out=out, imports=args.imports,
    )  # fmt: skip
    found.command = command_line("diagnose", [args.task], args, DEFAULTS)
    return {**found.document(), "page": str(_write_page(found, out))}


def _check_folder(out: Path) -> None:
    """Makes the folder, before any work that could be lost."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out expects a folder, actual: the file {out}")
    out.mkdir(parents=True, exist_ok=True)


def _write_page(found: Diagnosis, out: Path) -> Path:
    path = out / "diagnosis.html"
    write_whole(path, found.page().html().encode())
    return path


def show(result: dict[str, Any]) -> None:
    """Prints the paragraph, and where the page is."""
    console = Output()
    console.print(result["paragraph"], highlight=False)
    console.print(f"\n{result['seconds']:.0f} s   open {result['page']}", highlight=False)


def exit_code(result: dict[str, Any]) -> int:
    """1 if it was interrupted or no memory could be trained; it prints what was found so far."""
    untrained = bool(result["failed"]) and not result["trials"]
    return int(result["stopped"] == INTERRUPTED or untrained)
