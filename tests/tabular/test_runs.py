"""Runs of tabular learners: from the command line, killed, resumed, tested elsewhere."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from adastack.cli import main
from adastack.runs import Run

MANY = 20
LENGTHS = [(6, 5), *(pytest.param(n, MANY, marks=pytest.mark.slow) for n in range(2, 7))]


def adastack(capsys, *words):
    code = main([*words, "--json"])
    captured = capsys.readouterr()
    return code, json.loads(captured.out) if code == 0 else captured.err


def train(capsys, tmp_path, task, *words, name="run"):
    path = tmp_path / name
    return adastack(capsys, "train", task, "--algo", "sarsa", "--out", str(path), *words)


@pytest.mark.parametrize("kind", ["passive", "active"])
@pytest.mark.parametrize(("length", "seeds"), LENGTHS)
def test_every_seed_is_optimal_on_the_continual_mazes(capsys, tmp_path, kind, length, seeds):
    task = f"{kind}-tmaze:length={length},continual=true"
    code, result = train(capsys, tmp_path, task, "--seeds", str(seeds), "--seed", "500")
    assert code == 0
    best = 1000 / (length if kind == "passive" else length + 1)
    schedule = [seed["reward_rate"] for seed in result["seeds"]]
    assert len(schedule) == seeds
    assert min(schedule) >= 0.98 * best
    assert max(schedule) <= best * (1 + 1e-9)


@pytest.mark.parametrize("seeds", [5, pytest.param(MANY, marks=pytest.mark.slow)])
def test_every_seed_solves_the_xormaze(capsys, tmp_path, seeds):
    words = ("--k", "3", "--seeds", str(seeds), "--seed", "500")
    code, result = train(capsys, tmp_path, "xormaze", *words)
    assert code == 0
    assert [seed["success"] for seed in result["seeds"]] == [1.0] * seeds


@pytest.mark.parametrize("task", ["passive-tmaze:length=1500", "active-tmaze:length=128"])
@pytest.mark.parametrize("seeds", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_every_seed_learns_a_long_maze_with_the_same_defaults(capsys, tmp_path, task, seeds):
    code, result = train(capsys, tmp_path, task, "--seeds", str(seeds), "--seed", "500")
    assert code == 0
    assert [seed["success"] for seed in result["seeds"]] == [1.0] * seeds


@pytest.mark.parametrize("length", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_what_was_learned_at_6_holds_at_a_million(capsys, tmp_path, length):
    train(capsys, tmp_path, "passive-tmaze:length=6", "--seeds", "3")
    long = ["--task", f"passive-tmaze:length={length}"]
    _, adaptive = adastack(capsys, "evaluate", str(tmp_path / "run"), *long)
    assert [seed["success"] for seed in adaptive["seeds"]] == [1.0] * 3
    frame = ["--memory", "frame", "--k", "6", "--seeds", "3"]
    _, short = train(capsys, tmp_path, "passive-tmaze:length=6", *frame, name="frame")
    _, tested = adastack(capsys, "evaluate", str(tmp_path / "frame"), *long)
    assert [seed["success"] for seed in short["seeds"]] == [1.0] * 3
    assert [seed["success"] for seed in tested["seeds"]] == [0.5] * 3


def test_a_memory_that_cannot_hold_the_cue_stays_at_chance(capsys, tmp_path):
    for memory in (["--memory", "frame"], ["--memory", "none", "--k", "1"]):
        name = memory[1]
        code, result = train(
            capsys, tmp_path, "passive-tmaze:length=6", *memory, "--seeds", "3", name=name
        )
        assert code == 0
        assert [seed["success"] for seed in result["seeds"]] == [0.5] * 3


SAVES_OFTEN = """
import sys
from adastack import cli, training
from adastack.tabular import session
training.SAVE_SECONDS, session.CHUNK_SECONDS = 0.0, 0.02
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_run_that_is_killed_ends_as_if_it_had_not_been(capsys, tmp_path):
    task = "active-tmaze:length=6,continual=true"
    steps = ["--steps", "5e6", "--seeds", "2"]
    train(capsys, tmp_path, task, *steps, name="whole")
    words = [*("train", task, "--algo", "sarsa", "--out", tmp_path / "killed", "--resume"), *steps]
    checkpoint = tmp_path / "killed" / "checkpoint.json"
    for _ in range(2):
        before = checkpoint.read_bytes() if checkpoint.exists() else None
        process = subprocess.Popen([sys.executable, "-c", SAVES_OFTEN, *words])
        while not checkpoint.exists() or checkpoint.read_bytes() == before:
            assert process.poll() is None
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert Run.open(tmp_path / "killed").status == "resumable"
    train(capsys, tmp_path, task, *steps, "--resume", name="killed")
    whole, killed = Run.open(tmp_path / "whole"), Run.open(tmp_path / "killed")
    assert whole.result["seeds"] == killed.result["seeds"]
    ours, theirs = killed.load_checkpoint()[0], whole.load_checkpoint()[0]
    assert all(np.array_equal(ours[name], theirs[name], equal_nan=True) for name in theirs)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "passive-tmaze:lenth=4"], "expected an option of length"),
        (["train", "passive-tmaz"], "expected a task of"),
        (["train", "xormaze", "--algo", "sarse"], "sarsa"),
        (["train", "xormaze", "--preset", "best"], "preset must be one of"),
        (["train", "xormaze", "--memory", "lru"], "expected a memory"),
        (["train", "xormaze", "--set", "alfa=1"], "did you mean alpha"),
        (["train", "xormaze", "--set", "alpha=2"], "alpha must be in"),
        (["train", "xormaze", "--memory", "none", "--k", "2"], "expects stack_size 1"),
        (["evaluate", "nowhere"], "expected a run folder"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(capsys, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    if words[0] == "train" and "--algo" not in words:
        words = [*words, "--algo", "sarsa"]
    code, error = adastack(capsys, *words)
    assert code == 2
    assert error.count("\n") == 1
    assert message in error
    assert list(tmp_path.iterdir()) == []


def test_a_training_that_is_stopped_says_how_to_go_on(capsys, tmp_path, monkeypatch):
    def stop(**asked):
        raise KeyboardInterrupt

    monkeypatch.setattr("adastack.commands.train.train", stop)
    code, error = train(capsys, tmp_path, "xormaze", "--steps", "1000")
    assert code == 1
    assert error == "adastack train: stopped: the same command with --resume goes on\n"


def test_a_run_is_never_overwritten(capsys, tmp_path):
    train(capsys, tmp_path, "xormaze", "--steps", "1000")
    before = (tmp_path / "run" / "result.json").read_bytes()
    code, error = train(capsys, tmp_path, "xormaze", "--steps", "2000")
    assert code == 2
    assert "already exists" in error
    code, error = train(capsys, tmp_path, "xormaze", "--steps", "2000", "--resume")
    assert code == 2
    assert "another run" in error
    assert (tmp_path / "run" / "result.json").read_bytes() == before


def test_a_damaged_checkpoint_is_refused(capsys, tmp_path):
    train(capsys, tmp_path, "xormaze", "--steps", "1000")
    for path in (tmp_path / "run").glob("checkpoint-*.safetensors"):
        path.write_bytes(path.read_bytes()[:-4])
    code, error = adastack(capsys, "evaluate", str(tmp_path / "run"))
    assert code == 2
    assert "checksum" in error


def test_a_policy_is_not_played_where_it_cannot_see(capsys, tmp_path):
    train(capsys, tmp_path, "xormaze", "--steps", "1000")
    code, error = adastack(capsys, "evaluate", str(tmp_path / "run"), "--task", "heaven-hell")
    assert code == 2
    assert "observation" in error
