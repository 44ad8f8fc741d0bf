"""The learning results of docs/worlds.md, made again.

python benchmarks/worlds.py train cube-adaptive [--seeds 3] [--steps 1e6] [--runs runs/worlds]
python benchmarks/worlds.py show

`train` trains (or goes on training) one arm of an experiment, tests it and saves
results/worlds/NAME.json; `show` prints the tables and draws docs/images/worlds-learning.svg from
what is saved.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adastack.deep.learner import evaluate, train
from adastack.deep.settings import default_preset
from adastack.progress import watch
from adastack.runs import Run

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results" / "worlds"
FIGURE = ROOT / "docs" / "images" / "worlds-learning.svg"
POINTS = 200
COLOURS = {"adaptive": "#0072B2", "frame": "#D55E00", "frame-50": "#CC79A7"}
"""Told apart by colour-blind readers too."""


@dataclass(frozen=True)
class Arm:
    """One memory in one world."""

    task: str
    memory: str
    k: int
    tests: tuple[tuple[str, int], ...] = ()
    """Other specs of the world to test on, and how many attempts of each."""
    metric: str = "success"
    greedy: bool = True
    """Whether the tests take the likeliest action or draw as in training."""

    @property
    def label(self) -> str:
        """As the paper writes it."""
        return f"{'AS' if self.memory == 'adaptive' else 'FS'}({self.k})"

    @property
    def command(self) -> str:
        """The same on the command line."""
        return f"adastack train {self.task} --memory {self.memory} --k {self.k} --algo ppo"


FETCH_TESTS = (
    ("fetch-reach:goal_period=50", 96),
    ("fetch-reach:goal_period=1000", 16),
    ("fetch-reach:goal_period=1000000", 4),
)
GRID = "minigrid-memory:size=13,random_length=true"
GRIDS = (
    ("minigrid-memory:size=7", 192),
    ("minigrid-memory:size=13", 192),
    ("minigrid-memory:size=17,random_length=true", 192),
)
CUBES = tuple((f"cube:depth={depth}", 512) for depth in (1, 2, 3))

ARMS = {
    "cube-adaptive": Arm("cube:depth=3,random_depth=true", "adaptive", 10, CUBES),
    "cube-frame": Arm("cube:depth=3,random_depth=true", "frame", 10, CUBES),
    "minigrid-adaptive": Arm(GRID, "adaptive", 2, GRIDS, greedy=False),
    "minigrid-frame": Arm(GRID, "frame", 2, GRIDS, greedy=False),
    "velocity-adaptive": Arm("velocity-only-cartpole", "adaptive", 2, metric="return"),
    "velocity-frame": Arm("velocity-only-cartpole", "frame", 2, metric="return"),
    "position-adaptive": Arm("position-only-cartpole", "adaptive", 2, metric="return"),
    "position-frame": Arm("position-only-cartpole", "frame", 2, metric="return"),
    "fetch-adaptive": Arm("fetch-reach", "adaptive", 4, FETCH_TESTS),
    "fetch-frame": Arm("fetch-reach", "frame", 4, FETCH_TESTS),
    "fetch-frame-50": Arm("fetch-reach", "frame", 50, FETCH_TESTS),
}


def train_arm(name: str, seeds: int, steps: int, folder: Path) -> None:
    """Trains an arm, tests it and saves what came out."""
    arm = ARMS[name]
    with watch(steps) as progress:
        result = train(
            task=arm.task, memory=arm.memory, stack_size=arm.k, algo="ppo",
            preset=default_preset(arm.task), steps=steps, seeds=list(range(seeds)),
            path=folder / name, overrides={}, resume=True, progress=progress,
        )  # fmt: skip
    run = Run.open(folder / name)
    tests: dict[str, Any] = {}
    document = {
        "command": f"{arm.command} --steps {steps} --seeds {seeds}",
        "settings": result["settings"],
        "steps": result["steps"],
        "steps_per_second": round(result["steps_per_second"]),
        "seeds": result["seeds"],
        "curve": thinned(run.load_metrics(), arm.metric),
        "tests": tests,
    }
    _save(name, document)
    for task, episodes in arm.tests:
        played = evaluate(run, task=task, episodes=episodes, greedy=arm.greedy, seed=1)
        tests[task] = played["seeds"]
        _save(name, document)


def thinned(metrics: dict[str, Any], metric: str) -> dict[str, Any]:
    """A curve of at most `POINTS` points: means over the attempts that ended near each."""
    step, ended = metrics["step"], metrics["attempts"]
    size = -(-len(step) // POINTS)
    starts = np.arange(0, len(step), size)
    total = np.add.reduceat(ended, starts, axis=1)
    value = np.add.reduceat(np.nan_to_num(metrics[metric]) * ended, starts, axis=1)
    mean = np.where(total > 0, value / np.maximum(total, 1), np.nan)
    regret = np.add.reduceat(metrics["memory_regret"], starts, axis=1) / size
    return {
        "metric": metric,
        "step": step[np.minimum(starts + size, len(step)) - 1].tolist(),
        "mean": _rounded(mean),
        "memory_regret": _rounded(regret),
    }


def _rounded(rows: Any) -> list[list[float | None]]:
    return [[None if np.isnan(x) else round(float(x), 4) for x in row] for row in rows]


def _save(name: str, document: dict[str, Any]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(document) + "\n")


def show() -> None:
    """Prints the tables and draws the curves."""
    found = {
        name: json.loads((RESULTS / f"{name}.json").read_text())
        for name in ARMS
        if (RESULTS / f"{name}.json").exists()
    }
    print("| trained on | memory | steps | at the end | each seed | greedy | each seed | regret |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, document in found.items():
        arm, rows = ARMS[name], document["seeds"]
        steps = f"{document['steps']:.1e}"
        ends = [{"end": value} for value in at_the_end(document["curve"])]
        cells = f"{_cells(ends, 'end')} | {_cells(rows, arm.metric)} | {_regret(rows)}"
        print(f"| {arm.task} | {arm.label} | {steps} | {cells} |")
    print("\n| trained on | memory | tested on | success | each seed | memory regret |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, document in found.items():
        arm = ARMS[name]
        for task, rows in document["tests"].items():
            line = f"{_cells(rows, 'success')} | {_regret(rows)}"
            print(f"| {arm.task} | {arm.label} | {task} | {line} |")
    draw(found)


def at_the_end(curve: dict[str, Any]) -> list[float]:
    """The mean of each seed over the last tenth of its training, actions drawn."""
    rows = np.array(curve["mean"], float)
    return [float(np.nanmean(row[-max(1, len(row) // 10) :])) for row in rows]


def _cells(rows: list[dict[str, Any]], metric: str) -> str:
    values = [row[metric] for row in rows]
    if not values:
        return "not finished | -"
    return f"{np.mean(values):.3f} | {', '.join(f'{v:.3f}' for v in values)}"


def _regret(rows: list[dict[str, Any]]) -> str:
    values = [row["memory_regret"] for row in rows]
    return "-" if not values or None in values else f"{np.mean(values):.2f}"


def draw(found: dict[str, Any]) -> None:
    """One panel for each world: the mean over the seeds, and each seed."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "worlds"
    from matplotlib import pyplot

    tasks = list(dict.fromkeys(ARMS[name].task for name in found))
    figure, axes = pyplot.subplots(
        1, len(tasks), figsize=(3.2 * len(tasks), 2.9), layout="constrained", squeeze=False
    )
    for axis, task in zip(axes[0], tasks, strict=True):
        for name in (name for name in found if ARMS[name].task == task):
            curve, arm = found[name]["curve"], ARMS[name]
            steps = np.array(curve["step"]) / 1e6
            seeds = np.array(curve["mean"], float)
            colour = COLOURS[name.split("-", 1)[1]]
            axis.plot(steps, seeds.T, color=colour, alpha=0.3, linewidth=0.8)
            axis.plot(steps, seeds.mean(axis=0), color=colour, label=arm.label)
            axis.set(title=task.partition(":")[0], xlabel="million steps", ylabel=curve["metric"])
        axis.legend(frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=("train", "show"))
    parser.add_argument("arm", choices=ARMS, nargs="?")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=float, default=1e6)
    parser.add_argument("--runs", type=Path, default=Path("runs/worlds"))
    arguments = parser.parse_args()
    if arguments.verb == "show":
        show()
    elif arguments.arm is None:
        parser.error(f"expected an arm of {', '.join(ARMS)}")
    else:
        train_arm(arguments.arm, arguments.seeds, int(arguments.steps), arguments.runs)
