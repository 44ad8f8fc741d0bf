from functools import cache

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from minigrid.wrappers import RGBImgPartialObsWrapper
from stable_baselines3.common.env_checker import check_env as check_sb3_env

from adastack.tasks.drawing.canvas import Slots
from adastack.tasks.functional import FunctionalTaskEnv
from adastack.tasks.worlds.minigrid.environment import MiniGridMemoryEnv
from adastack.tasks.worlds.minigrid.functional import MemoryState, MiniGridMemory
from adastack.tasks.worlds.minigrid.tables import BALL, KEY, memory_tables

LEFT, RIGHT, FORWARD = range(3)
REGISTERED = {
    "MiniGrid-MemoryS7-v0": (7, False),
    "MiniGrid-MemoryS9-v0": (9, False),
    "MiniGrid-MemoryS11-v0": (11, False),
    "MiniGrid-MemoryS13-v0": (13, False),
    "MiniGrid-MemoryS13Random-v0": (13, True),
    "MiniGrid-MemoryS17Random-v0": (17, True),
}


@cache
def compiled_step(task):
    return jax.jit(task.step)


def functional_step(task, state, action):
    return jax.device_get(compiled_step(task)(jax.random.key(0), state, action))


def translated(package_env, tables):
    """The place that a package's environment stands in."""
    end = package_env.success_pos[0] - 1
    middle = package_env.height // 2
    numbers = {"key": KEY, "ball": BALL}
    start = numbers[package_env.grid.get(1, middle - 1).type]
    upper = numbers[package_env.grid.get(end + 1, middle - 2).type]
    x, y = (int(v) for v in package_env.agent_pos)
    return tables.index[end, x, y, int(package_env.agent_dir), start, upper]


@pytest.mark.parametrize(
    ("size", "random_length"),
    [
        (7, False),
        (7, True),
        *(pytest.param(*s, marks=pytest.mark.slow) for s in ((13, False), (9, True))),
    ],
)
def test_every_place_and_action_is_as_in_the_package(size, random_length):
    tables = memory_tables(size, random_length)
    env = MiniGridMemoryEnv(size, random_length)
    for key, place in tables.index.items():
        for action in range(7):
            env.stand(*key)
            grid_env = env.grid_env
            if action == LEFT:
                seen = grid_env.gen_obs()["image"]
                assert (tables.views[tables.seen[place]] == seen).all()
            seen, reward, terminated, _, _ = grid_env.step(action)
            after = tables.following[place, action]
            assert after == translated(grid_env, tables)
            assert (tables.views[tables.seen[after]] == seen["image"]).all()
            assert terminated == (tables.outcome[after] != 0)
            assert (reward > 0) == (tables.outcome[after] > 0)


@cache
def compiled_replay(task):
    """A whole episode of the functional task from a place, by the actions of the package's."""

    def replay(place, actions):
        def step(state, action):
            after = task.step(jax.random.key(0), state, action)
            return after.state, after

        return jax.lax.scan(step, MemoryState(place, jnp.int32(0)), actions)[1]

    return jax.jit(replay)


def walk(env, task, tables, rng, forward):
    """One episode in the package, then the functional task's; returns its length."""
    first, _ = env.reset(seed=int(rng.integers(2**31)))
    place = jnp.int32(translated(env.grid_env, tables))
    assert (np.asarray(task.observe(MemoryState(place, jnp.int32(0)))) == first).all()
    actions = np.where(
        rng.random(task.time_limit) < forward, FORWARD, rng.integers(0, 7, task.time_limit)
    )
    steps, done = [], False
    while not done:
        steps.append(env.step(actions[len(steps)]))
        done = steps[-1][2] or steps[-1][3]
    seen, rewards, terminated, truncated, infos = zip(*steps, strict=True)
    ours = jax.device_get(compiled_replay(task)(place, actions.astype(np.int32)))
    n = len(steps)
    assert (ours.observation[:n] == np.stack(seen)).all()
    np.testing.assert_allclose(ours.reward[:n], rewards, atol=1e-6)
    assert (ours.terminated[:n] == terminated).all()
    assert (ours.truncated[:n] == truncated).all()
    for name in ("attempt_over", "success", "shown", "cue"):
        assert (ours.extras[name][:n] == np.array([info[name] for info in infos])).all(), name
    return n


