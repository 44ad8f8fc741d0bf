import json
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from adastack.cli import main
from adastack.tasks import (
    TASKS,
    FiniteTask,
    FiniteTaskEnv,
    FiniteTaskVectorEnv,
    TaskEntry,
    make_task,
    passive_tmaze,
    pomdp,
    register_task,
    resolve,
)
from adastack.tasks.functional import FunctionalTaskEnv
from adastack.tasks.functional_vector import FunctionalTaskVectorEnv
from adastack.tasks.spec import parse_spec
from tasks.worlds.probe import Counter

FINITE = [entry for entry in TASKS.values() if entry.kind == "finite"]


def same(a, b):
    arrays = ("observation", "next_state", "probability", "reward", "ends", "start", "cue")
    return a.name == b.name and all(np.array_equal(getattr(a, n), getattr(b, n)) for n in arrays)


@pytest.mark.parametrize(
    "spec",
    [
        "passive-tmaze",
        "passive-tmaze:length=5",
        "passive-tmaze:length=5,random_length=true",
        "active-tmaze:length=4,continual=true",
        "xormaze:continual=true",
        "heaven-hell",
        "repeat-first:length=3,suits=3",
        "memory-length:length=3,bits=2",
        "office",
        "key-order",
        "pomdp:file=tmaze",
    ],
)
def test_a_tasks_name_builds_it_again(spec):
    task = make_task(spec)
    assert isinstance(task, FiniteTask)
    assert same(make_task(task.name), task)


def test_options_reach_the_builder():
    assert same(
        make_task("passive-tmaze:continual=true,length=7,random_length=true"),
        passive_tmaze(7, random_length=True, continual=True),
    )


def test_a_path_may_hold_commas_and_colons(tmp_path):
    path = tmp_path / "a,b:c.pomdp"
    path.write_text("states: 2\nactions: 1\nobservations: 1\nT: * identity\nO: * uniform")
    assert same(make_task(f"pomdp:file={path}"), pomdp(path))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tmaze", r"expected a task of passive-tmaze, .*, actual: 'tmaze'"),
        ("pasive-tmaze", r"actual: 'pasive-tmaze' \(did you mean passive-tmaze\?\)"),
        ("", r"expected a task of .*, cube, .* or a Gymnasium id, actual: ''"),
        ("CartPol-v1", r"actual: 'CartPol-v1' \(did you mean CartPole-v1\?\)"),
        ("cubes", r"actual: 'cubes' \(did you mean cube\?\)"),
        ("cube:side=1", "expected an option of view, .* for cube, actual: 'side'"),
        ("cube:depth=two", "expected an integer for depth, actual: 'two'"),
        ("cube:depth", "expected option=value after 'cube', actual: 'depth'"),
        ("math:MyEnv-v0", "expected an environment class or a Gymnasium id of math, actual: 'MyE"),
        ("object:MyEnv", r"MyEnv was given in Python .* use Agent.load\(folder, env=MyEnv\)"),
        ("math:flor", r"a Gymnasium id of math, actual: 'flor' \(did you mean floor\?\)"),
        ("xormaze:length=3", "expected an option of continual for xormaze, actual: 'length'"),
        ("passive-tmaze:lenght=3", r"actual: 'lenght' \(did you mean length\?\)"),
        ("office:size=3", r"expected an option \(it has none\) for office, actual: 'size'"),
        ("passive-tmaze:length", "expected option=value after 'passive-tmaze', actual: 'length'"),
        ("passive-tmaze:length=long", "expected an integer for length, actual: 'long'"),
        ("passive-tmaze:length=4.5", "expected an integer for length, actual: '4.5'"),
        ("passive-tmaze:length=", "expected an integer for length, actual: ''"),
        ("passive-tmaze:continual=1", "expected continual=true or continual=false, actual: '1'"),
        ("passive-tmaze:length=3,length=4", "expected option 'length' once, actual: twice"),
        ("passive-tmaze:length=1", "length must be an integer of at least 2, actual: 1"),
        ("pomdp:file=nowhere", "expected a .pomdp file or one of tiger, tmaze, actual nowhere"),
    ],
)
def test_wrong_specs_are_named_in_one_line(spec, message):
    with pytest.raises(ValueError, match=message) as caught:
        resolve(spec).finite()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("entry", FINITE, ids=lambda entry: entry.name)
def test_every_task_has_an_id_without_wrappers(entry):
    env = gym.make(entry.env_id)
    assert type(env) is FiniteTaskEnv
    assert same(env.task, make_task(entry.default_spec))
    assert same(gym.make(env.spec).task, env.task)
    envs = gym.make_vec(entry.env_id, num_envs=3)
    assert type(envs) is FiniteTaskVectorEnv
    assert envs.num_envs == 3
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    again = gym.make_vec(envs.spec)
    assert again.num_envs == 3
    assert same(again.task, env.task)


