"""``adastack theory``, as a user types it."""

import json

import pytest

from adastack.cli import main
from adastack.lab.execute import kind_of
from adastack.progress import Silent


def asked(capsys, *words):
    assert main(["theory", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_kappa(capsys):
    answer = asked(capsys, "kappa", "xormaze")
    assert answer["kappa"] == 3
    assert answer["values"]["best_below"]["2"]["proved"]
    first = answer["policy"][0]
    assert first["stack"] == ["-", "-", "blue"]
    assert first["action"] in ("left", "right")
    assert asked(capsys, "kappa", "passive-tmaze:length=4", "--memory", "frame")["kappa"] == 4


def test_gap(capsys, tmp_path):
    plot = tmp_path / "gap.png"
    words = ("passive-tmaze:length=9,continual=false", "--lengths", "2", "5", "--gamma", "0.5")
    answer = asked(capsys, "gap", *words, "--plot", str(plot))
    assert [row["length"] for row in answer["lengths"]] == [2, 5]
    assert answer["lengths"][1]["gap"] == pytest.approx(0.875 / 3 - 0.125)
    assert plot.stat().st_size > 1000
    rows = asked(capsys, "gap", "passive-tmaze:length=5", "--gamma", "0.5")["gaps"]
    assert {"stack": "red | grey", "optimal": 0.125}.items() <= rows[2].items()


def test_consistency(capsys):
    answer = asked(capsys, "consistency", "passive-tmaze:length=5")
    assert answer["consistent"] is False
    assert answer["witness"]["histories"][0] == ["red", "grey"]
    assert asked(capsys, "consistency", "office", "--k", "3")["consistent"] is True


def test_a_search_that_stops_early_says_so_in_one_sentence(capsys):
    words = ["consistency", "active-tmaze:length=6", "--k", "3"]
    assert main(["theory", *words, "--max-choices", "20"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "active-tmaze:length=6, adaptive memory of 3: no optimal policy is value-consistent "
        "(the search stopped before this was proved) both leave the stack"
    ) in said
    assert main(["theory", *words]) == 0
    assert "stopped" not in capsys.readouterr().out


def test_the_lab_gives_the_same_answers(capsys):
    """A verb and an exact job are shells around one computation."""

    def job(kind, **settings):
        return json.loads(json.dumps(kind_of(kind)(settings, None, Silent())))

    found, stored = asked(capsys, "kappa", "xormaze"), job("kappa", task="xormaze")
    assert found["values"] == {name: stored.pop(name) for name in ("optimum", "best_below")}
    assert stored.items() <= found.items()
    found = asked(capsys, "gap", "passive-tmaze", "--lengths", "3", "4")["lengths"]
    assert found == job("gap", task="passive-tmaze", lengths=[3, 4])["rows"]
    found = asked(capsys, "consistency", "passive-tmaze:length=4")
    assert found == job("consistency", task="passive-tmaze:length=4") | {
        "question": "consistency",
        "policy": found["policy"],
    }
    found = asked(capsys, "states", "xormaze", "--k", "2")["states"]
    assert found == job("states", task="xormaze", sizes=[1, 2])["rows"]


def test_states(capsys):
    answer = asked(capsys, "states", "passive-tmaze:length=6", "--k", "2")
    assert answer["enough"]["adaptive"]["stack_size"] == 2
    assert answer["enough"]["frame"]["stack_size"] == 6
    assert len(answer["states"]) == 4


@pytest.mark.parametrize(
    "words",
    [
        ("kappa", "xormaze"),
        ("gap", "passive-tmaze"),
        ("states", "xormaze"),
        ("consistency", "passive-tmaze"),
        ("kappa", "xormaze", "--max-k", "1"),
    ],
)
def test_answers_for_people(capsys, words):
    assert main(["theory", *words]) == 0
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("kappa",), "expected a task after 'kappa'"),
        (("kappa", "nowhere"), "expected a task of"),
        (("kappa", "xormaze", "--memory", "x"), "expected a memory rule of"),
        (("kappa", "xormaze", "--gamma", "2"), "gamma must be in (0, 1]"),
        (("kappa", "xormaze", "--criterion", "average"), "expects a continual task"),
        (("gap", "xormaze", "--k", "2"), "expected a stack size with an optimal"),
        (("gap", "xormaze", "--k", "0"), "stack_size must be at least 1"),
        (("gap", "xormaze", "--lengths", "3"), "option"),
        (("kappa", "xormaze", "--plot", "x.png"), "--plot expects the question gap"),
        (("gap", "pomdp", "--max-choices", "500"), "has no known kappa"),
    ],
)
def test_bad_input_is_one_line(capsys, words, message):
    assert main(["theory", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
