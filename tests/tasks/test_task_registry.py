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
)


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
        ("", r"expected a task of .*, actual: '' \(`adastack tasks` lists worlds, too\)"),
        ("xormaze:length=3", "expected an option of continual for xormaze, actual: 'length'"),
        ("passive-tmaze:lenght=3", r"actual: 'lenght' \(did you mean length\?\)"),
        ("office:size=3", r"expected an option \(it has none\) for office, actual: 'size'"),
        ("passive-tmaze:length", "expected option=value after 'passive-tmaze', actual: 'length'"),
        ("passive-tmaze:length=long", "expected a whole number for length, actual: 'long'"),
        ("passive-tmaze:length=4.5", "expected a whole number for length, actual: '4.5'"),
        ("passive-tmaze:length=", "expected a whole number for length, actual: ''"),
        ("passive-tmaze:continual=1", "expected continual=true or continual=false, actual: '1'"),
        ("passive-tmaze:length=3,length=4", "expected option 'length' once, actual: twice"),
        ("passive-tmaze:length=1", "length must be an integer of at least 2, actual: 1"),
        ("pomdp:file=nowhere", "expected a .pomdp file or one of tiger, tmaze, actual nowhere"),
    ],
)
def test_wrong_specs_are_named_in_one_line(spec, message):
    with pytest.raises(ValueError, match=message) as caught:
        make_task(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("entry", TASKS.values(), ids=lambda entry: entry.name)
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
        "print([m for m in ('numba', 'lark', 'matplotlib') if m in sys.modules])"
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


def test_the_command_lists_every_task(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["tasks"]) == 0
    text = capsys.readouterr().out
    for entry in TASKS.values():
        assert entry.name in text
        assert entry.remember[:20] in text
    assert main(["tasks", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["tasks"]}
    assert rows.keys() == TASKS.keys()
    assert rows["xormaze"]["kappa"] == 3
    assert rows["passive-tmaze"]["spec"].startswith("passive-tmaze:length=16,")
    assert rows["office"]["paper"]["kappa"] == "T"
    assert rows["office"]["paper"]["value_consistent"] is False
    assert all(same(make_task(row["spec"]), make_task(name)) for name, row in rows.items())
