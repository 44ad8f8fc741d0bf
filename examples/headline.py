"""The paper's headline: trained in mazes of length 16, tested in mazes of a million cells.

Adaptive stacks of two slots, read by an MLP, an LSTM and a Transformer, beside a frame stack of 16
slots, which is exactly enough for the maze it was trained in.

    python examples/headline.py
"""

import argparse
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from adastack.progress import watch
from adastack.runs import Run
from adastack.training import evaluate, train

AGENTS = [
    ("adaptive", 2, "mlp"),
    ("adaptive", 2, "lstm"),
    ("adaptive", 2, "transformer"),
    ("frame", 16, "mlp"),
]
TRAINED = 16


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="seeds of each agent (3)")
    parser.add_argument("--steps", type=float, default=2e5, help="steps of each seed (2e5)")
    parser.add_argument("--length", type=float, default=1e6, help="length of the test maze (1e6)")
    parser.add_argument("--agents", type=int, default=len(AGENTS), help="how many of the agents")
    parser.add_argument("--out", type=Path, help="where to keep the runs; thrown away if not given")
    return parser.parse_args()


def trained(memory, k, net, args, folder):
    """A run of some seeds in the short maze; one that is already there goes on."""
    path = folder / f"headline-{memory}-{k}-{net}"
    with watch(int(args.steps), f"{memory}({k}) {net}") as progress:
        train(
            task=f"passive-tmaze:length={TRAINED}",
            memory=memory,
            stack_size=k,
            algo="ppo",
            preset="robust",
            steps=int(args.steps),
            seeds=list(range(args.seeds)),
            path=path,
            overrides={"net": net},
            resume=path.exists(),
            progress=progress,
        )
    return Run.open(path)


def success(run, length):
    """The exact success of every seed's policy in a maze of some length."""
    task = f"passive-tmaze:length={length}"
    rows = evaluate(run, task=task, episodes=1, greedy=True, seed=0)["seeds"]
    return [row["success"] for row in rows]


def spoken(found):
    """The mean, and how many seeds always succeed."""
    always = sum(value == 1 for value in found)
    return f"{sum(found) / len(found):.0%} ({always}/{len(found)})"


def main():
    """Trains, tests and prints the table."""
    args = arguments()
    length, console = int(args.length), Console()
    table = Table(
        "memory", "network", f"length {TRAINED}", f"length {length:,}", "minutes",
        title=f"success (seeds that always succeed), trained at length {TRAINED}",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        for memory, k, net in AGENTS[: args.agents]:
            began = time.perf_counter()
            run = trained(memory, k, net, args, args.out or Path(scratch))
            short, long = success(run, TRAINED), success(run, length)
            minutes = (time.perf_counter() - began) / 60
            table.add_row(f"{memory}({k})", net, spoken(short), spoken(long), f"{minutes:.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
