"""find-k: when it stops, and that it finds the two slots that a maze needs."""

import json
from pathlib import Path

import pytest

from adastack.cli import main
from adastack.commands.find_k import _answer, _first_enough, _mean, _stop, show


def row(value, optimality=None, spread=0.05, seeds=10):
    returns = [value - spread, value + spread] * (seeds // 2)
    return {"return": value, "returns": returns, "optimality": optimality}


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


def test_a_smaller_stack_is_enough_unless_the_best_is_above_it_beyond_the_noise():
    assert _first_enough([row(0.9), row(1)]) == 1
    assert _first_enough([row(0.9, spread=0.3), row(1, spread=0.3)]) == 0
    # The noise of either side counts, and fewer seeds have more of it.
    assert _first_enough([row(0.9), row(1, spread=0.3)]) == 0
    assert _first_enough([row(0.9, seeds=2), row(1, seeds=2)]) == 0
    # A hundredth of the return is not worth a slot.
    assert _first_enough([row(0.995, spread=0), row(1, spread=0)]) == 0
    assert _first_enough([row(0.985, spread=0), row(1, spread=0)]) == 1
    assert _first_enough([row(-1.2, spread=0), row(-1, spread=0)]) == 1


def found(capsys, *words):
    assert main(["find-k", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("task", "kappa"),
    [("passive-tmaze:length=5", 2), pytest.param("xormaze", 3, marks=pytest.mark.slow)],
)
def test_the_learned_answer_is_the_proved_one(task, kappa, tmp_path, capsys):
    result = found(capsys, task, "--out", str(tmp_path))
    assert result["k"] == result["kappa"] == kappa
    assert [stack["k"] for stack in result["stacks"]] == list(range(1, kappa + 1))
    for stack in result["stacks"]:
        assert stack["low"] <= stack["return"] <= stack["high"]
    assert result["stacks"][0]["high"] < result["stacks"][-1]["low"]


@pytest.mark.slow
def test_networks_learn_the_answer_too(tmp_path, capsys):
    words = ["passive-tmaze:length=3", "--algo", "ppo", "--steps", "40000", "--seeds", "2"]
    result = found(capsys, *words, "--out", str(tmp_path))
    assert result["k"] == result["kappa"] == 2


def test_stacks_that_learned_nothing_are_not_called_enough(tmp_path, capsys):
    words = ["--steps", "100", "--seeds", "2", "--max-k", "1", "--no-proof"]
    assert main(["find-k", "xormaze", *words, "--out", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "undecided: no stack beat k = 1 (best return 0.000)" in said
    assert "kappa is not proved here" in said


def test_one_slot_is_enough_only_where_it_is_known_to_be_good():
    assert _answer([{"k": 1, **row(1)}, {"k": 2, **row(1)}]) is None
    assert _answer([{"k": 1, **row(1), "success": 1.0}, {"k": 2, **row(1)}]) == 1
    assert _answer([{"k": 1, **row(1, optimality=0.995)}]) == 1
    assert _answer([{"k": 1, **row(0)}, {"k": 2, **row(1)}]) == 2


@pytest.mark.slow
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


def test_what_an_environment_does_not_tell_is_a_dash(capsys):
    seeds = [{"return": 1.0, "success": None}, {"return": 1.0, "success": None}]
    unknown = {name: _mean(seeds, name) for name in ("success", "optimality")}
    assert unknown == {"success": None, "optimality": None}
    assert _mean([{"success": 0.5}, {"success": 1.0}], "success") == 0.75
    tried = {"k": 1, "return": 1.0, "low": 1.0, "high": 1.0, **unknown}
    show({"task": "T-v0", "algo": "ppo", "k": 1, "stacks": [tried], "kappa": None})
    assert capsys.readouterr().out.count("│ -") == 2
