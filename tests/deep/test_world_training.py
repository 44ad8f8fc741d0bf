"""Every world is trained, tested on its like, and killed and resumed, through the command line."""

import json
import sys
from functools import cache

import numpy as np
import pytest

from adastack.algorithms import default_preset
from adastack.cli import main
from adastack.deep.functional import FunctionalTrainer
from adastack.deep.settings import PRESETS, PPOSettings, settings_for
from adastack.runs import Run
from adastack.tasks import TASKS
from adastack.tasks.worlds.fetch import arm as fetch_arm
from adastack.tasks.worlds.minigrid.functional import MiniGridMemory

TINY = ["n_envs=2", "n_steps=32", "batch_size=32", "n_epochs=1", "hidden=8", "learning_rate=0.01"]

CUBE = "cube:depth=1,time_limit=10"
"""The world of all tests that need just one, so that its programs are compiled once."""


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


shared_trainer = cache(FunctionalTrainer)


@pytest.fixture(autouse=True)
def _few_attempts_of_programs_compiled_once(monkeypatch):
    monkeypatch.setattr("adastack.deep.functional_session.FunctionalTrainer", shared_trainer)
    monkeypatch.setattr("adastack.deep.gym_session.StackSession.evaluation_episodes", 2)


def command(*words):
    return main([*words, "--json"])


def train(spec, path, *words, tiny=TINY):
    settings = [word for setting in tiny for word in ("--set", setting)]
    return command("train", spec, "--algo", "ppo", "--out", str(path), *settings, *words)


@pytest.mark.parametrize(
    ("spec", "other", "memory", "net"),
    [
        slow(CUBE, "cube:depth=2,time_limit=10", "adaptive", "mlp"),
        slow(CUBE, "cube:depth=2,time_limit=10", "push_skip", "transformer"),
        slow("minigrid-memory:size=7", "minigrid-memory:size=9", "adaptive", "lstm"),
        slow("minigrid-memory:size=7,view=rgb", "minigrid-memory:size=9,view=rgb", "frame", "cnn"),
        slow("velocity-only-cartpole", "velocity-only-cartpole:time_limit=20", "push_skip", "mlp"),
        slow("position-only-cartpole", "position-only-cartpole:time_limit=20", "adaptive", "lstm"),
        ("fetch-reach:goal_period=9", "fetch-reach:goal_period=11", "adaptive", "mlp"),
        slow("fetch-reach:goal_period=9", "fetch-reach:goal_period=11", "frame", "transformer"),
    ],
)
def test_every_world_is_trained_and_tested_elsewhere(spec, other, memory, net, tmp_path, capsys):
    words = ("--memory", memory, "--k", "2", "--net", net, "--steps", "128", "--seeds", "2")
    assert train(spec, tmp_path / "run", *words) == 0
    trained = json.loads(capsys.readouterr().out)
    assert trained["trained_steps"] == 128
    assert [row["seed"] for row in trained["seeds"]] == [0, 1]
    run = Run.open(tmp_path / "run")
    arrays, _ = run.load_checkpoint()
    weights = [name for name in arrays if name.endswith("['policy']['kernel']")]
    first, second = sorted(name for name in weights if "params" in name and "mu" not in name
                           and "nu" not in name)  # fmt: skip
    assert (arrays[first] != arrays[second]).any()
    curves = run.curves()
    assert curves["evictions"].sum() == 2 * 100
    assert command("evaluate", str(run.path), "--task", other, "--episodes", "2") == 0
    tested = json.loads(capsys.readouterr().out)
    assert tested["task"] == other
    for row in tested["seeds"]:
        assert row["attempts"] >= 2
        assert np.isfinite(row["return"])
        assert 0 <= row["success"] <= 1


@pytest.mark.slow
def test_pictures_are_learned_from_by_convolutions():
    settings = PPOSettings(
        net="cnn", hidden=8, n_envs=2, n_steps=4, batch_size=8, n_epochs=1, learning_rate=0.01
    )
    trainer = FunctionalTrainer(MiniGridMemory(7, view="rgb"), "adaptive", 2, settings)
    learner = trainer.start(0)
    before = np.asarray(learner.params["params"]["actor_encoder"]["Conv_0"]["kernel"])
    learner, log, loss = trainer.advance(learner, 0, 0, np.float32(0))
    after = np.asarray(learner.params["params"]["actor_encoder"]["Conv_0"]["kernel"])
    assert np.isfinite(loss).all()
    assert (after != before).any()
    assert log.reward.shape == (4, 2)


