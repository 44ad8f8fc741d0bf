"""Runs: killed and resumed bit for bit, refused when they make no sense, evaluated anywhere."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import gymnasium
import numpy as np
import pytest

from adastack.files import DamagedFileError
from adastack.process.events import LEARNING
from adastack.progress import Silent
from adastack.runs import Run, RunError
from adastack.training import evaluate, train

pytestmark = pytest.mark.usefixtures("programs_are_compiled_once")
TINY = {"hidden": 8, "n_envs": 4, "n_steps": 50, "batch_size": 100, "n_epochs": 2}


def arguments(path, **changes):
    given = {
        "task": "passive-tmaze:length=3",
        "memory": "adaptive",
        "stack_size": 2,
        "algo": "ppo",
        "preset": "paper",
        "steps": 3000,
        "seeds": [0, 5],
        "path": path,
        "overrides": dict(TINY),
        "resume": False,
        "progress": Silent(),
    }
    return {**given, **changes}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "finished"
    return path, train(**arguments(path))


def files_of(path):
    arrays, _ = Run.open(path).load_checkpoint()
    return (path / "events/events.out.tfevents.0").read_bytes(), arrays


def assert_same_end(path, other):
    ours, theirs = files_of(path), files_of(other)
    assert ours[0] == theirs[0]
    assert ours[1].keys() == theirs[1].keys()
    for name in ours[1]:
        np.testing.assert_array_equal(ours[1][name], theirs[1][name])


def test_a_run_reports_what_it_is_worth(finished):
    path, result = finished
    assert result["trained_steps"] == 3000
    assert [row["seed"] for row in result["seeds"]] == [0, 5]
    expected = {"success", "return", "reward_rate", "memory_regret", "active_regret",
                "passive_regret", "optimality", "abstraction", "remembered"}  # fmt: skip
    assert expected <= result["seeds"][0].keys()
    curves = Run.open(path).curves()
    assert curves["step"].tolist() == list(range(100, 3001, 100))
    assert curves["success"].shape == (2, 30)
    assert (curves["evictions"].sum(axis=2) == 100).all()


def test_a_run_has_a_picture_and_events_of_how_it_learned(finished, tmp_path):
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    path, _ = finished
    tabular = tmp_path / "table"
    train(**arguments(tabular, algo="sarsa", preset="robust", overrides={}))
    scalars = {}
    for folder in (path, tabular):
        assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")
        reader = loader.EventAccumulator(str(folder / "events")).Reload()
        scalars[folder] = {name: reader.Scalars(name) for name in reader.Tags()["scalars"]}
    common = {"return", "success", "memory_regret", "episode_length"}
    assert common <= scalars[tabular].keys()
    assert common | {*LEARNING} <= scalars[path].keys()
    last = {name: events[-1].value for name, events in scalars[path].items()}
    n_actions, k = 4, 2
    assert 0 < last["entropy"] <= np.log(n_actions) + 1e-6
    assert 0 < last["memory_entropy"] <= np.log(k) + 1e-6
    assert 0 <= last["clip_fraction"] < 1
    assert 0 <= last["kl"] < 0.5
    assert last["value_loss"] > 0
    assert last["episode_length"] > 1


def test_a_run_killed_in_the_middle_ends_as_if_it_never_was(finished, tmp_path):
    """A real process, a real kill -9, at a moment when a checkpoint exists."""
    path = tmp_path / "killed"
    script = (
        textwrap.dedent(
            f"""
        import time
        from pathlib import Path
        from adastack import training
        from adastack.deep import finite_session
        from adastack.progress import Silent
        training.SAVE_SECONDS = 0.0
        finite_session.CHUNK_SECONDS = 0.0
        advance = finite_session.FiniteSession.advance
        def slowly(self):
            advance(self)
            time.sleep(0.3)
        finite_session.FiniteSession.advance = slowly
        training.train(**{ {**arguments(None), "path": None, "progress": None}!r},)
        """
        )
        .replace("'path': None", f"'path': Path({str(path)!r})")
        .replace("'progress': None", "'progress': Silent()")
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 240
    while not (path / "checkpoint.json").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    run = Run.open(path)
    assert run.status == "resumable"
    assert 0 < run.load_checkpoint()[1]["done"] < 15
    train(**arguments(path, resume=True))
    assert_same_end(path, finished[0])


def test_a_finished_run_gives_its_result_again(finished):
    path, result = finished
    assert train(**arguments(path, resume=True)) == result


def test_a_run_from_before_a_setting_existed_is_resumed(finished, tmp_path):
    """It was trained with what the setting's default still means."""
    document = dict(Run.open(finished[0]).settings)
    document["settings"] = {n: v for n, v in document["settings"].items() if n != "keep_best"}
    old = Run.create(tmp_path / "old", document)
    assert train(**arguments(old.path, resume=True))["seeds"] == finished[1]["seeds"]
    other = {**TINY, "keep_best": True}
    with pytest.raises(RunError, match="its keep_best is False, expected True"):
        train(**arguments(old.path, overrides=other, resume=True))


def test_a_run_with_a_setting_that_is_gone_says_so(finished, tmp_path):
    document = dict(Run.open(finished[0]).settings)
    document["settings"] = {**document["settings"], "charm": 0.5}
    old = Run.create(tmp_path / "old", document)
    with pytest.raises(RunError, match="another version: it has charm, which is not a setting"):
        train(**arguments(old.path, resume=True))


