"""``adastack evaluate``: test a run, also on other tasks and lengths."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from adastack.commands import train
from adastack.commands.learners import learner_of
from adastack.runs import Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack evaluate``."""
    parser.add_argument("run", type=Path, help="the folder of a run")
    parser.add_argument("--task", help="another task: passive-tmaze:length=1000000")
    parser.add_argument("--episodes", type=int, default=100, help="attempts for each seed (100)")
    parser.add_argument("--sampled", action="store_true", help="draw actions; greedy if not given")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the test (0)")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Plays the run's policies and returns what they came to."""
    if args.episodes < 1:
        raise ValueError(f"--episodes must be at least 1, actual: {args.episodes}")
    found = Run.open(args.run)
    result: dict[str, Any] = learner_of(str(found.settings.get("algo"))).evaluate(
        found, task=args.task, episodes=args.episodes, greedy=not args.sampled, seed=args.seed
    )
    return result


def show(result: dict[str, Any]) -> None:
    """Prints a row for each seed."""
    train.show(result)
