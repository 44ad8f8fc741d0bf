"""Learns a maze of 16 cells with three memories, tests them at a million, and shows what they keep.

python examples/demo.py --out demo
"""

import argparse
import io
import shutil
from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table

from adastack.progress import watch
from adastack.runs import Run, RunError
from adastack.training import evaluate, train
from adastack.viewer import Page
from adastack.viewer.show import show_of

TASK = "passive-tmaze:length=16"
LONG = "passive-tmaze:length=1000000"
MEMORIES = {"adaptive": 2, "frame": 2, "frame, as long as the maze": 16}
COLOURS = ("#0072b2", "#d55e00", "#009e73")


def learn(rule, k, args):
    """Trains all seeds of one memory; a run that exists is used again."""
    path = args.out / "runs" / f"{rule}-{k}"
    with watch(args.steps, f"{rule}({k})") as progress:
        train(
            task=TASK,
            memory=rule,
            stack_size=k,
            algo="sarsa",
            preset="robust",
            steps=args.steps,
            seeds=list(range(args.seeds)),
            path=path,
            overrides={},
            resume=True,
            progress=progress,
        )
    return Run.open(path)


def success(run, task):
    """Success averaged over the seeds, greedy."""
    rows = evaluate(run, task=task, episodes=20, greedy=True, seed=0)["seeds"]
    return float(np.mean([row["success"] for row in rows]))


def curves(runs):
    """Success while learning, as SVG: the mean over seeds, smoothed over 100 windows."""
    figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
    for colour, (name, run) in zip(COLOURS, runs.items(), strict=True):
        metrics = run.curves()
        mean = np.nanmean(metrics["success"], axis=0)
        width = min(100, len(mean))
        smooth = np.convolve(mean, np.ones(width) / width, mode="valid")
        axis.plot(metrics["step"][width - 1 :], smooth, color=colour, label=name)
    axis.set(xlabel="steps", ylabel="success while exploring", ylim=(0, 1.05))
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, loc="lower right")
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def write_page(rows, runs, args):
    """The page: the table, the curves, and an episode of each memory."""
    page = Page("What is worth remembering?")
    page.text(
        "A cue at the start of a corridor says which way to turn at its end. Each memory learned "
        "in a maze of 16 cells and was then tested, without learning, in a maze of a million."
    )
    page.table(["memory", "slots", "success at 16", "success at 1,000,000"], rows)
    page.svg(curves(runs), f"Learning, mean of {args.seeds} seeds")
    page.heading("What it keeps")
    page.text(
        "The framed slot is the current observation. A red cross marks where the slot stood that "
        "was evicted for it."
    )
    page.episodes({name: show_of(run).episode(seed=1) for name, run in runs.items()})
    page.heading("Again")
    page.code(f"python examples/demo.py --seeds {args.seeds} --steps {args.steps}")
    page.write(args.out / "index.html")


def main():
    """Learns, tests, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="where the page goes")
    parser.add_argument("--seeds", type=int, default=10, help="seeds of each memory")
    parser.add_argument("--steps", type=int, default=1_000_000, help="steps of each seed")
    parser.add_argument("--again", action="store_true", help="forget earlier runs first")
    args = parser.parse_args()
    if args.again:
        shutil.rmtree(args.out / "runs", ignore_errors=True)
    rows, runs = [], {}
    for name, k in MEMORIES.items():
        rule = name.split(",")[0]
        try:
            run = runs[f"{rule}, {k} slots"] = learn(rule, k, args)
        except (RunError, ValueError) as error:
            parser.error(str(error))  # With the options, of which --again may help.
        scores = [success(run, task) for task in (TASK, LONG)]
        rows.append([name, str(k), *(f"{score:.0%}" for score in scores)])
    table = Table("memory", "slots", "success at 16", "success at 1,000,000")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    write_page(rows, runs, args)
    print(f"Watch what they remember: open {args.out / 'index.html'} in a browser")


if __name__ == "__main__":
    main()
