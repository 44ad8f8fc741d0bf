"""find-k: when it stops, and that it finds the two slots that a maze needs."""

import json

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


def test_a_short_maze_needs_two_slots(tmp_path, capsys):
    words = ["find-k", "passive-tmaze:length=3", "--steps", "40000", "--seeds", "2"]
    assert main([*words, "--out", str(tmp_path), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["k"] == result["kappa"] == 2
    assert [stack["k"] for stack in result["stacks"]] == [1, 2]
    assert result["stacks"][0]["success"] < 0.9
    assert main(["find-k", "xormaze", "--seeds", "1"]) == 2
