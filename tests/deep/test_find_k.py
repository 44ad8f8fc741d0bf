"""find-k: when it stops, and that it finds the two slots that a maze needs."""

import json
from pathlib import Path

import pytest

from adastack.cli import main
from adastack.commands.find_k import _stop


def row(value, optimality=None, spread=0.05):
    return {
        "return": value,
        "low": value - spread,
        "high": value + spread,
        "optimality": optimality,
    }


@pytest.mark.parametrize(
    ("rows", "stop"),
    [
        ([row(0), row(0)], False),
        ([row(0), row(0), row(0)], False),
        ([row(0), row(0), row(1)], False),
        ([row(0), row(0.9), row(0.9), row(0.9)], True),
        ([row(0), row(0.5), row(0.9), row(0.9)], False),
        ([row(0), row(1, optimality=1.0)], True),
    ],
)
def test_it_stops_at_a_plateau_but_not_at_a_flat_start(rows, stop):
    assert _stop(rows) == stop


def found(capsys, *words):
    assert main(["find-k", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("task", "kappa"), [("passive-tmaze:length=5", 2), ("xormaze", 3)])
def test_the_learned_answer_is_the_proved_one(task, kappa, tmp_path, capsys):
    result = found(capsys, task, "--out", str(tmp_path))
    assert result["k"] == result["kappa"] == kappa
    assert [stack["k"] for stack in result["stacks"]] == list(range(1, kappa + 1))
    for stack in result["stacks"]:
        assert stack["low"] <= stack["return"] <= stack["high"]
    assert result["stacks"][0]["high"] < result["stacks"][-1]["low"]


def test_networks_learn_the_answer_too(tmp_path, capsys):
    words = ["passive-tmaze:length=3", "--algo", "ppo", "--steps", "40000", "--seeds", "2"]
    result = found(capsys, *words, "--out", str(tmp_path))
    assert result["k"] == result["kappa"] == 2


def test_stacks_that_learned_nothing_are_not_called_enough(tmp_path, capsys):
    words = ["--steps", "100", "--seeds", "2", "--max-k", "1", "--no-proof"]
    assert main(["find-k", "xormaze", *words, "--out", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "does as well as any tried (return 0.000): k = 1; kappa is not proved here" in said


def test_a_world_is_searched_with_its_own_settings(tmp_path, capsys):
    words = ["velocity-only-cartpole", "--steps", "2048", "--seeds", "2", "--max-k", "1"]
    run = Path(found(capsys, *words, "--out", str(tmp_path))["stacks"][0]["run"])
    preset = json.loads((run / "settings.json").read_text())["settings"]["preset"]
    assert preset == "velocity-only-cartpole"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seeds", "1"), "--seeds of at least 2"),
        (("--max-k", "0"), "--max-k of at least 1"),
        (("--net", "mlp"), "learns a table"),
    ],
)
def test_bad_input_is_one_line(words, message, tmp_path, capsys):
    assert main(["find-k", "xormaze", *words, "--out", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
