"""The T-mazes: a cue at one end of a corridor, a choice at the other.

Four colours are seen: grey corridor, blue junction, red for goal 1 and green for goal 2. ``length``
counts the cells from the cue to the junction, both included: a corridor of L grey cells has
``length`` L + 2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adastack.tasks.checks import checked_integer
from adastack.tasks.finite import FiniteTask, Ints, Picture
from adastack.tasks.stretched import StretchedTask

GREY, BLUE, RED, GREEN = range(4)
UP, RIGHT, DOWN, LEFT = range(4)
COLOURS = ("grey", "blue", "red", "green")
MOVES = ("up", "right", "down", "left")

ACTIVE_TIME_LIMIT = 100


class Maze:
    """The arrays of a maze in which moves are certain; walls everywhere until they are filled in.

    Its last two states are the red and the green goal, which end every attempt.
    """

    def __init__(self, n_states: int, floor: int, n_cues: int = 1) -> None:
        self.observation = np.full(n_states, floor, np.int32)
        self.observation[-2:] = [RED, GREEN]
        self.next_state = np.tile(np.arange(n_states, dtype=np.int32)[:, None], (1, 4))
        self.reward = np.zeros((n_states, 4))
        self.ends = np.zeros((n_states, 4), np.bool_)
        self.ends[-2:] = True
        self.start = np.zeros(n_states)
        self.cue = np.full((n_states, n_cues), -1, np.int32)

    def task(
        self, name: str, continual: bool, time_limit: int | None, picture: Picture
    ) -> FiniteTask:
        """The finished task; a continual one has no time limit."""
        return FiniteTask(
            name=name,
            observation=self.observation,
            next_state=self.next_state[:, :, None],
            probability=np.ones((*self.reward.shape, 1)),
            reward=self.reward[:, :, None],
            ends=self.ends[:, :, None],
            start=self.start,
            observation_names=COLOURS,
            action_names=MOVES,
            cue=self.cue,
            continual=continual,
            time_limit=None if continual else time_limit,
            picture=picture,
        )


def passive_tmaze(
    length: int = 16, random_length: bool = False, continual: bool = False
) -> FiniteTask:
    """The agent is carried from the cue to the junction and only has to remember the cue.

    At the junction up and right reach goal 1, down and left goal 2. The right goal pays +1, the
    wrong one -1.

    Args:
        length: Cells from cue to junction, both included; at least 2.
        random_length: Draw each attempt's length uniformly from 2..length.
        continual: Put the agent back to the start instead of ending the episode.
    """
    corridor = _corridor(length)
    corridors = np.arange(corridor + 1) if random_length else np.array([corridor])
    # One hidden goal's states: the chain by its distance to the junction, then a cue cell for each
    # corridor. Corridors of all lengths share the chain.
    chain = corridor + 1
    block = chain + len(corridors)
    n_states = 2 * block + 2
    first_terminal = 2 * block

    maze = Maze(n_states, GREY)
    distance = np.zeros(n_states, np.int32)
    for goal in (0, 1):
        base = goal * block
        cues = slice(base + chain, base + block)
        maze.observation[base] = BLUE
        maze.observation[cues] = RED + goal
        maze.next_state[base + 1 : base + chain] = np.arange(base, base + corridor)[:, None]
        maze.next_state[cues] = base + corridors[:, None]
        maze.next_state[base] = first_terminal + np.array([0, 0, 1, 1])
        maze.reward[base] = np.where(np.array([0, 0, 1, 1]) == goal, 1.0, -1.0)
        maze.ends[base] = True
        maze.start[cues] = 0.5 / len(corridors)
        maze.cue[base : base + block] = RED + goal
        distance[base : base + chain] = np.arange(chain)
        distance[cues] = corridors + 1
    agent = _positions(corridor, distance, first_terminal)
    cue_cell = np.array([1, -1 if random_length else 0])
    picture = Picture(_background(corridor), agent, np.broadcast_to(cue_cell, (n_states, 1, 2)))
    return maze.task(
        _name("passive-tmaze", length, random_length, continual), continual, None, picture
    )


def active_tmaze(
    length: int = 6,
    random_length: bool = False,
    continual: bool = False,
    time_limit: int = 0,
    lag_penalty: bool = False,
) -> FiniteTask:
    """The agent walks by itself: it must find the cue, remember it and reach the right goal.

    It starts one cell to the right of the cue. Walls block. The shortest perfect episode takes
    ``length`` + 1 steps.

    Args:
        length: Cells from cue to junction, both included; at least 2.
        random_length: Draw each attempt's length uniformly from 2..length.
        continual: Put the agent back to the start instead of ending the episode.
        time_limit: Steps after which an episode is cut; 0 for 100, or 4 times ``length`` if that is
            more. The authors' code has ``length`` + 2.
        lag_penalty: Take 1 / ``length`` away for each step, but those that reach a goal, after
            which the agent is behind one that went straight to the cue and then to the junction.
    """
    limit = _time_limit(length, time_limit)
    corridor = _corridor(length)
    corridors = range(corridor + 1) if random_length else [corridor]
    blocks = [(goal, cells) for goal in (0, 1) for cells in corridors]
    first_terminal = sum(cells + 2 for _, cells in blocks)
    n_states = first_terminal + 2

    maze = Maze(n_states, GREY)
    distance = np.zeros(n_states, np.int32)
    cue_cells = np.ones((n_states, 1, 2), np.int32)
    base = 0
    for goal, cells in blocks:
        junction = base + cells + 1
        maze.observation[base] = RED + goal
        maze.observation[junction] = BLUE
        maze.next_state[base:junction, RIGHT] = np.arange(base + 1, junction + 1)
        maze.next_state[base + 1 : junction + 1, LEFT] = np.arange(base, junction)
        maze.next_state[junction, [UP, DOWN]] = [first_terminal, first_terminal + 1]
        maze.reward[junction, [UP, DOWN]] = [1 - 2 * goal, 2 * goal - 1]
        maze.ends[junction, [UP, DOWN]] = True
        maze.start[base + 1] = 1 / len(blocks)
        maze.cue[base : junction + 1] = RED + goal
        distance[base : junction + 1] = np.arange(cells + 1, -1, -1)
        cue_cells[base : junction + 1, 0, 1] = corridor - cells
        base = junction + 1
    cue_cells[first_terminal:, 0, 1] = -1
    agent = _positions(corridor, distance, first_terminal)
    if lag_penalty:
        maze, origin = _lagging(maze, agent[:, 1], 1 / length)
        agent, cue_cells = agent[origin], cue_cells[origin]
    name = _name("active-tmaze", length, random_length, continual)
    name += f",time_limit={limit}" if time_limit else ""
    name += ",lag_penalty=true" if lag_penalty else ""
    picture = Picture(_background(corridor), agent, cue_cells)
    return maze.task(name, continual, limit, picture)


def long_passive_tmaze(
    length: int = 16, random_length: bool = False, continual: bool = False
) -> StretchedTask | None:
    """`passive_tmaze` with its corridor as one row of cells; None if it cannot be written so."""
    if random_length or _corridor(length) < 2:
        return None
    name = _name("passive-tmaze", length, False, continual)
    return _stretched(passive_tmaze(3, continual=continual), name, length, None)


def long_active_tmaze(
    length: int = 6,
    random_length: bool = False,
    continual: bool = False,
    time_limit: int = 0,
    lag_penalty: bool = False,
) -> StretchedTask | None:
    """`active_tmaze` with its corridor as one row of cells; None if it cannot be written so."""
    if random_length or lag_penalty or _corridor(length) < 2:
        return None
    limit = _time_limit(length, time_limit)
    name = _name("active-tmaze", length, False, continual)
    name += f",time_limit={limit}" if time_limit else ""
    return _stretched(active_tmaze(3, continual=continual), name, length, limit)


def _stretched(short: FiniteTask, name: str, length: int, limit: int | None) -> StretchedTask:
    """A maze of length 3, its grey cell stretched; what leads from a cue to that is its back."""
    cells = np.where(short.observation == GREY, _corridor(length), 1).astype(np.int64)
    back = np.full(short.n_states, -1, np.int32)
    cues = np.flatnonzero(np.isin(short.observation, (RED, GREEN)) & ~short.ends.any(axis=(1, 2)))
    back[short.next_state[cues, RIGHT, 0]] = cues
    limit = None if short.continual else limit
    return StretchedTask(replace(short, name=name, time_limit=limit, picture=None), cells, back)


def _time_limit(length: int, time_limit: int) -> int:
    """The time limit of an active maze."""
    default = max(ACTIVE_TIME_LIMIT, 4 * _corridor(length) + 8)
    return checked_integer("time_limit", time_limit, 0) or default


def _lagging(maze: Maze, column: Ints, penalty: float) -> tuple[Maze, Ints]:
    """A maze that also knows how far behind the fastest walk the agent is, and makes it pay.

    Steps less columns gained never fall. They are -1 at first in the count of the fastest walk,
    which goes back to the cue and has 1 from then on: so there are four levels, the last for all
    that is behind.

    Args:
        maze: A maze without a penalty.
        column: (states,): where the agent stands.
        penalty: What a step costs that leaves it behind.

    Returns:
        The maze, and the state of the first one that each of its states is made from.
    """
    n_body, levels = len(maze.observation) - 2, 4
    origin = np.append(np.tile(np.arange(n_body), levels), n_body + np.arange(2)).astype(np.int32)
    level = np.repeat(np.arange(levels), n_body)
    made = Maze(len(origin), GREY)
    made.observation, made.cue = maze.observation[origin], maze.cue[origin]
    made.reward, made.ends = maze.reward[origin], maze.ends[origin]
    made.start[:n_body] = maze.start[:n_body]
    target = maze.next_state[origin[:-2]]
    gained = column[target] - column[origin[:-2], None]
    behind = np.minimum(level[:, None] + 1 - gained, levels - 1)
    body = target < n_body
    made.next_state[:-2] = np.where(body, behind * n_body + target, target + (levels - 1) * n_body)
    made.next_state[-2:] = np.arange(len(origin))[-2:, None]
    made.reward[:-2] -= penalty * (body & (behind == levels - 1))
    return made, origin


def _corridor(length: int) -> int:
    """The number of grey cells in a maze of this length."""
    return checked_integer("length", length, 2) - 2


def _name(kind: str, length: int, random_length: bool, continual: bool) -> str:
    options = {"random_length": random_length, "continual": continual}
    flags = "".join(f",{name}=true" for name, on in options.items() if on)
    return f"{kind}:length={length}{flags}"


def _background(corridor: int) -> Ints:
    """Three rows: goal 1, the corridor, goal 2."""
    grid = np.full((3, corridor + 2), -1, np.int32)
    grid[1] = GREY
    grid[:, -1] = [RED, BLUE, GREEN]
    return grid


def _positions(corridor: int, distance: Ints, first_terminal: int) -> Ints:
    """Row and column of the agent in every state; shorter mazes stand at the right."""
    rows = np.ones_like(distance)
    rows[first_terminal:] = [0, 2]
    return np.stack([rows, corridor + 1 - distance], axis=1)