def test_nothing_is_overwritten(finished):
    path, _ = finished
    before = files_of(path)[0]
    with pytest.raises(RunError, match="already exists"):
        train(**arguments(path))
    with pytest.raises(RunError, match="holds another run: its task"):
        train(**arguments(path, task="xormaze", resume=True))
    others = {**arguments(path)["overrides"], "gamma": 0.5}
    with pytest.raises(RunError, match=r"holds another run: its gamma is 0\.\d+, expected 0\.5"):
        train(**arguments(path, overrides=others, resume=True))
    assert files_of(path)[0] == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "pasive-tmaze"}, "passive-tmaze"),
        ({"memory": "elephant"}, "expected a memory of"),
        ({"stack_size": 0}, "at least 1"),
        ({"stack_size": 10**6}, "use a smaller k"),
        ({"seeds": [1, 1]}, "different"),
        ({"seeds": [-1]}, "different"),
        ({"steps": 0}, "steps must be"),
        ({"preset": "best"}, "preset must be one of"),
        ({"algo": "dqn"}, "algo must be one of"),
        ({"overrides": {"net": "rnn"}}, "net must be one of"),
        ({"overrides": {"net": "cnn"}}, "expects an image"),
        ({"overrides": {"speed": 1}}, "expected a setting"),
        ({"overrides": {"batch_size": 100}}, "must divide"),
        ({"overrides": {"learning_rate": "fast"}}, "learning_rate must be a finite number"),
        ({"overrides": {"entropy": float("nan")}}, "entropy must be a finite number"),
        ({"overrides": {"shared": 2}}, "shared must be true or false"),
        ({"task": "CartPole-v1", "stack_size": 10**6}, "expected to need.*use a smaller k"),
        (
            {"task": "CartPole-v1", "memory": "frame", "stack_size": 10**9},
            "expected to need.*use a smaller k",
        ),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(changes, message, tmp_path):
    path = tmp_path / "run"
    with pytest.raises(ValueError, match=message) as caught:
        train(**arguments(path, **changes))
    assert "\n" not in str(caught.value)
    assert not path.exists()


class Speaker(gymnasium.Env):
    """Expects words."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Text(3)


def test_actions_that_nobody_supports_are_refused(tmp_path):
    gymnasium.register("Speaker-v0", lambda **_: Speaker())
    with pytest.raises(TypeError, match=r"expected a Discrete.*actual: Text") as caught:
        train(**arguments(tmp_path / "run", task="Speaker-v0"))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_stack_that_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    def full(*_):
        raise MemoryError("Unable to allocate 24 GiB")

    monkeypatch.setattr("adastack.deep.sessions.GymSession", full)
    with pytest.raises(ValueError, match="24 GiB for a stack of 99 slots: use a smaller k"):
        train(**arguments(tmp_path / "run", task="CartPole-v1", stack_size=99))
    assert not (tmp_path / "run").exists()


def test_a_loss_that_is_not_a_number_stops_the_run(tmp_path):
    path = tmp_path / "run"
    overrides = {**TINY, "learning_rate": 1e30, "max_grad_norm": 1e30}
    with pytest.raises(RuntimeError, match=r"loss of seed \d+ is nan at step \d+"):
        train(**arguments(path, overrides=overrides))
    assert Run.open(path).status == "failed"


def test_a_policy_is_played_on_another_length(finished):
    run = Run.open(finished[0])
    result = evaluate(run, task="passive-tmaze:length=2000", episodes=3, greedy=True, seed=0)
    assert [row["attempt_steps"] for row in result["seeds"]] == [2000, 2000]
    assert all(row["exact"] for row in result["seeds"])
    with pytest.raises(ValueError, match="episodes must be at least 1"):
        evaluate(run, task=None, episodes=0, greedy=True, seed=0)
    own = evaluate(run, task=None, episodes=100, greedy=True, seed=0)
    assert own["seeds"] == finished[1]["seeds"]
    with pytest.raises(ValueError, match="expects the observation_names"):
        evaluate(run, task="heaven-hell", episodes=3, greedy=True, seed=0)


def test_a_damaged_or_foreign_checkpoint_is_refused(finished, tmp_path):
    other = tmp_path / "other"
    train(**arguments(other, overrides={**TINY, "hidden": 4}, steps=200, seeds=[1]))
    run = Run.open(other)
    arrays, meta = Run.open(finished[0]).load_checkpoint()
    run.save_checkpoint(arrays, **meta)
    with pytest.raises(DamagedFileError, match="checkpoint is of another run"):
        evaluate(run, task=None, episodes=1, greedy=True, seed=0)
    for file in other.glob("checkpoint-*.safetensors"):
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(content)
    with pytest.raises(DamagedFileError, match="checksum"):
        evaluate(run, task=None, episodes=1, greedy=True, seed=0)
    for content, message in ((b"PK\x03\x04", "expected a JSON"), (b"{}", "not a checkpoint")):
        (other / "checkpoint.json").write_bytes(content)
        with pytest.raises(DamagedFileError, match=message):
            evaluate(run, task=None, episodes=1, greedy=True, seed=0)


def test_settings_of_another_kind_of_run_are_refused(finished, tmp_path):
    settings = Run.open(finished[0]).settings
    without = {name: value for name, value in settings.items() if name != "seeds"}
    for number, other in enumerate((without, {**settings, "settings": {"alpha": 0.1}})):
        run = Run.create(tmp_path / str(number), other)
        run.save_checkpoint({"any": np.zeros(1)}, done=0)
        with pytest.raises(ValueError, match=r"the settings of a run|run with PPOSettings"):
            evaluate(run, task=None, episodes=1, greedy=True, seed=0)


def test_an_unfinished_run_without_checkpoint_cannot_be_evaluated(finished, tmp_path):
    run = Run.create(tmp_path / "run", Run.open(finished[0]).settings)
    with pytest.raises(RunError, match="no checkpoint"):
        evaluate(run, task=None, episodes=1, greedy=True, seed=0)
