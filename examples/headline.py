"""The paper's headline: trained in mazes of length 16, tested in mazes of a million cells.

Adaptive stacks of two slots, read by an MLP, an LSTM and a Transformer, beside a frame stack of 16
slots, which is exactly enough for the maze it was trained in.

    python examples/headline.py --seeds 10 --steps 1e6
"""

import argparse
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from adastack.deep.learner import evaluate, train
from adastack.progress import watch
from adastack.runs import Run

AGENTS = [
    ("adaptive", 2, "mlp"),
    ("adaptive", 2, "lstm"),
    ("adaptive", 2, "transformer"),
    ("frame", 16, "mlp"),
]


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2, help="seeds of each agent")
    parser.add_argument("--steps", type=float, default=2e5, help="steps of each seed")
    parser.add_argument("--length", type=int, default=10**6, help="length of the test maze")
    parser.add_argument("--agents", type=int, default=len(AGENTS), help="how many of the agents")
    parser.add_argument("--out", type=Path, help="where to keep the runs; thrown away if not given")
    return parser.parse_args()


def success(memory, k, net, args, folder):
    """Success in the maze it was trained in and in the long one, averaged over the seeds."""
    path = folder / f"headline-{memory}-{k}-{net}"
    with watch(int(args.steps), f"{memory}({k}) {net}") as progress:
        train(
            task="passive-tmaze:length=16",
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
    run = Run.open(path)
    found = []
    for length, episodes in ((16, 100), (args.length, 20)):
        task = f"passive-tmaze:length={length}"
        rows = evaluate(run, task=task, episodes=episodes, greedy=True, seed=1)["seeds"]
        found.append(sum(row["success"] for row in rows) / len(rows))
    return found


def main():
    """Trains, tests and prints the table."""
    args = arguments()
    table = Table("memory", "network", "length 16", f"length {args.length:,}")
    with tempfile.TemporaryDirectory() as scratch:
        for memory, k, net in AGENTS[: args.agents]:
            short, long = success(memory, k, net, args, args.out or Path(scratch))
            table.add_row(f"{memory}({k})", net, f"{short:.0%}", f"{long:.0%}")
    Console().print(table)


if __name__ == "__main__":
    main()