def walks(size, random_length, forward, count):
    """The lengths of many episodes, and their limit."""
    rng = np.random.default_rng(size)
    env, task = MiniGridMemoryEnv(size, random_length), MiniGridMemory(size, random_length)
    tables = memory_tables(size, random_length)
    return [walk(env, task, tables, rng, forward) for _ in range(count)], task.time_limit


@pytest.mark.parametrize(("size", "random_length"), [(7, False), (13, True)])
def test_random_episodes_are_those_of_the_package(size, random_length):
    lengths, limit = walks(size, random_length, 0.7, 40)
    assert max(lengths) <= limit
    assert min(lengths) < limit


@pytest.mark.slow
@pytest.mark.parametrize(("size", "random_length"), sorted(set(REGISTERED.values())))
def test_thousands_of_random_episodes_are_those_of_the_package(size, random_length):
    lengths, limit = walks(size, random_length, 0.75, 500)
    assert max(lengths) <= limit


def test_time_runs_out_as_in_the_package():
    env, task = MiniGridMemoryEnv(7), MiniGridMemory(7)
    tables = memory_tables(7, False)
    env.reset(seed=0)
    state = MemoryState(jnp.int32(translated(env.grid_env, tables)), jnp.int32(0))
    for step in range(1, 246):
        *_, terminated, truncated, info = env.step(LEFT)
        ours = functional_step(task, state, LEFT)
        state = ours.state
        expected = (False, step == 245, step == 245)
        assert (terminated, truncated, info["attempt_over"]) == expected
        assert (bool(ours.terminated), bool(ours.truncated)) == expected[:2]


@pytest.mark.parametrize("random_length", [False, True])
def test_episodes_begin_as_often_in_each_place_as_in_the_package(random_length):
    size, n = 9, 1500
    task, tables = MiniGridMemory(size, random_length), memory_tables(size, random_length)
    env = MiniGridMemoryEnv(size, random_length).grid_env
    env.reset(seed=0)
    ours, _ = jax.jit(jax.vmap(task.reset))(jax.random.split(jax.random.key(0), n))
    expected = np.zeros(len(tables.seen))
    for row, count in zip(tables.starts, tables.n_starts, strict=True):
        expected[row[:count]] += 1 / len(tables.starts) / count
    for places in (
        np.asarray(ours.place),
        [translated(env, tables) for _ in range(n) if env.reset()],
    ):
        counts = np.bincount(places, minlength=len(expected))
        deviation = np.abs(counts - n * expected)
        assert (deviation < 5 * np.sqrt(n * expected) + 1e-9).all()


@pytest.mark.parametrize("env_id", REGISTERED)
def test_registered_worlds_are_found_by_size_and_by_id(env_id):
    by_size, by_id = MiniGridMemoryEnv(*REGISTERED[env_id]), MiniGridMemoryEnv(env_id=env_id)
    theirs = gym.make(env_id)
    seen = theirs.reset(seed=5)[0]["image"]
    assert by_size.grid_env.max_steps == theirs.unwrapped.max_steps
    for env in (by_size, by_id):
        assert (env.reset(seed=5)[0] == seen).all()
    for action in np.random.default_rng(0).integers(0, 3, 20):
        seen, reward, terminated, truncated, _ = theirs.step(action)
        for env in (by_size, by_id):
            ours = env.step(action)
            assert (ours[0] == seen["image"]).all()
            assert ours[1:4] == (reward, terminated, truncated)
        if terminated:
            break


def test_codes_stay_within_the_space():
    from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX

    highest = [max(codes.values()) for codes in (OBJECT_TO_IDX, COLOR_TO_IDX, STATE_TO_IDX)]
    space = MiniGridMemory(7).observation_space
    assert (space.high == highest).all()
    assert all(view in space for view in memory_tables(13, True).views)


