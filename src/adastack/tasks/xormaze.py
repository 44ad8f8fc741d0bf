"""The XorMaze: two cues, and the goal is their exclusive or."""

from __future__ import annotations

import numpy as np

from adastack.tasks.finite import FiniteTask, Picture
from adastack.tasks.tmaze import BLUE, DOWN, GREEN, GREY, LEFT, RED, RIGHT, UP, Maze

CENTRE, WEST, EAST = range(3)
TIME_LIMIT = 100


def xormaze(continual: bool = False) -> FiniteTask:
    """A plus-shaped maze with a cue at its left and right end and a goal above and below.

    The agent starts at the centre. Cues of different colours make goal 1 (up, red) the right one,
    cues of the same colour goal 2 (down, green). The right goal pays +1, the wrong one -1.

    Args:
        continual: Put the agent back to the start instead of ending the episode.
    """
    n_states = 4 * 3 + 2
    first_terminal = 12
    maze = Maze(n_states, BLUE, n_cues=2)
    for index, (west, east) in enumerate((w, e) for w in (RED, GREEN) for e in (RED, GREEN)):
        base = 3 * index
        right_goal = 0 if west != east else 1
        centre = base + CENTRE
        maze.observation[base + WEST], maze.observation[base + EAST] = west, east
        maze.next_state[centre] = [first_terminal, base + EAST, first_terminal + 1, base + WEST]
        maze.next_state[base + WEST, RIGHT] = centre
        maze.next_state[base + EAST, LEFT] = centre
        maze.reward[centre, [UP, DOWN]] = np.where(np.arange(2) == right_goal, 1, -1)
        maze.ends[centre, [UP, DOWN]] = True
        maze.start[centre] = 0.25
        maze.cue[base : base + 3] = [west, east]
    name = "xormaze:continual=true" if continual else "xormaze"
    return maze.task(name, continual, TIME_LIMIT, _picture(n_states))


def _picture(n_states: int) -> Picture:
    background = np.full((3, 3), -1, np.int32)
    background[1] = GREY
    background[:, 1] = [RED, BLUE, GREEN]
    agent = np.tile([[1, 1], [1, 0], [1, 2]], (4, 1))
    agent = np.concatenate([agent, [[0, 1], [2, 1]]])
    cue_cells = np.broadcast_to(np.array([[1, 0], [1, 2]]), (n_states, 2, 2)).copy()
    cue_cells[-2:] = -1
    return Picture(background, agent, cue_cells)
