"""An episode as data: what stood where, what was held, what was given up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adastack.tasks import FiniteTask, FiniteTaskEnv
from adastack.tasks.drawing import colour_of, maze_cells, window
from adastack.wrappers import MemoryStack

Player = Callable[[Sequence[int]], tuple[int, int]]
"""From the observations in a stack, oldest first, to (action, memory action)."""

WINDOW = (15, 20)
"""Rows and columns of the map that a page shows at once."""


def record(
    task: FiniteTask,
    rule: str,
    stack_size: int,
    player: Player,
    *,
    seed: int = 0,
    max_steps: int = 200,
) -> dict[str, Any]:
    """Plays one episode and returns it as a JSON-able document for the page.

    Args:
        task: The task.
        rule: The name of the memory rule.
        stack_size: The number of slots, k.
        player: Who plays.
        seed: The seed of the environment.
        max_steps: Where to stop at the latest; a continual task never ends by itself.
    """
    env = MemoryStack(FiniteTaskEnv(task), stack_size, rule=rule, padding_type="empty")
    stack, info = env.reset(seed=seed)
    frames = [_frame(env, stack, info)]
    for _ in range(max_steps):
        action, memory_action = player(stack.tolist())
        joint = env.action_form.join(action, memory_action)
        stack, reward, terminated, truncated, info = env.step(joint)
        frames[-1]["action"] = task.action_names[action]
        frames.append(_frame(env, stack, info, float(reward)))
        if terminated or truncated:
            break
    return {
        "task": task.name,
        "memory": rule,
        "k": stack_size,
        "symbols": [
            {"name": name, "colour": "#{:02x}{:02x}{:02x}".format(*colour_of(task, symbol))}
            for symbol, name in enumerate(task.observation_names)
        ],
        "frames": frames,
    }


def _frame(
    env: MemoryStack, stack: Any, info: dict[str, Any], reward: float | None = None
) -> dict[str, Any]:
    task, state = env.unwrapped.task, env.unwrapped.state  # type: ignore[attr-defined]
    ages = info["slot_ages"]
    frame: dict[str, Any] = {
        "slots": np.where(ages < 0, -1, stack).tolist(),
        "ages": ages.tolist(),
        "evicted": int(info["evicted_slot"]),
        "reward": reward,
        "over": bool(info["attempt_over"]),
    }
    if task.picture is not None:
        rows, columns = window(task.picture, state, WINDOW)
        cells = maze_cells(task, task.picture, state)
        agent = task.picture.agent[state] - (rows.start, columns.start)
        frame["cells"] = cells[rows, columns].tolist()
        frame["agent"] = agent.tolist()
        frame["more"] = [columns.start > 0, columns.stop < cells.shape[1]]
    return frame
