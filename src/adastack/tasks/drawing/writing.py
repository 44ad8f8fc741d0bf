"""Finite tasks and memories as plain text."""

from __future__ import annotations

from adastack.tasks.drawing.canvas import Slots
from adastack.tasks.drawing.finite_task import is_place, maze_cells, window
from adastack.tasks.finite import FiniteTask, Picture

AGENT, WALL, FLOOR = "@", " ", "."


def write(task: FiniteTask, state: int, memory: Slots | None = None) -> str:
    """Writes the task in one hidden state and, if there is one, the memory below it.

    Each cell is the initial of what it shows, ``@`` is the agent. In the memory ``>`` stands before
    the current observation and ``x`` where a slot was just evicted.

    Example:
        >>> from adastack.tasks import passive_tmaze
        >>> from adastack.tasks.drawing.canvas import Slots
        >>> from adastack.tasks.drawing.writing import write
        >>> print(write(passive_tmaze(length=4), 2, Slots((2, 0), ages=(1, 0), evicted=0)))
           R
        R@.B
           G
        sees: grey
        memory: x [red 1] > [grey 0]
    """
    lines = [] if task.picture is None else _maze(task, task.picture, state)
    lines.append(f"sees: {task.observation_names[task.observation[state]]}")
    if memory is not None:
        lines.append(_memory(task, memory))
    return "\n".join(lines)


def _maze(task: FiniteTask, picture: Picture, state: int) -> list[str]:
    rows, columns = window(picture, state)
    glyphs = [_glyph(name) for name in task.observation_names]
    grid = [
        [WALL if symbol < 0 else glyphs[symbol] for symbol in row]
        for row in maze_cells(task, picture, state)[rows, columns]
    ]
    row, column = picture.agent[state]
    grid[row - rows.start][column - columns.start] = AGENT
    return ["".join(cells).rstrip() for cells in grid]


def _glyph(name: str) -> str:
    return FLOOR if name == "grey" or is_place(name) else name[0].upper()


def _memory(task: FiniteTask, memory: Slots) -> str:
    words = ["memory:"]
    for slot, symbol in enumerate(memory.observations):
        if slot == memory.evicted:
            words.append("x")
        if slot == len(memory.observations) - 1:
            words.append(">")
        words.append(_slot(task, symbol, None if memory.ages is None else memory.ages[slot]))
    return " ".join(words)


def _slot(task: FiniteTask, symbol: int, age: int | None) -> str:
    if symbol == task.empty or (age is not None and age < 0):
        return "[ - ]"
    return f"[{task.observation_names[symbol]}{'' if age is None else f' {age}'}]"
