from collections import deque
from functools import cache

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.tasks.functional import FunctionalTaskEnv
from adastack.tasks.worlds.cube import depth as cube_depth
from adastack.tasks.worlds.cube.functional import VIEWS, Cube, is_solved
from adastack.tasks.worlds.cube.moves import ACTIONS, FACES, LOOKS, TURNS, face, moves, solved
from tasks.worlds.plain_cube import PlainCube

PUBLISHED = [
    1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276,
]  # fmt: skip
"""Positions at each depth, in quarter turns."""

HOLDING_STILL = [
    TURNS.index(f"{name}{sense}") for name in ("front", "up", "right") for sense in ("", "'")
]
"""The turns that leave the corner at the left, down and back where it is."""

ACTION_LISTS = st.lists(st.integers(0, len(ACTIONS) - 1), max_size=40)


def plain_cube(actions):
    plain = PlainCube()
    for action in actions:
        plain.act(action)
    return plain


def applied(actions):
    stickers = solved()
    for action in actions:
        stickers = stickers[moves()[action]]
    return stickers


def pack(states):
    """24 stickers of 3 bits; the still corner's three need not be kept."""
    free = [i for i in range(24) if (moves()[HOLDING_STILL][:, i] != i).any()]
    shifts = 3 * np.arange(len(free), dtype=np.uint64)
    return (states[:, free].astype(np.uint64) << shifts).sum(axis=1, dtype=np.uint64)


def shells(depth):
    """The sticker states at each distance from solved, found with the move tables alone."""
    before, shell = np.zeros(0, np.uint64), solved()[None].astype(np.uint8)
    yield shell
    for _ in range(depth):
        reached = shell[:, moves()[HOLDING_STILL]].reshape(-1, 24)
        codes, first = np.unique(pack(reached), return_index=True)
        known = np.union1d(before, pack(shell))
        new = ~np.isin(codes, known, assume_unique=True)
        before, shell = pack(shell), reached[first[new]]
        yield shell


@cache
def nearby(depth=4):
    """Quarter turns to solved of every cube up to a depth, by a search over all twelve turns."""
    start = [solved()[home] for home in whole_cube_rotations()]
    found = {tuple(stickers.tolist()): 0 for stickers in start}
    queue = deque(found)
    while queue:
        state = queue.popleft()
        if found[state] == depth:
            continue
        for source in moves()[: len(TURNS)].tolist():
            after = tuple(state[i] for i in source)
            if after not in found:
                found[after] = found[state] + 1
                queue.append(after)
    return found


def depths_of(task, seed, count):
    keys = jax.random.split(jax.random.key(seed), count)
    states, _ = jax.jit(jax.vmap(task.reset))(keys)
    return [nearby().get(tuple(s)) for s in np.asarray(states.stickers).tolist()]


def test_positions_by_depth_are_the_published_ones():
    assert [len(shell) for shell in shells(8)] == PUBLISHED[:9]


@pytest.mark.slow
def test_all_positions_are_the_published_ones():
    counts = [len(shell) for shell in shells(14)]
    assert counts == PUBLISHED
    assert sum(counts) == 3_674_160


@pytest.mark.parametrize("depth", [8, 14])
def test_depth_tables_agree_with_the_published_counts(depth):
    known = cube_depth.positions(depth)
    counts = PUBLISHED[: depth + 1]
    assert np.diff(known.first).tolist() == counts
    assert np.bincount(known.depth)[: depth + 1].tolist() == counts
    assert (known.depth[known.ordered] == np.repeat(np.arange(depth + 1), counts)).all()


@settings(deadline=None)
@given(ACTION_LISTS)
def test_moves_agree_with_a_plain_cube(actions):
    assert applied(actions).tolist() == plain_cube(actions).stickers()


def test_turns_and_looks_have_inverses():
    tables, nothing = moves(), np.arange(24)
    for turn in range(0, len(TURNS), 2):
        assert (tables[turn][tables[turn + 1]] == nothing).all()
    left, right, up, down = tables[len(TURNS) :]
    assert (left[right] == nothing).all()
    assert (up[down] == nothing).all()
    for table in tables:
        assert (table[table][table[table]] == nothing).all()
        assert not (table == nothing).all()


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_brings_that_face_to_the_front(name):
    stickers = np.arange(24)[moves()[ACTIONS.index(name)]]
    side = name.removeprefix("look ")
    assert sorted(stickers[face("front")]) == list(range(24))[face(side)]


@settings(deadline=None)
@given(st.lists(st.integers(len(TURNS), len(ACTIONS) - 1), max_size=8))
def test_solved_does_not_depend_on_how_the_cube_is_held(looks):
    assert is_solved(jax.numpy.asarray(applied(looks)))


@settings(deadline=None)
@given(ACTION_LISTS)
def test_solved_agrees_with_a_plain_cube(actions):
    assert bool(is_solved(jax.numpy.asarray(applied(actions)))) == plain_cube(actions).solved()


