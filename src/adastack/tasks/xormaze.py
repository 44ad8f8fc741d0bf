"""The XorMaze: two cues, and the goal is their exclusive or."""

from __future__ import annotations

import numpy as np

from adastack.tasks.finite import FiniteTask, Picture
from adastack.tasks.tmaze import BLUE, COLOURS, DOWN, GREEN, GREY, LEFT, MOVES, RED, RIGHT, UP

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
    observation = np.full(n_states, BLUE, np.int32)
    next_state = np.tile(np.arange(n_states, dtype=np.int32)[:, None], (1, 4))
    reward = np.zeros((n_states, 4))
    ends = np.zeros((n_states, 4), np.bool_)
    start = np.zeros(n_states)
    cue = np.full((n_states, 2), -1, np.int32)
    for index, (west, east) in enumerate((w, e) for w in (RED, GREEN) for e in (RED, GREEN)):
        base = 3 * index
        right_goal = 0 if west != east else 1
        observation[base + WEST], observation[base + EAST] = west, east
        next_state[base + CENTRE] = [
            first_terminal,
            base + EAST,
            first_terminal + 1,
            base + WEST,
        ]
        next_state[base + WEST, RIGHT] = base + CENTRE
        next_state[base + EAST, LEFT] = base + CENTRE
        reward[base + CENTRE, [UP, DOWN]] = np.where(np.arange(2) == right_goal, 1, -1)
        ends[base + CENTRE, [UP, DOWN]] = True
        start[base + CENTRE] = 0.25
        cue[base : base + 3] = [west, east]
    observation[first_terminal:] = [RED, GREEN]
    ends[first_terminal:] = True
    return FiniteTask(
        name="xormaze:continual=true" if continual else "xormaze",
        observation=observation,
        next_state=next_state[:, :, None],
        probability=np.ones((n_states, 4, 1)),
        reward=reward[:, :, None],
        ends=ends[:, :, None],
        start=start,
        observation_names=COLOURS,
        action_names=MOVES,
        cue=cue,
        continual=continual,
        time_limit=None if continual else TIME_LIMIT,
        picture=_picture(n_states),
    )


def _picture(n_states: int) -> Picture:
    background = np.full((3, 3), -1, np.int32)
    background[1] = GREY
    background[:, 1] = [RED, BLUE, GREEN]
    agent = np.tile([[1, 1], [1, 0], [1, 2]], (4, 1))
    agent = np.concatenate([agent, [[0, 1], [2, 1]]])
    cue_cells = np.broadcast_to(np.array([[1, 0], [1, 2]]), (n_states, 2, 2)).copy()
    cue_cells[-2:] = -1
    return Picture(background, agent, cue_cells)
