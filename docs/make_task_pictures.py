"""Draws one picture of each task, with the memory of an agent that plays it well.

Run: python docs/make_task_pictures.py
"""

from pathlib import Path

import matplotlib.image
import numpy as np

from adastack.tasks import FiniteTaskEnv, make_task
from adastack.wrappers import AdaptiveStack

UP, RIGHT, DOWN, LEFT = range(4)

SCENES: dict[str, tuple[str, int, list[tuple[int, int]], int]] = {
    "passive-tmaze": ("passive-tmaze:length=8", 2, [(UP, 0), *[(UP, 1)] * 6], 1),
    "active-tmaze": ("active-tmaze", 2, [(LEFT, 1), (RIGHT, 0), (RIGHT, 1), (RIGHT, 1)], 0),
    "xormaze": ("xormaze", 3, [(LEFT, 2), (RIGHT, 0), (RIGHT, 2), (LEFT, 0)], 2),
    "heaven-hell": (
        "heaven-hell",
        2,
        [*zip([DOWN, RIGHT, RIGHT, LEFT, LEFT, UP, UP], [1, 1, 1, 0, 1, 1, 1], strict=True)],
        0,
    ),
    "office": (
        "office",
        2,
        [*zip([LEFT, LEFT, UP, DOWN, RIGHT, RIGHT], [1, 1, 1, 0, 1, 1], strict=True)],
        0,
    ),
    "key-order": (
        "key-order",
        2,
        [*zip([LEFT] * 2 + [RIGHT] * 4 + [LEFT] * 2, [1, 1, 0, 1, 1, 1, 0, 1], strict=True)],
        0,
    ),
    "repeat-first": ("repeat-first", 2, [(0, 0), (0, 1), (0, 1)], 0),
    "memory-length": ("memory-length", 2, [(0, 0), *[(0, 1)] * 15], 0),
}
"""Each picture's task, stack size, the actions (move, slot to give up) that lead to it, seed."""


def main() -> None:
    """Draws the pictures."""
    folder = Path(__file__).parent / "images"
    for name, (spec, stack_size, actions, seed) in SCENES.items():
        task = FiniteTaskEnv(make_task(spec), render_mode="rgb_array")
        env = AdaptiveStack(task, stack_size, padding_type="empty")
        env.reset(seed=seed)
        for action in actions:
            env.step(np.array(action))
        matplotlib.image.imsave(folder / f"{name}.png", env.render())
    print(f"wrote {len(SCENES)} pictures")


if __name__ == "__main__":
    main()
