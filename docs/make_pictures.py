"""Draws docs/images/remember.png: the same maze, two slots, two memories.

Run: python docs/make_pictures.py
"""

from pathlib import Path

import matplotlib.pyplot as plt

from adastack.tasks import FiniteTaskEnv, passive_tmaze
from adastack.wrappers import MemoryStack

LENGTH = 8
MOMENTS = {0: "the cue is shown", 4: "in the corridor", LENGTH - 1: "at the junction"}
PLAYERS = {
    "adaptive": "adaptive stack, k = 2: keeps what matters",
    "frame": "frame stack, k = 2: keeps what is recent",
}


def frames(rule: str) -> list:
    """Pictures of one episode in which an adaptive player keeps the cue."""
    task = FiniteTaskEnv(passive_tmaze(length=LENGTH), render_mode="rgb_array")
    env = MemoryStack(task, 2, rule=rule, padding_type="empty")
    env.reset(seed=0)
    pictures = [env.render()]
    for step in range(LENGTH - 1):
        keep = 0 if step == 0 else 1
        env.step(0 if rule == "frame" else [0, keep])
        pictures.append(env.render())
    return pictures


def main() -> None:
    """Draws the figure."""
    figure, axes = plt.subplots(
        len(MOMENTS), len(PLAYERS), figsize=(9.6, 8.6), facecolor="#fbfbf8", layout="constrained"
    )
    for column, (rule, title) in enumerate(PLAYERS.items()):
        pictures = frames(rule)
        for row, (moment, what) in enumerate(MOMENTS.items()):
            axis = axes[row, column]
            axis.imshow(pictures[moment], interpolation="lanczos")
            axis.set_axis_off()
            if column == 0:
                axis.text(0, 26, what, fontsize=11, color="#606060", va="bottom")
        axes[0, column].set_title(title, fontsize=13, loc="left", pad=14)
    path = Path(__file__).parent / "images" / "remember.png"
    figure.savefig(path, dpi=110)
    print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main()
