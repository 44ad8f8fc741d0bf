"""Classic memory tasks with a map: Heaven-Hell, the office and the order of two keys."""

from __future__ import annotations

import numpy as np

from adastack.tasks.finite import FiniteTask, Picture
from adastack.tasks.grid import Grid, read_grid
from adastack.tasks.tmaze import MOVES

HEAVEN_HELL_TIME_LIMIT = 20
REWARD_MACHINE_TIME_LIMIT = 100

HEAVEN_HELL_MAP = (
    "W.....E",
    "   .   ",
    "   S   ",
    "   ..P ",
)
OFFICE_MAP = (
    "C.*.O",
    "..S..",
)
KEY_ORDER_MAP = (
    "A.S.B",
    "  .  ",
    "  D  ",
)


def heaven_hell() -> FiniteTask:
    """Heaven is at one end of a T, hell at the other, and a priest at its foot knows which.

    The agent starts between the priest and the junction and sees its position; at the priest it
    sees which way heaven is instead. Heaven pays +1, hell -1, either ends the attempt. The shortest
    way past the priest takes 11 steps; an episode is cut after 20.

    The map is the ten-position one of Geffner and Bonet (1998), with exact observations. There, the
    reward comes with the action after the one that reaches heaven or hell; here they are one.
    """
    grid = read_grid(HEAVEN_HELL_MAP)
    n_cells = len(grid.cells)
    priest, ends = grid.find("P"), (grid.find("W"), grid.find("E"))
    names = (*grid.names({"P": "heaven west", "W": "west end", "E": "east end"}), "heaven east")
    says = np.array([priest, n_cells])

    observation = np.tile(np.arange(n_cells), (2, 1))
    observation[:, priest] = says
    next_state = np.stack([grid.moves, n_cells + grid.moves])
    arrives = np.isin(grid.moves, ends)
    reward = np.stack([(grid.moves == ends[0]) * 1.0 - (grid.moves == ends[1])] * 2)
    reward[1] *= -1
    cue = np.repeat(says[:, None], n_cells, axis=1)
    cue[:, ends] = -1
    start = np.zeros((2, n_cells))
    start[:, grid.find("S")] = 0.5
    # The priest's cell is drawn as plain floor once the attempt is over and nothing is to be known.
    symbols = np.arange(n_cells)
    symbols[priest] = grid.find("S")
    n_states = 2 * n_cells
    return FiniteTask(
        name="heaven-hell",
        observation=observation.ravel().astype(np.int32),
        next_state=next_state.reshape(n_states, 4, 1),
        probability=np.ones((n_states, 4, 1)),
        reward=reward.reshape(n_states, 4, 1),
        ends=np.concatenate([arrives, arrives])[:, :, None],
        start=start.ravel(),
        observation_names=names,
        action_names=MOVES,
        cue=cue.reshape(n_states, 1),
        time_limit=HEAVEN_HELL_TIME_LIMIT,
        picture=Picture(
            grid.background(symbols.tolist()),
            np.tile(grid.cells, (2, 1)),
            np.tile(grid.cells[priest], (n_states, 1, 1)),
        ),
    )


def office() -> FiniteTask:
    """Fetch coffee, bring it to the office, never step on the decoration; only the place is seen.

    The only way between coffee and office that spares the decoration leads through the start, so
    the same places are crossed with and without coffee. Reaching the office with coffee ends the
    attempt and pays +1 if the decoration is whole, else 0; without coffee nothing happens there.

    The reward machine is the paper's (after Icarte et al. 2022): it remembers the coffee and the
    broken decoration, the agent is not told. The map is much smaller than theirs, one decoration
    instead of six, and an episode is cut after 100 steps instead of 1000.
    """
    grid = read_grid(OFFICE_MAP)
    coffee, decoration, target = grid.find("C"), grid.find("*"), grid.find("O")
    n_cells = len(grid.cells)
    # Hidden: what the machine knows (0 nothing, +1 has coffee, +2 decoration broken) and the cell.
    machine = np.arange(4)[:, None, None]
    arrived = np.broadcast_to(grid.moves, (4, n_cells, 4))
    has_coffee = (machine % 2 == 1) | (arrived == coffee)
    is_broken = (machine >= 2) | (arrived == decoration)
    delivered = has_coffee & (arrived == target)
    next_state = (has_coffee + 2 * is_broken) * n_cells + arrived
    landmarks = {"C": "coffee", "O": "office", "*": "decor"}
    return _reward_machine("office", grid, landmarks, next_state, delivered & ~is_broken, delivered)


def key_order() -> FiniteTask:
    """Take key A before key B, then go to the door; only the place is seen.

    The agent starts where the three ways meet and comes back there after each key. The door ends
    the attempt: it pays +1 if both keys were taken, A first, and 0 otherwise. An episode is cut
    after 100 steps.

    The sentence is the paper's example of a task whose reward depends on the order of events; the
    map is ours.
    """
    grid = read_grid(KEY_ORDER_MAP)
    key_a, key_b, door = grid.find("A"), grid.find("B"), grid.find("D")
    n_cells = len(grid.cells)
    # Hidden: what the machine knows (0 nothing, 1 key A, 2 A then B, 3 B came first) and the cell.
    after_a, after_b = np.array([1, 1, 2, 3]), np.array([3, 2, 2, 3])
    machine = np.arange(4)[:, None, None]
    arrived = np.broadcast_to(grid.moves, (4, n_cells, 4))
    knows = np.where(arrived == key_a, after_a[machine], machine)
    knows = np.where(arrived == key_b, after_b[machine], knows)
    opened = arrived == door
    landmarks = {"A": "A key", "B": "B key", "D": "door"}
    return _reward_machine(
        "key-order", grid, landmarks, knows * n_cells + arrived, opened & (knows == 2), opened
    )


def _reward_machine(
    name: str,
    grid: Grid,
    landmarks: dict[str, str],
    next_state: np.ndarray,
    pays: np.ndarray,
    ends: np.ndarray,
) -> FiniteTask:
    """A walk on a grid whose reward a hidden machine decides; arrays are (machine, cell, move)."""
    copies, n_cells, n_moves = next_state.shape
    n_states = copies * n_cells
    shape = (n_states, n_moves, 1)
    start = np.zeros(n_states)
    start[grid.find("S")] = 1
    return FiniteTask(
        name=name,
        observation=np.tile(np.arange(n_cells), copies),
        next_state=next_state.reshape(shape),
        probability=np.ones(shape),
        reward=pays.reshape(shape) * 1.0,
        ends=ends.reshape(shape),
        start=start,
        observation_names=grid.names(landmarks),
        action_names=MOVES,
        time_limit=REWARD_MACHINE_TIME_LIMIT,
        picture=grid.picture(copies),
    )
