"""What is logged must be what the recording wrappers count, and must arrive where it is sent."""

import csv
import importlib
import sys

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

import adastack  # noqa: F401
from adastack.integrations.sb3 import MemoryCallback, VecAdaptiveStack
from adastack.wrappers import AdaptiveStack, RecordMemory

MAZE = {"id": "adastack/PassiveTMaze-v0", "length": 5}


def learn(model, folder, steps, **kwargs):
    model.set_logger(configure(str(folder), ["csv", "tensorboard"]))
    model.learn(steps, callback=MemoryCallback(**kwargs), log_interval=1)
    with (folder / "progress.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_log_agrees_with_the_recording_wrapper(tmp_path):
    """One environment inside RecordMemory, beside the same one under the callback."""
    recorder = RecordMemory(AdaptiveStack(gym.make(**MAZE), 2, padding_type="empty"), interval=50)
    model = PPO("MlpPolicy", recorder, n_steps=50, batch_size=50, n_epochs=1, seed=4)
    rows = learn(model, tmp_path, 400, interval=50)
    assert len(rows) == len(recorder.windows) == 8
    for row, window in zip(rows, recorder.windows, strict=True):
        assert float(row["memory/memory_regret"]) == pytest.approx(window["memory_regret"])
        for name in ("active_regret", "passive_regret"):
            assert float(row[f"memory/{name}"]) == pytest.approx(window[name] / 50)
        rate = window["successes"] / window["attempts"]
        assert float(row["memory/success_rate"]) == pytest.approx(rate)
        assert float(row["memory/reward_per_step"]) == pytest.approx(window["reward"] / 50)
        evictions = [float(row[f"memory/evicted_slot_{slot}"]) for slot in (0, 1)]
        assert evictions == pytest.approx(np.array(window["evictions"]) / 50)
        assert float(row["memory/mean_age"]) == pytest.approx(window["mean_age"])
    assert any(window["passive_regret"] for window in recorder.windows)
    assert list(tmp_path.glob("events.out.tfevents*"))


def test_the_vector_memory_logs_what_single_memories_do(tmp_path):
    def single():
        return AdaptiveStack(gym.make(**MAZE), 2, padding_type="empty", action_form="flat")

    inside = VecMonitor(DummyVecEnv([single] * 3))
    outside = VecMonitor(
        VecAdaptiveStack(DummyVecEnv([lambda: gym.make(**MAZE)] * 3), 2, padding_type="empty")
    )
    tables = []
    for name, venv in (("inside", inside), ("outside", outside)):
        model = PPO("MlpPolicy", venv, n_steps=100, batch_size=50, n_epochs=1, seed=1)
        tables.append(learn(model, tmp_path / name, 1200))
    assert len(tables[0]) == 4
    for one, other in zip(*tables, strict=True):
        memory = [name for name in one if name.startswith("memory/")]
        assert len(memory) == 9
        assert {name: one[name] for name in memory} == {name: other[name] for name in memory}


def test_off_policy_algorithms_and_tasks_without_cues(tmp_path):
    venv = VecAdaptiveStack(make_vec_env("CartPole-v1", 2), 2)
    rows = learn(DQN("MlpPolicy", venv, learning_starts=50), tmp_path, 500, interval=10)
    assert "memory/mean_age" in rows[-1]
    assert "memory/memory_regret" not in rows[-1]


def test_no_memory_is_one_clear_error():
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=8, batch_size=8)
    with pytest.raises(ValueError, match="MemoryCallback expects environments with a memory"):
        model.learn(8, callback=MemoryCallback())


def run_with(callback):
    venv = VecAdaptiveStack(make_vec_env(MAZE["id"], 4, env_kwargs={"length": 5}), 2)
    model = PPO("MlpPolicy", venv, n_steps=50, batch_size=50, n_epochs=1, seed=7)
    model.learn(600, callback=[MemoryCallback(interval=25), callback], log_interval=1)
    return model


def test_mlflow_receives_the_log(tmp_path, monkeypatch):
    pytest.importorskip("mlflow")
    # The small edition of MLflow has no database; its store of plain files must be asked for.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    from mlflow.tracking import MlflowClient

    from adastack.integrations.sb3 import MlflowCallback

    uri = (tmp_path / "store").as_uri()
    run_with(MlflowCallback("memory", uri))
    run_with(MlflowCallback("memory", uri))
    client = MlflowClient(uri)
    runs = client.search_runs([client.get_experiment_by_name("memory").experiment_id])
    assert len(runs) == 2
    run = runs[0]
    assert run.info.status == "FINISHED"
    assert run.data.params["stack_size"] == "2"
    assert run.data.params["algorithm"] == "PPO"
    history = client.get_metric_history(run.info.run_id, "memory/memory_regret")
    assert [point.step for point in history] == [200, 400, 600]
    assert all(0 <= point.value <= 1 for point in history)


def test_wandb_writes_the_log_offline(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    from adastack.integrations.sb3 import WandbCallback

    monkeypatch.setenv("WANDB_SILENT", "true")
    run_with(WandbCallback("memory", mode="offline", folder=tmp_path))
    wandb.teardown()  # what is still in memory is written now
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    content = file.read_bytes()
    for name in (b"memory/memory_regret", b"memory/success_rate", b"train/loss"):
        assert content.count(name) >= 3
    assert b"stack_size" in content


@pytest.mark.parametrize(
    ("name", "module"), [("WandbCallback", "wandb"), ("MlflowCallback", "mlflow")]
)
def test_a_missing_library_is_asked_for_by_name(name, module, monkeypatch):
    callbacks = importlib.import_module("adastack.integrations.sb3.callbacks")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'adastack\[{module}\]'"):
        getattr(callbacks, name)("memory", *["x"] * (module == "mlflow"))