@pytest.mark.slow
def test_a_stopped_run_on_a_world_ends_as_if_it_had_not(tmp_path, capsys, monkeypatch):
    spec, words = CUBE, ("--k", "2", "--steps", "320")
    assert train(spec, tmp_path / "whole", *words) == 0
    monkeypatch.setattr("adastack.training.SAVE_SECONDS", 0.0)
    from adastack.deep.functional_session import FunctionalSession

    real = FunctionalSession.advance

    def dies(self):
        if self.done == 3:
            raise KeyboardInterrupt
        real(self)

    monkeypatch.setattr(FunctionalSession, "advance", dies)
    assert train(spec, tmp_path / "cut", *words) == 1
    monkeypatch.setattr(FunctionalSession, "advance", real)
    assert Run.open(tmp_path / "cut").load_checkpoint()[1]["done"] == 3
    assert train(spec, tmp_path / "cut", *words, "--resume") == 0
    whole, cut = (Run.open(tmp_path / name).load_checkpoint()[0] for name in ("whole", "cut"))
    for name in whole:
        np.testing.assert_array_equal(whole[name], cut[name])
    capsys.readouterr()


@pytest.mark.parametrize(
    ("spec", "words", "message"),
    [
        ("cube:depht=2", (), "did you mean depth"),
        ("cube:depth=99", (), "depth"),
        ("fetch-reach:goal_period=0", (), "goal_period must be"),
        ("cube", ("--net", "cnn"), "net 'cnn' expects an image"),
        ("fetch-reach", ("--set", "action_form=flat"), "'flat' expects Discrete"),
        ("cube", ("--preset", "robots"), "preset must be one of"),
        ("cube", ("--algo", "sarsa"), "learns a table, actual: cube: use --algo ppo"),
        ("cubee", (), "did you mean cube?"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(spec, words, message, tmp_path, capsys):
    assert train(spec, tmp_path / "run", *words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_worlds_are_learned_by_a_network_unless_told_otherwise(tmp_path, capsys):
    settings = [word for setting in TINY for word in ("--set", setting)]
    words = (CUBE, "--steps", "64", "--out", str(tmp_path / "run"), *settings)
    assert command("train", *words) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["algo"] == "ppo"
    assert command("find-k", "CartPole-v1", "--algo", "q") == 2
    assert "expected a finite task for algo q" in capsys.readouterr().err


def test_another_world_is_refused(tmp_path, capsys):
    assert train(CUBE, tmp_path / "run", "--steps", "64") == 0
    assert command("evaluate", str(tmp_path / "run"), "--task", "minigrid-memory") == 2
    assert command("evaluate", str(tmp_path / "run"), "--task", "cube:view=full") == 2
    error = capsys.readouterr().err
    assert error.count("expected a task that shows MultiDiscrete") == 2
    assert "actual: Box of shape (7, 7, 3) and Discrete(7) in minigrid-memory\n" in error


@pytest.mark.parametrize(
    ("spec", "longer"),
    [
        slow("fetch-reach", "fetch-reach:goal_period=70"),
        slow("cube:depth=8,time_limit=10", "cube:depth=8,time_limit=70"),
    ],
)
def test_an_attempt_is_played_to_its_end_where_that_is_known(
    spec, longer, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("adastack.deep.evaluation.MOST_STEPS", 20)
    assert train(spec, tmp_path / "run", "--steps", "64") == 0
    assert command("evaluate", str(tmp_path / "run"), "--task", longer, "--episodes", "4") == 0
    (row,) = json.loads(capsys.readouterr().out.splitlines()[-1])["seeds"]
    assert (row["attempts"], row["cut"], row["attempt_steps"]) == (4, 0, 70)


def test_a_missing_extra_is_asked_for_by_name(tmp_path, capsys, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "gymnasium_robotics"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "gymnasium_robotics", None)
    fetch_arm.arm_model.cache_clear()
    assert train("fetch-reach", tmp_path / "run", "--steps", "64") == 2
    assert "pip install 'adastack[robot]'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_each_world_but_popgyms_games_has_a_preset_of_its_own():
    worlds = {row.name for row in TASKS.values() if row.kind != "finite"}
    games = {name for name in worlds if name.startswith("popgym-")}
    assert worlds - games <= set(PRESETS)
    assert {default_preset("ppo", game) for game in games} == {"default"}
    assert default_preset("ppo", "minigrid-memory:size=17") == "minigrid-memory"
    assert default_preset("ppo", "active-tmaze:length=6") == "default"
    assert settings_for("fetch-reach", "ppo", {}).normalize_observation
    assert isinstance(PRESETS["cube"], PPOSettings)


@pytest.mark.slow
def test_an_arm_learns_to_keep_its_goal_for_as_long_as_it_is_hidden(tmp_path, capsys):
    words = ("--k", "4", "--steps", "1.5e5", "--seed", "1")
    assert train("fetch-reach", tmp_path / "run", *words, tiny=()) == 0
    later = ("--task", "fetch-reach:goal_period=1000", "--episodes", "8")
    assert command("evaluate", str(tmp_path / "run"), *later) == 0
    tested = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert tested["seeds"][0]["success"] == 1.0
    assert tested["seeds"][0]["memory_regret"] < 0.01