def test_rgb_views_are_those_of_the_package_and_of_the_functional_task():
    env = MiniGridMemoryEnv(7, view="rgb")
    theirs = RGBImgPartialObsWrapper(gym.make("MiniGrid-MemoryS7-v0"), tile_size=8)
    task, tables = MiniGridMemory(7, view="rgb"), memory_tables(7, False)
    seen, _ = env.reset(seed=1)
    assert (seen == theirs.reset(seed=1)[0]["image"]).all()
    for action in (LEFT, FORWARD, RIGHT, RIGHT, FORWARD, LEFT):
        seen = env.step(action)[0]
        assert (seen == theirs.step(action)[0]["image"]).all()
        state = MemoryState(translated(env.grid_env, tables), 0)
        assert (np.asarray(task.observe(state)) == seen).all()
    assert seen.shape == env.observation_space.shape == task.observation_space.shape


def test_the_cue_is_shown_only_where_the_start_room_is_in_view():
    env = MiniGridMemoryEnv(13)
    env.reset(seed=0)
    cases = {
        (10, 3, 6, 2): True,  # in the room, facing it
        (10, 3, 6, 0): False,  # with its back to it
        (10, 9, 6, 2): False,  # too far down the hallway
        (10, 10, 6, 0): False,  # sees an object of the same kind, but not the cue
    }
    for place, in_view in cases.items():
        env.stand(*place, KEY, BALL)
        info = env._info(env.grid_env.gen_obs()["image"], False, False)
        assert info["cue"].tolist() == [KEY]
        assert info["shown"] == (KEY if in_view else -1)


def test_the_right_end_pays_and_the_wrong_end_does_not():
    for upper, turn in ((KEY, LEFT), (BALL, RIGHT)):
        for wrong in (False, True):
            env = MiniGridMemoryEnv(7)
            env.stand(4, 4, 3, 0, KEY, upper)
            env.step(FORWARD)
            env.step((LEFT + RIGHT - turn) if wrong else turn)
            _, reward, terminated, truncated, info = env.step(FORWARD)
            assert (terminated, truncated, info["attempt_over"]) == (True, False, True)
            assert info["success"] is not wrong
            assert reward == pytest.approx(0 if wrong else 1 - 0.9 * 3 / 245)


def test_checkers_find_nothing():
    check_env(MiniGridMemoryEnv(7), skip_render_check=True)
    check_sb3_env(MiniGridMemoryEnv(7, view="rgb"))
    check_env(FunctionalTaskEnv(MiniGridMemory(7)), skip_render_check=True)


def test_pictures_of_package_and_functional_task_are_the_same():
    env = MiniGridMemoryEnv(7, render_mode="rgb_array")
    with pytest.raises(ResetNeeded, match="nothing to draw yet"):
        env.render()
    seen, _ = env.reset(seed=0)
    place = translated(env.grid_env, memory_tables(7, False))
    slots, ages = np.stack([seen, seen]), np.array([-1, 0])
    ours = env.render_with_memory(slots, ages, 0)
    state = MemoryState(np.int32(place), np.int32(0))
    assert (ours == MiniGridMemory(7).draw(state, Slots(slots, ages, 0))).all()
    assert ours.shape[0] > env.render().shape[0]


@pytest.mark.parametrize("make", [MiniGridMemoryEnv, MiniGridMemory])
def test_bad_options_are_refused(make):
    with pytest.raises(ValueError, match="size must be an odd number of at least 7, actual: 8"):
        make(8)
    with pytest.raises(ValueError, match=r"expected a view of \('symbolic', 'rgb'\), actual: 'x'"):
        make(7, view="x")


def test_bad_ids_and_actions_are_refused():
    with pytest.raises(ValueError, match="expected the id of a Memory world"):
        MiniGridMemoryEnv(env_id="MiniGrid-Empty-5x5-v0")
    env = MiniGridMemoryEnv(7)
    with pytest.raises(ResetNeeded, match="no episode to step in"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"expected an action in 0\.\.6, actual: 7"):
        env.step(7)
    assert env.grid_env.step_count == 0