def test_one_turn_is_never_solved_and_opposite_turns_are_the_same_position():
    for turn in range(len(TURNS)):
        assert not is_solved(jax.numpy.asarray(applied([turn])))
    turn_right_along, turn_left_along = TURNS.index("right"), TURNS.index("left'")
    assert is_solved(jax.numpy.asarray(applied([turn_right_along, turn_left_along])))


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_scrambles_are_of_the_asked_depth(depth):
    assert set(depths_of(Cube(depth=depth), depth, 500)) == {depth}


@pytest.mark.slow
def test_deep_scrambles_are_of_the_asked_depth():
    by_depth = [set(pack(shell).tolist()) for shell in shells(14)]
    homes = whole_cube_rotations()
    for depth in (7, 11, 14):
        states, _ = jax.vmap(Cube(depth=depth).reset)(jax.random.split(jax.random.key(0), 20))
        for stickers in np.asarray(states.stickers):
            held = next(h for h in (stickers[home] for home in homes) if still_corner_is_home(h))
            assert int(pack(held[None])[0]) in by_depth[depth]


def whole_cube_rotations():
    found = [np.arange(24)]
    for held in found:
        for look in moves()[len(TURNS) :]:
            if not any((held[look] == other).all() for other in found):
                found.append(held[look])
    assert len(found) == 24
    return found


def still_corner_is_home(stickers):
    still = [i for i in range(24) if (moves()[HOLDING_STILL][:, i] == i).all()]
    return (stickers[still] == solved()[still]).all()


def test_random_depth_draws_every_depth_up_to_the_asked():
    depths = depths_of(Cube(depth=3, random_depth=True), 0, 600)
    assert set(depths) == {1, 2, 3}
    assert all(150 < depths.count(depth) < 250 for depth in (1, 2, 3))


def test_scrambles_of_depth_one_are_all_twelve_turns():
    states, _ = jax.jit(jax.vmap(Cube(depth=1).reset))(jax.random.split(jax.random.key(0), 300))
    found = {tuple(stickers) for stickers in np.asarray(states.stickers).tolist()}
    assert found == {tuple(applied([turn]).tolist()) for turn in range(len(TURNS))}


@pytest.mark.parametrize("view", VIEWS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), actions=ACTION_LISTS)
def test_environment_agrees_with_a_plain_cube(view, seed, actions):
    env = FunctionalTaskEnv(Cube(view=view, depth=2))
    observation, _ = env.reset(seed=seed)
    plain = plain_from(np.asarray(env.state.stickers))
    faces = [FACES.index(name) for name in VIEWS[view]]
    for action in actions:
        assert observation.tolist() == [
            c for f in faces for c in plain.stickers()[4 * f : 4 * f + 4]
        ]
        observation, reward, terminated, truncated, info = env.step(action)
        plain.act(action)
        assert terminated == plain.solved() == info["success"] == bool(reward)
        assert not truncated
        if terminated:
            break


def plain_from(stickers):
    """A plain cube with these stickers, which two turns away from solved can always reach."""
    for first in range(len(TURNS)):
        for second in range(len(TURNS)):
            plain = plain_cube([first, second])
            if plain.stickers() == stickers.tolist():
                return plain
    raise AssertionError("not a scramble of depth two")


def test_episodes_end_after_the_time_limit():
    env = FunctionalTaskEnv(Cube(depth=4))
    env.reset(seed=0)
    look = ACTIONS.index("look left")
    ends = [env.step(look)[2:4] for _ in range(100)]
    assert ends[:-1] == [(False, False)] * 99
    assert ends[-1] == (False, True)


def test_undoing_the_scramble_pays_one():
    env = FunctionalTaskEnv(Cube(depth=1))
    env.reset(seed=3)
    scramble = next(
        t for t in range(len(TURNS)) if (applied([t]) == np.asarray(env.state.stickers)).all()
    )
    _, reward, terminated, _, info = env.step(scramble ^ 1)
    assert (reward, terminated, info["success"], info["attempt_over"]) == (1.0, True, True, True)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"view": "side"},
            r"expected a view of \('face', 'orthographic', 'full'\), actual: 'side'",
        ),
        ({"depth": 0}, r"depth must be an integer in 1\.\.14, actual: 0"),
        ({"depth": 15}, r"depth must be an integer in 1\.\.14, actual: 15"),
        ({"depth": 2.0}, r"depth must be an integer in 1\.\.14, actual: 2\.0"),
        ({"time_limit": 0}, "time_limit must be an integer of at least 1, actual: 0"),
    ],
)
def test_bad_options_are_refused(options, expected):
    with pytest.raises(ValueError, match=expected):
        Cube(**options)


@pytest.mark.parametrize("view", VIEWS)
def test_pictures_show_what_is_seen_and_what_is_kept(view):
    env = FunctionalTaskEnv(Cube(view=view), render_mode="rgb_array")
    observation, _ = env.reset(seed=0)
    bare = env.render()
    slots = np.stack([np.zeros_like(observation), observation, observation])
    with_memory = env.render_with_memory(slots, np.array([-1, 4, 0]), 0)
    assert (with_memory[: bare.shape[0], : bare.shape[1]] == bare).all()
    assert with_memory.shape[0] > bare.shape[0]
    turned = env.render_with_memory(slots[:, ::-1], np.array([-1, 4, 0]), 0)
    assert (turned != with_memory).any()
