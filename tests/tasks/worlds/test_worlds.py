import inspect
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import load_env_creator

from adastack.tasks import TASKS, make_task, resolve
from adastack.tasks.functional import FunctionalTaskEnv
from adastack.tasks.functional_vector import FunctionalTaskVectorEnv
from adastack.tasks.worlds.cartpole.functional import MaskedCartPole
from adastack.tasks.worlds.cube.functional import Cube
from adastack.tasks.worlds.fetch.attempt import FetchReach
from adastack.tasks.worlds.minigrid.functional import MiniGridMemory
from adastack.wrappers import AdaptiveStack, FrameStack, PushSkipStack, vector

WORLDS = [row for row in TASKS.values() if row.kind != "finite"]
QUICK = ("popgym-repeat-first", "popgym-autoencode", "popgym-position-only-pendulum")
"""POPGym's games are alike: one of each kind of observation and action is tried quickly."""
WORLD_LIST = [
    pytest.param(
        row,
        id=row.name,
        marks=[pytest.mark.slow]
        if row.name.startswith("popgym-") and row.name not in QUICK
        else [],
    )
    for row in WORLDS
]


def defaults(path):
    made = load_env_creator(path)
    return {p.name: p.default for p in inspect.signature(made).parameters.values()}


@pytest.mark.parametrize("world", WORLDS, ids=lambda row: row.name)
def test_the_table_has_the_options_and_defaults_of_the_classes(world):
    if world.functional is not None:
        made = defaults(world.functional)
        options = {name: made[name] for name in made if name not in world.fixed}
        assert options == dict(world.options)
    own = ("render_mode", "num_envs", "autoreset_mode", "threads", *world.fixed)
    for path in filter(None, (world.env, world.vector_env)):
        options = {k: v for k, v in defaults(path).items() if k not in own}
        assert options == dict(world.options) | (dict(world.env_only) if path == world.env else {})


@pytest.mark.parametrize("world", WORLD_LIST)
@pytest.mark.parametrize("stack", [AdaptiveStack, FrameStack, PushSkipStack])
def test_every_id_makes_an_environment_that_can_remember(world, stack):
    env = stack(gym.make(world.env_id, render_mode="rgb_array"), 3, padding_type="empty")
    observation, _ = env.reset(seed=0)
    assert observation in env.observation_space
    env.action_space.seed(0)
    for _ in range(5):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert observation in env.observation_space
        assert isinstance(reward, float)
        assert {"attempt_over", "success", "slot_ages"} <= info.keys()
        if terminated or truncated:
            env.reset()
    bare = env.unwrapped.render()
    drawn = env.render()
    assert drawn.dtype == np.uint8
    assert drawn.shape[0] > bare.shape[0]
    rebuilt = gym.make(env.spec)
    assert (rebuilt.reset(seed=0)[0] == env.reset(seed=0)[0]).all()


@pytest.mark.parametrize("world", WORLD_LIST)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_every_id_makes_a_vector_environment_that_can_remember(world, mode):
    envs = gym.make_vec(
        world.env_id,
        num_envs=2,
        vectorization_mode="vector_entry_point",
        autoreset_mode=mode,
    )
    envs = vector.AdaptiveStack(envs, 2, padding_type="zero")
    envs.action_space.seed(0)
    observations, _ = envs.reset(seed=0)
    again, _ = envs.reset(seed=0)
    assert (observations == again).all()
    for _ in range(3):
        observations, rewards, terminated, truncated, infos = envs.step(envs.action_space.sample())
        assert observations in envs.observation_space
        assert rewards.shape == terminated.shape == truncated.shape == (2,)
        assert infos["success"].shape == (2,)
    envs.close()


def test_worlds_are_made_from_the_command_line():
    cube = resolve("cube:view=full,depth=2,random_depth=true")
    assert cube.functional().depth == 2
    assert isinstance(cube.env(), FunctionalTaskEnv)
    assert cube.env().task == cube.functional()
    assert isinstance(cube.vector_env(2), FunctionalTaskVectorEnv)
    grid = resolve("minigrid-memory:size=7")
    assert grid.env().grid_env.size == grid.functional().size == 7
    fetch = resolve("fetch-reach:goal_period=9")
    assert fetch.functional() is None
    assert fetch.env().attempt.task.goal_period == 9
    assert resolve("position-only-cartpole").functional().shows == "position"
    assert resolve("velocity-only-cartpole:time_limit=9").env().time_limit == 9


@pytest.mark.parametrize("whole", [np.int64, np.int8])
def test_options_may_be_numbers_of_numpy(whole):
    cube = Cube(depth=whole(12), time_limit=whole(100))
    assert (cube, hash(cube)) == (Cube(depth=12), hash(Cube(depth=12)))
    assert MiniGridMemory(size=whole(13)).time_limit == 845
    assert MaskedCartPole(time_limit=whole(60)) == MaskedCartPole(time_limit=60)
    assert FetchReach(goal_period=whole(9)) == FetchReach(goal_period=9)


def test_a_world_is_no_finite_task():
    with pytest.raises(ValueError, match="expected a finite task, actual: 'cube', which has no"):
        make_task("cube")


def test_gymnasium_passes_options_on():
    env = gym.make("adastack/MiniGridMemory-v0", env_id="MiniGrid-MemoryS7-v0")
    assert env.unwrapped.grid_env.size == 7
    with pytest.raises(ValueError, match="expected an option of size, random_length, view, env_id"):
        gym.make("adastack/MiniGridMemory-v0", sizes=7)
    with pytest.raises(ValueError, match="expected an option of view, depth"):
        gym.make_vec("adastack/Cube-v0", 2, vectorization_mode="vector_entry_point", depths=1)


@pytest.mark.parametrize(
    ("spec", "package", "extra"),
    [
        ("minigrid-memory", "minigrid", "minigrid"),
        ("fetch-reach", "gymnasium_robotics", "robot"),
    ],
)
def test_a_missing_extra_is_asked_for_by_name(spec, package, extra, monkeypatch):
    from adastack.tasks.worlds.fetch.arm import arm_model

    arm_model.cache_clear()
    for name in [n for n in sys.modules if n == package or n.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)

    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == package:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(
        ImportError, match=rf"{package}.* is needed here: pip install 'adastack\[{extra}\]'"
    ):
        resolve(spec).env()
