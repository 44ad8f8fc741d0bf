"""An episode as data: what stood where, what was held, what was evicted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from adastack.tasks import FiniteTask, FiniteTaskEnv
from adastack.tasks.drawing.finite_task import colour_of, maze_cells, window
from adastack.tasks.finite import Picture
from adastack.tasks.spec import parse_spec
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
    picture = _attempt_picture(env)
    frames = [_frame(env, stack, info, picture)]
    for _ in range(max_steps):
        action, memory_action = player(stack.tolist())
        joint = env.action_form.join(action, memory_action)
        stack, reward, terminated, truncated, info = env.step(joint)
        frames[-1]["action"] = task.action_names[action]
        if info["attempt_over"] and task.continual:
            picture = _attempt_picture(env)
        frames.append(_frame(env, stack, info, picture, float(reward)))
        if terminated or truncated:
            break
    return {
        "task": task.name,
        "memory": rule,
        "k": stack_size,
        "symbols": symbols_of(task),
        "frames": frames,
    }


def symbols_of(task: FiniteTask) -> list[dict[str, str]]:
    """The name and the colour of each observation."""
    return [
        {"name": name, "colour": "#{:02x}{:02x}{:02x}".format(*colour_of(task, symbol))}
        for symbol, name in enumerate(task.observation_names)
    ]


def spelled(spec: str) -> str:
    """A task's name for people.

    Example:
        >>> spelled("passive-tmaze:length=16,continual=true")
        'passive-tmaze (length 16, continual)'
    """
    name, options = parse_spec(spec)
    words = ", ".join(n if value == "true" else f"{n} {value}" for n, value in options.items())
    return f"{name} ({words})" if words else name


def _frame(
    env: MemoryStack,
    stack: Any,
    info: dict[str, Any],
    picture: Picture | None,
    reward: float | None = None,
) -> dict[str, Any]:
    task, state = env.unwrapped.task, env.unwrapped.state  # type: ignore[attr-defined]
    ages = info["slot_ages"]
    frame: dict[str, Any] = {
        "slots": np.where(ages < 0, -1, stack).tolist(),
        "ages": ages.tolist(),
        "evicted": int(info["evicted_slot"]),
        "reward": reward,
        "over": bool(info["attempt_over"]),
        "success": bool(info["success"]),
    }
    if picture is not None:
        rows, columns = window(picture, state, WINDOW)
        cells = maze_cells(task, picture, state)
        _keep_cues(task, picture, state)
        agent = picture.agent[state] - (rows.start, columns.start)
        frame["cells"] = cells[rows, columns].tolist()
        frame["agent"] = agent.tolist()
        frame["more"] = [columns.start > 0, columns.stop < cells.shape[1]]
    return frame


def _keep_cues(task: FiniteTask, picture: Picture, state: int) -> None:
    """Leaves the cues on the map, where they stay when all is over and nothing is to be known."""
    for symbol, (row, column) in zip(task.cue[state], picture.cue_cells[state], strict=True):
        if symbol >= 0 and row >= 0 and column >= 0:
            picture.background[row, column] = symbol


def _attempt_picture(env: MemoryStack) -> Picture | None:
    """The part of the map that the attempt which begins now can visit.

    A maze whose length is drawn anew is shown at the length it has, with its cue where it stands.
    """
    task, state = env.unwrapped.task, env.unwrapped.state  # type: ignore[attr-defined]
    picture: Picture | None = task.picture
    if picture is None:
        return None
    visited = np.append(_reachable(task, state), state)
    rows, columns = picture.agent[visited].T
    background = np.full_like(picture.background, -1)
    background[rows, columns] = picture.background[rows, columns]
    background[rows[-1], columns[-1]] = task.observation[state]
    corner = np.array([rows.min(), columns.min()], np.int32)
    shown = background[corner[0] : rows.max() + 1, corner[1] : columns.max() + 1]
    cues = picture.cue_cells - corner
    cues[(cues >= shown.shape).any(axis=-1)] = -1
    return Picture(shown, picture.agent - corner, cues)


def _reachable(task: FiniteTask, state: int) -> Any:
    """The states that an attempt from this one may come to."""
    n_states = task.n_states
    origin, action, outcome = np.nonzero(task.probability > 0)
    edges = (np.ones(len(origin), np.bool_), (origin, task.next_state[origin, action, outcome]))
    graph = sparse.csr_matrix(edges, shape=(n_states, n_states))
    return breadth_first_order(graph, state, return_predecessors=False)
