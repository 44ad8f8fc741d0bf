"""The longest maze that is learned on every seed within 10^6 steps, by memory and learner.

Run: python docs/make_horizon_picture.py                 draws images/horizons.png from horizons.csv
     python docs/make_horizon_picture.py --measure NAME  measures a learner first; NAMES lists them

A row of horizons.csv is one run: how many of its seeds succeed in at least 99% of the attempts of
their greedy policies. A learner is measured on longer and longer mazes, until one is too long.
"""

import argparse
import csv
import json
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
TABLE = FOLDER / "horizons.csv"
FIELDS = ("learner", "task", "length", "steps", "seeds", "first_seed", "solved", "command")
LENGTHS = {
    "passive-tmaze": (16, 64, 256, 1500, 5000, 10_000),
    "active-tmaze": (6, 16, 32, 64, 100, 128, 256, 500, 1000),
}
SEEDS, FIRST_SEED, STEPS = 10, 3000, "1e6"


class Learner(NamedTuple):
    """What is measured."""

    label: str
    options: str
    """Of ``adastack train``; LENGTH stands for the length of the maze."""


LEARNERS = {
    "table": Learner("AS(2), table", "--k 2 --algo sarsa"),
    "table-robust": Learner("AS(2), table, every step learned from",
                            "--k 2 --algo sarsa --preset robust"),
    "table-frames": Learner("FS(length), table", "--memory frame --k LENGTH --algo sarsa"),
    "ppo": Learner("AS(2), PPO with an MLP", "--k 2 --algo ppo"),
    "ppo-robust": Learner("AS(2), PPO, every step learned from",
                          "--k 2 --algo ppo --preset robust"),
    "ppo-frames": Learner("FS(length), PPO with an MLP", "--memory frame --k LENGTH --algo ppo"),
    "ppo-gru": Learner("no stack, PPO with a GRU", "--memory none --cell gru --algo ppo"),
}  # fmt: skip


class Published(NamedTuple):
    """A length that others report."""

    label: str
    task: str
    length: int


PUBLISHED = (
    Published("Ni et al. 2023, Transformer, 10$^7$ steps", "passive-tmaze", 1500),
    Published("Ni et al. 2023, longest tried, 8 x 10$^6$ steps", "active-tmaze", 500),
    Published("ELMUR 2025, offline", "passive-tmaze", 1_000_000),
)


def measured(name: str, task: str, length: int) -> dict[str, Any]:
    """One run: a row of the table."""
    options = LEARNERS[name].options.replace("LENGTH", str(length))
    command = (
        f"adastack train {task}:length={length} {options} --steps {STEPS} "
        f"--seeds {SEEDS} --seed {FIRST_SEED}"
    )
    with tempfile.TemporaryDirectory() as folder:
        words = [*shlex.split(command), "--out", f"{folder}/run", "--json"]
        found = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    solved = sum(seed["success"] >= 0.99 for seed in found["seeds"])
    values = (name, task, length, STEPS, SEEDS, FIRST_SEED, solved, command)
    return dict(zip(FIELDS, values, strict=True))


def measure(name: str, task: str) -> None:
    """Longer and longer mazes until one is not learned on every seed; known ones are skipped."""
    known = {(row["learner"], row["task"], int(row["length"])): row for row in rows()}
    for length in LENGTHS[task]:
        row: dict[str, Any] = known.get((name, task, length)) or measured(name, task, length)
        if (name, task, length) not in known:
            with TABLE.open("a", newline="") as file:
                csv.DictWriter(file, FIELDS, lineterminator="\n").writerow(row)
        print(name, task, length, f"{row['solved']} of {row['seeds']}", flush=True)
        if int(row["solved"]) < int(row["seeds"]):
            return


def rows() -> list[dict[str, str]]:
    """The table."""
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def longest(name: str, task: str) -> tuple[int | None, bool]:
    """The longest maze learned on every seed, as are all shorter ones; whether a longer failed."""
    reached = None
    mine = [row for row in rows() if (row["learner"], row["task"]) == (name, task)]
    for row in sorted(mine, key=lambda row: int(row["length"])):
        if row["solved"] != row["seeds"]:
            return reached, True
        reached = int(row["length"])
    return reached, False


def note(axes: Any, text: str, x: float, y: float, color: str) -> None:
    """A number beside its point."""
    axes.annotate(
        text, (x, y), (8, 0), textcoords="offset points", va="center", fontsize=8, color=color
    )


def draw() -> None:
    """Draws the picture."""
    figure, axes = plt.subplots(figsize=(9, 4.6))
    names = [name for name in LEARNERS if any(row["learner"] == name for row in rows())]
    labels = [LEARNERS[name].label for name in names] + [p.label for p in PUBLISHED]
    looks: dict[str, Any] = {
        "passive-tmaze": {"marker": "o", "color": "#1f6fb4"},
        "active-tmaze": {"marker": "^", "color": "#d1611f"},
    }
    for y, name in enumerate(names):
        for task, shift in (("passive-tmaze", -0.14), ("active-tmaze", 0.14)):
            length, failed = longest(name, task)
            if length is not None:
                axes.plot([2, length], [y + shift] * 2, color=looks[task]["color"], alpha=0.35)
                axes.plot(length, y + shift, markersize=8, linestyle="", **looks[task])
                text = f"{length:,}" if failed else f"at least {length:,}"
                note(axes, text, length, y + shift, "black")
            elif failed:
                note(axes, "none", 2, y + shift, looks[task]["color"])
    for y, point in enumerate(PUBLISHED, start=len(names)):
        look = {**looks[point.task], "color": "0.45"}
        axes.plot(point.length, y, markersize=8, linestyle="", fillstyle="none", **look)
        note(axes, f"{point.length:,}", point.length, y, "0.35")
    axes.axhline(len(names) - 0.5, color="0.7", linewidth=0.8)
    for task, text in (("passive-tmaze", "Passive-TMaze"), ("active-tmaze", "Active-TMaze")):
        axes.plot([], [], markersize=8, linestyle="", label=text, **looks[task])
    axes.plot([], [], marker="o", color="0.45", fillstyle="none", linestyle="", markersize=8,
              label="published, budget as named")  # fmt: skip
    axes.set(xscale="log", xlim=(2, 6e6), yticks=range(len(labels)), yticklabels=labels)
    axes.set_xlabel("longest maze learned on each of 10 or 20 seeds within 10$^6$ steps (cells)")
    axes.invert_yaxis()
    axes.legend(fontsize=8, loc="upper right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(FOLDER / "images" / "horizons.png", dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", nargs="*", choices=LEARNERS, default=[])
    parser.add_argument("--task", choices=LENGTHS, action="append", help="one kind of maze (both)")
    given = parser.parse_args()
    for name in given.measure:
        for task in given.task or LENGTHS:
            measure(name, task)
    draw()