def test_options_reach_gymnasium():
    env = gym.make("adastack/PassiveTMaze-v0", length=9, continual=True, render_mode="ansi")
    assert same(env.task, passive_tmaze(9, continual=True))
    assert env.render_mode == "ansi"
    envs = gym.make_vec("adastack/ActiveTMaze-v0", 2, length=9, autoreset_mode="SameStep")
    assert envs.task.name == "active-tmaze:length=9"
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    many = gym.make_vec("adastack/XorMaze-v0", 2, vectorization_mode="sync")
    assert isinstance(many, SyncVectorEnv)
    with pytest.raises(ValueError, match=r"actual: 'lenght' \(did you mean length\?\)"):
        gym.make("adastack/PassiveTMaze-v0", lenght=9)


def test_the_ids_are_there_once_the_package_is_imported():
    code = (
        "import sys, gymnasium, adastack; gymnasium.spec('adastack/XorMaze-v0');"
        "heavy = ('jax', 'numba', 'lark', 'scipy', 'matplotlib', 'mujoco', 'minigrid', 'torch');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_users_task_is_known_everywhere(capsys):
    def double(length: int = 3, fast: bool = False) -> FiniteTask:
        return passive_tmaze(2 * length, continual=fast)

    entry = TaskEntry("double", double, "the colour", "test/Double-v0", kappa=2)
    register_task(entry)
    assert make_task("double:length=4,fast=true").name == "passive-tmaze:length=8,continual=true"
    assert gym.make("test/Double-v0", length=5).task.name == "passive-tmaze:length=10"
    assert gym.make_vec("test/Double-v0", 2).task.name == "passive-tmaze:length=6"
    assert entry.default_spec == "double:length=3,fast=false"
    main(["tasks"])
    assert "double" in capsys.readouterr().out
    with pytest.raises(ValueError, match="task 'double' is already registered"):
        register_task(entry)


def test_a_users_world_is_known_everywhere():
    register_task(TaskEntry("counter", None, "a coin", "test/Counter-v0", functional=Counter))
    found = resolve("counter:time_limit=7")
    assert (found.kind, found.functional()) == ("functional", Counter(7))
    assert isinstance(found.env(), FunctionalTaskEnv)
    assert isinstance(found.vector_env(2), FunctionalTaskVectorEnv)
    assert gym.make("test/Counter-v0", time_limit=9).unwrapped.task == Counter(9)
    assert gym.make_vec("test/Counter-v0", 2).task == Counter()
    assert TASKS["counter"].default_spec == "counter:time_limit=5"
    with pytest.raises(ValueError, match="id 'test/Counter-v0' is already registered"):
        register_task(TaskEntry("count", env_id="test/Counter-v0", functional=Counter))


def test_a_users_environment_is_enough_for_a_world():
    class Lamp(gym.Env):
        observation_space = action_space = gym.spaces.Discrete(2)

        def __init__(self, time_limit: int = 3) -> None:
            self.time_limit = time_limit

        def reset(self, *, seed=None, options=None):
            self.clock = 0
            return 1, {}

        def step(self, action):
            self.clock += 1
            return 0, 1.0, self.clock == self.time_limit, False, {}

    register_task(TaskEntry("lamp", remember="the light", env=Lamp))
    found = resolve("lamp:time_limit=1")
    assert (found.kind, found.functional(), found.env().time_limit) == ("host", None, 1)
    envs = found.vector_env(2, "SameStep")
    envs.reset(seed=0)
    observations, _, terminated, _, infos = envs.step([0, 0])
    assert observations.tolist() == [1, 1]
    assert terminated.all()
    assert infos["final_obs"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("spec", "kind", "name", "options"),
    [
        ("xormaze", "finite", "xormaze", {}),
        ("passive-tmaze:", "finite", "passive-tmaze", {}),
        (
            *("active-tmaze:continual=true,length=4", "finite", "active-tmaze"),
            {"length": 4, "continual": True},
        ),
        ("pomdp:file=a,b:c.pomdp", "finite", "pomdp", {"file": "a,b:c.pomdp"}),
        ("cube:view=full,depth=2", "functional", "cube", {"view": "full", "depth": 2}),
        ("fetch-reach:goal_period=9", "host", "fetch-reach", {"goal_period": 9}),
        ("CartPole-v1", "host", "CartPole-v1", {}),
        (
            *("CartPole-v1:sutton_barto_reward=true", "host", "CartPole-v1"),
            {"sutton_barto_reward": True},
        ),
        ("adastack/Cube-v0", "host", "adastack/Cube-v0", {}),
    ],
)
def test_a_spec_says_what_it_is(spec, kind, name, options):
    found = resolve(spec)
    again = resolve(str(found))
    for each in (found, again):
        assert (each.kind, each.name, each.options) == (kind, name, options)
    assert parse_spec(str(found)).name == name


def test_options_are_replaced_and_spelled_in_their_order():
    task = resolve("passive-tmaze:continual=true")
    assert str(task.with_options(length=6)) == "passive-tmaze:length=6,continual=true"
    assert str(resolve("passive-tmaze").with_options(length=4)) == "passive-tmaze:length=4"
    assert task.with_options(length=6).with_options(length=3).finite().name == (
        "passive-tmaze:length=3,continual=true"
    )
    assert str(task) == "passive-tmaze:continual=true"
    with pytest.raises(ValueError, match="expected an option of continual for xormaze"):
        resolve("xormaze").with_options(length=3)


def test_ids_of_gymnasium_are_no_options():
    assert parse_spec("my_module:MyEnv-v0") == ("my_module:MyEnv-v0", {})
    assert parse_spec("a.b:name/MyEnv-v0") == ("a.b:name/MyEnv-v0", {})
    assert parse_spec("name/MyEnv-v0:size=3") == ("name/MyEnv-v0", {"size": "3"})


def test_ids_are_made_by_gymnasium():
    env = resolve("CartPole-v1").env("rgb_array")
    assert env.spec.id == "CartPole-v1"
    assert env.render_mode == "rgb_array"
    envs = resolve("CartPole-v1").vector_env(2, AutoresetMode.SAME_STEP)
    assert isinstance(envs, SyncVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    ours = resolve("adastack/XorMaze-v0")
    assert type(ours.env()) is FiniteTaskEnv
    assert type(ours.vector_env(2)) is FiniteTaskVectorEnv
    with pytest.raises(ValueError, match="expected a finite task, actual: 'CartPole-v1', which"):
        resolve("CartPole-v1").finite()


@pytest.mark.parametrize(
    ("package", "env_id"),
    [("popgym", "popgym-RepeatFirstEasy-v0"), ("minigrid", "MiniGrid-MemoryS7-v0")],
)
def test_ids_of_known_packages_need_no_import(package, env_id, monkeypatch):
    pytest.importorskip(package)
    code = f"from adastack.tasks import resolve; resolve({env_id!r}).env().reset(seed=0)"
    subprocess.run([sys.executable, "-c", code], check=True)
    monkeypatch.delitem(gym.registry, env_id, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"pip install 'adastack\[{package}\]'"):
        resolve(env_id)


def test_text_is_left_out_of_observations():
    pytest.importorskip("minigrid").register_minigrid_envs()
    with pytest.warns(UserWarning, match=r"MemoryS7-v0: text is left out .*: mission"):
        env = resolve("MiniGrid-MemoryS7-v0").env()
    assert list(env.observation_space) == ["direction", "image"]
    assert env.reset(seed=0)[0] in env.observation_space
    with pytest.warns(UserWarning, match="mission"):
        envs = resolve("MiniGrid-MemoryS7-v0").vector_env(2)
    assert list(envs.single_observation_space) == ["direction", "image"]
    named = gym.make("MiniGrid-MemoryS7-v0")
    with pytest.warns(UserWarning, match="mission"):
        copied = resolve(SyncVectorEnv([lambda: named])).vector_env(1)
    assert list(copied.single_observation_space) == ["direction", "image"]


def test_the_active_tmaze_has_the_limit_that_the_table_says():
    assert TASKS["active-tmaze"].horizon == "max(100, 4 length)"
    assert make_task("active-tmaze:length=25").time_limit == 100
    assert make_task("active-tmaze:length=26").time_limit == 104


def test_the_command_lists_every_task(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["tasks"]) == 0
    text = capsys.readouterr().out
    for entry in TASKS.values():
        assert entry.name in text
        assert entry.remember[:20] in text
    assert main(["tasks", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in found["tasks"]}
    assert rows.keys() == {entry.name for entry in FINITE}
    assert rows.keys() | {row["name"] for row in found["worlds"]} == TASKS.keys()
    assert rows["xormaze"]["kappa"] == 3
    assert rows["passive-tmaze"]["spec"].startswith("passive-tmaze:length=16,")
    assert rows["office"]["paper"]["kappa"] == "T"
    assert rows["office"]["paper"]["value_consistent"] is False
    assert all(same(make_task(row["spec"]), make_task(name)) for name, row in rows.items())
