"""Resets of the ports of POPGym: distributed as those of the package's environments."""

from functools import partial

import jax
import numpy as np
import pytest

from adastack.tasks.worlds.popgym.cards import shuffled
from adastack.tasks.worlds.popgym.levels import popgym_task
from adastack.tasks.worlds.popgym.mazes import FREE, WALL, carve
from tasks.worlds.popgym_package import MAZELIB, package


def resets(task, n, seed=0):
    keys = jax.random.split(jax.random.key(seed), n)
    return jax.device_get(jax.jit(jax.vmap(task.reset))(keys)[0])


def surprise(counts, expected):
    """Chi-squared, in standard deviations from what is expected of it."""
    counts, expected = np.asarray(counts, float), np.broadcast_to(expected, np.shape(counts))
    freedom = counts.size - 1
    return (((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom)


@pytest.mark.parametrize(("kind", "n_kinds"), [("suits", 4), ("ranks", 13), ("colors", 2)])
def test_every_deck_is_complete_and_every_order_as_likely(kind, n_kinds):
    n = 8000
    shuffle = jax.jit(jax.vmap(partial(shuffled, decks=1, kind=kind)))
    decks = np.asarray(shuffle(jax.random.split(jax.random.key(0), n)))
    assert (np.sort(decks) == np.sort(np.arange(52) % n_kinds)).all()
    each = 52 // n_kinds
    same = each * (each - 1) / (52 * 51)
    pairs = np.where(np.eye(n_kinds), same, each**2 / (52 * 51))
    for first, second in ((0, 1), (0, 51), (25, 26)):
        found = np.zeros((n_kinds, n_kinds))
        np.add.at(found, (decks[:, first], decks[:, second]), 1)
        assert surprise(found, n * pairs) < 4


def test_the_two_decks_of_count_recall_are_shuffled_apart():
    state = resets(popgym_task("count-recall"), 4000)
    agree = (state.values == state.queries).mean()
    assert agree == pytest.approx(0.5, abs=0.01)
    assert (state.values.sum(axis=1) == 26).all()


def test_mines_are_anywhere():
    state = resets(popgym_task("mine-sweeper"), 6000)
    assert (state.hidden.sum(axis=1) == 2).all()
    first, second = np.nonzero(state.hidden)[1].reshape(-1, 2).T
    assert surprise(np.bincount(16 * first + second)[_pairs(16)], 6000 / 120) < 4


def _pairs(n):
    return [n * i + j for i in range(n) for j in range(i + 1, n)]


@pytest.mark.parametrize("level", ["easy", pytest.param("hard", marks=pytest.mark.slow)])
def test_ships_are_where_the_package_puts_them(level):
    n, theirs = 3000, package("battleship", level)
    ours = resets(popgym_task("battleship", level), n).hidden
    assert (ours.sum(axis=1) == 12).all()
    boards = []
    for seed in range(n):
        theirs.reset(seed=seed)
        boards.append(theirs.board.ravel() == 1)
    size = theirs.board_size
    boards = np.array(boards)
    for count in (cells, partial(neighbours, size=size)):
        mine, other = count(ours), count(boards)
        assert two_samples(mine, other) < 4


def cells(boards):
    return boards.sum(axis=0)


def neighbours(boards, size):
    """How many boards have so many ships' cells side by side."""
    square = boards.reshape(-1, size, size)
    across = (square[:, :, 1:] & square[:, :, :-1]).sum(axis=(1, 2))
    return np.bincount(across, minlength=13)[2:11]


def two_samples(ours, theirs):
    """Chi-squared of two histograms, in standard deviations from what is expected of it."""
    total = ours + theirs
    ours, theirs = ours[total > 0], theirs[total > 0]
    found = ((ours - theirs) ** 2 / (ours + theirs)).sum()
    return (found - len(ours)) / np.sqrt(2 * len(ours))


def test_arms_pay_with_any_chance():
    state = resets(popgym_task("multiarmed-bandit"), 2000)
    counts, _ = np.histogram(state.chances, np.linspace(0, 1, 21))
    assert surprise(counts, 1000) < 4


def test_pendulums_begin_at_any_angle_with_little_speed():
    state = resets(popgym_task("position-only-pendulum"), 8000)
    for column, most in zip(state.physics.T, (np.pi, 1.0), strict=True):
        counts, _ = np.histogram(column, np.linspace(-most, most, 17))
        assert counts.sum() == 8000
        assert surprise(counts, 500) < 4


def mazes(n, rooms):
    keys = jax.random.split(jax.random.key(0), n)
    return jax.device_get(jax.jit(jax.vmap(partial(carve, rooms=rooms)))(keys))


def test_a_maze_has_one_way_from_any_room_to_any_other():
    found = mazes(200, 5)
    for grid, begin, end in zip(*found, strict=True):
        assert (grid[1::2, 1::2] == FREE).all()
        assert (grid == FREE).sum() == 2 * 25 - 1  # A tree, if all of it hangs together.
        reached, new = set(), {(1, 1)}
        while new:
            reached |= new
            around = {
                (y + dy, x + dx) for y, x in new for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0))
            }
            new = {at for at in around if grid[at] == FREE} - reached
        assert len(reached) == 49
        assert (grid[tuple(begin)], grid[tuple(end)]) == (WALL, WALL)
        # On opposite sides, each in front of a room.
        side = int(abs(begin - end)[1] == 10 and begin[1] in (0, 10))
        assert {int(begin[side]), int(end[side])} == {0, 10}
        assert begin[1 - side] % 2 == end[1 - side] % 2 == 1
    sides = np.where(
        found.start[:, 0] % 10 == 0, found.start[:, 0] // 10, 2 + found.start[:, 1] // 10
    )
    assert surprise(np.bincount(sides, minlength=4), 50) < 4


def dead_ends(grids):
    """How many rooms of each maze have one door."""
    free = np.pad(grids, ((0, 0), (1, 1), (1, 1)), constant_values=WALL) == FREE
    doors = (
        free[:, :-2, 1:-1].astype(int) + free[:, 2:, 1:-1] + free[:, 1:-1, :-2] + free[:, 1:-1, 2:]
    )
    return ((doors == 1) & free[:, 1:-1, 1:-1]).sum(axis=(1, 2))


MAZELIB_DEAD_ENDS = {5: (4.167, 1.009), 9: (10.202, 1.782)}
"""Mean and deviation of 4000 and 1500 mazes by mazelib 0.9.16's HuntAndKill."""


@pytest.mark.parametrize("rooms", [5, pytest.param(9, marks=pytest.mark.slow)])
def test_mazes_are_like_those_of_the_package(rooms):
    ours = dead_ends(mazes(2000, rooms).grid)
    mean, deviation = MAZELIB_DEAD_ENDS[rooms]
    assert ours.mean() == pytest.approx(mean, abs=4 * deviation / np.sqrt(850))
    assert ours.std() == pytest.approx(deviation, rel=0.1)


@pytest.mark.skipif(not MAZELIB, reason="mazelib is not installed")
def test_the_figures_of_the_package_are_right():
    from mazelib.generate.HuntAndKill import HuntAndKill

    grids = np.stack([HuntAndKill(5, 5).generate() for _ in range(500)])
    mean, deviation = MAZELIB_DEAD_ENDS[5]
    assert dead_ends(grids).mean() == pytest.approx(mean, abs=4 * deviation / np.sqrt(450))
