"""The league: a sweep as data, networks of one size, words that follow from scores, a page."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium
import jax
import numpy as np
import pytest

from adastack.cli import main
from adastack.commands import running
from adastack.lab.archive import Archive
from adastack.lab.curves import curve_means
from adastack.lab.evidence import Evidence
from adastack.lab.experiment import SCALES
from adastack.lab.job import train_jobs
from adastack.lab.league import words
from adastack.lab.league.chosen import CHOSEN
from adastack.lab.league.entrants import CANDIDATES, ENTRANTS, PRESET, SIZED, USUAL, entrant_of
from adastack.lab.league.league import OWN, SEARCHED, League, family_of, search_study
from adastack.lab.league.search import best, scores, settings_in_words
from adastack.lab.league.show import sentences, show_league
from adastack.lab.league.sizes import HIDDEN
from adastack.lab.league.weights import REFERENCE, REFERENCE_HIDDEN, Sizes, matched
from adastack.lab.meaning import fingerprint
from adastack.lab.results import Results
from adastack.lab.runner import Outcome, run
from adastack.lab.store import Store
from adastack.lab.studies.study import HELD_OUT
from adastack.tasks import registry
from adastack.tasks.registry import resolve
from adastack.training import RunSpec, make_session
from lab.made_up import MadeUp

PAPER = SCALES["paper"]


# Who takes part.


def test_memories_are_named_as_on_the_command_line():
    labels = [each.label for each in ENTRANTS]
    assert labels == [
        *("none", "FS(4)", "AS(2)", "AS(4)", "push/skip(2)", "GRU", "LSTM", "LRU", "AS(2)+GRU")
    ]
    assert [each.label for each in ENTRANTS if each.ours] == ["AS(2)", "AS(4)"]
    assert entrant_of("frame:8").label == "FS(8)"
    assert entrant_of("adaptive").stack_size == 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("adaptive:2+rnn", "cell must be one of"),
        ("lifo:2", "expected a memory rule of"),
        ("none:2", "expects stack_size 1"),
        ("adaptive:2+gru+lru", "expected a memory as RULE"),
    ],
)
def test_memories_that_do_not_exist_are_refused(spec, message):
    with pytest.raises(ValueError, match=message):
        entrant_of(spec)


# The sweep.


def test_every_memory_has_the_same_budget_on_every_task():
    jobs = League().study.jobs(PAPER)
    assert len(jobs) == len(OWN) * len(ENTRANTS) * 3
    assert {job.settings["steps"] for job in jobs} == {1_000_000}
    assert {seed for job in jobs for seed in job.settings["seeds"]} == {10, 11, 12}
    assert {job.settings["preset"] for job in jobs} == {PRESET}


def test_the_search_is_the_same_for_all_and_on_other_seeds():
    jobs = search_study().jobs(PAPER)
    assert len(jobs) == len(SEARCHED) * len(ENTRANTS) * len(CANDIDATES)
    assert max(seed for job in jobs for seed in job.settings["seeds"]) < HELD_OUT
    assert not {job.settings["task"] for job in jobs} & set(OWN), "nor on the league's tasks"


def test_families_of_tasks():
    assert [family_of(task) for task in SEARCHED.values()] == list(SEARCHED)
    assert family_of("minigrid-memory:size=7") == "mazes"
    assert family_of("CartPole-v1") == "control"


def test_what_is_chosen_is_what_the_archived_search_says():
    """Where the search has been run whole; elsewhere the usual settings are used."""
    archived = Results(Evidence(Store("nowhere"), Archive()), search_study().jobs(PAPER))
    found = best(scores(archived))
    assert {family: found.get(family, {}) for family in SEARCHED} == CHOSEN


def test_help_and_page_say_whose_settings_were_chosen(monkeypatch, capsys):
    both = {"mazes": ["GRU", "LSTM"], "games": ["GRU"]}
    for family in CHOSEN:
        monkeypatch.setitem(CHOSEN, family, {})
    assert settings_in_words(both).startswith("All settings are the usual ones")
    monkeypatch.setitem(CHOSEN, "mazes", {"GRU": USUAL})
    said = "Settings that the search has chosen: mazes (1 of 2 memories); all others are the usual"
    assert settings_in_words(both) == f"{said} ones."
    assert settings_in_words({"mazes": ["GRU"]}).endswith("chosen: mazes (1 of 1 memories).")
    with pytest.raises(SystemExit):
        main(["league", "--help"])
    said = f"has chosen: mazes (1 of {len(ENTRANTS)} memories); all others"
    assert said in " ".join(capsys.readouterr().out.split())


# Sizes.


def test_widths_that_are_written_down_are_those_that_are_counted():
    assert set(OWN) | set(SEARCHED.values()) <= set(HIDDEN)
    for task in ("xormaze", "minigrid-memory:size=7", "popgym-battleship:previous_action=true"):
        sizes = Sizes(task)
        assert HIDDEN[task] == tuple(sizes.hidden(each) for each in SIZED), task


@pytest.mark.slow
@pytest.mark.parametrize("task", HIDDEN)
def test_all_widths_that_are_written_down_are_those_that_are_counted(task):
    assert HIDDEN[task] == tuple(Sizes(task).hidden(each) for each in SIZED)


def test_networks_come_as_near_to_one_another_as_widths_allow():
    for task in OWN[:3]:
        sizes, target = Sizes(task), Sizes(task).weights(REFERENCE, REFERENCE_HIDDEN)
        for entrant, hidden in zip(SIZED, HIDDEN[task], strict=True):
            apart = abs(sizes.weights(entrant, hidden) - target)
            assert apart <= abs(sizes.weights(entrant, hidden + 4) - target)
            assert apart <= abs(sizes.weights(entrant, hidden - 4) - target)
            assert apart < 0.06 * target
    assert matched(lambda hidden: 10 * hidden, 10_000_000) == 1024


@pytest.mark.parametrize(
    ("task", "spec"),
    [
        ("passive-tmaze:length=4", "adaptive:2"),
        ("passive-tmaze:length=4", "none+lru"),
        ("popgym-repeat-first", "adaptive:2+gru"),
        ("popgym-position-only-pendulum", "none+lstm"),
        ("CartPole-v1", "frame:4"),
    ],
)
def test_counted_weights_are_those_of_the_network_that_is_trained(task, spec):
    entrant, sizes = entrant_of(spec), Sizes(task)
    document = RunSpec(
        task=task, memory=entrant.rule, stack_size=entrant.stack_size, algo="ppo", preset=PRESET,
        steps=1, seeds=[0], overrides=entrant.overrides(12),
    ).document()  # fmt: skip
    session = make_session(document)
    session.start()
    leaves = jax.tree.leaves(session.params_of(0)["params"])
    assert sizes.weights(entrant, 12) == sum(leaf.size for leaf in leaves)


def test_what_is_carried():
    sizes = Sizes("passive-tmaze:length=4")
    carried = [sizes.carried_bytes(entrant_of(spec), 10) for spec in (
        *("none", "adaptive:2", "frame:4", "none+gru", "none+lstm", "none+lru", "adaptive:2+gru"),
    )]  # fmt: skip
    assert carried == [0, 4, 12, 40, 80, 80, 44], "symbols and numbers take four bytes"


# Words.


def test_words_follow_from_the_scores():
    found = words.standing(
        "recall",
        {
            "none": [0.0, 0.1, -0.1],
            "FS(4)": [0.99, 1.0, 0.98],
            "AS(2)": [0.5, 0.52, 0.48],
            "GRU": [1.0, 1.0, 0.99],
            "LRU": [0.2, 1.0, 0.9],
            "AS(4)": [1.0],
        },
    )
    assert found.best == "GRU"
    assert found.as_good == ("FS(4)",)
    assert found.open == ("LRU",)
    assert [gap.label for gap in found.worse] == ["AS(2)", "none"]
    carried = {"GRU": 256, "FS(4)": 12, "LRU": 512}
    assert words.advice(found, carried) == "FS(4)"
    assert words.advice(found, {**carried, "LRU": 4}) == "FS(4); perhaps LRU will do"
    assert "worse: AS(2) by 0.5 [" in str(found)
    (lost,) = words.summary([found], ["AS(2)", "AS(4)"])
    assert "Adaptive stacking (AS(2), AS(4)) loses on recall (to GRU: AS(2) by 0.5" in lost
    assert words.memory_needed([found]) == ["A memory is shown to help on recall."]


def test_words_turn_with_the_scores():
    kept = {"none": [0.0, 0.02, 0.01], "AS(2)": [1.0, 1.0, 0.99], "GRU": [0.3, 0.35, 0.32]}
    alike = {"none": [1.0, 0.99, 1.0], "AS(2)": [1.0, 1.0, 0.99], "GRU": [0.1, 0.12, 0.1]}
    noisy = {"none": [0.0, 0.02, 0.01], "AS(2)": [0.1, 0.5, 0.9], "GRU": [0.9, 0.95, 0.9]}
    found = [words.standing(name, scores) for name, scores in
             (("kept", kept), ("alike", alike), ("noisy", noisy))]  # fmt: skip
    assert words.summary(found, ["AS(2)"]) == [
        "Adaptive stacking (AS(2)) wins, everything else being worse, on kept.",
        "Adaptive stacking (AS(2)) is among the best on alike (with none).",
        "Whether adaptive stacking (AS(2)) is among the best is not decided on noisy.",
    ]
    needed, useless = words.memory_needed(found)
    assert "help on kept and noisy" in needed
    assert useless.endswith("on alike.")


def test_nothing_is_advised_where_nothing_was_told_apart():
    """As after a few steps, when nobody has learned anything: the best is so by chance."""
    found = words.standing("early", {"none": [-2.0, 3.5], "AS(2)": [-3.0, 3.0]})
    assert (found.best, found.open) == ("none", ("AS(2)",))
    assert words.advice(found, {}) == "not decided"
    assert words.memory_needed([found]) == []
    assert words.summary([found], ["AS(2)"]) == [
        "Whether adaptive stacking (AS(2)) is among the best is not decided on early."
    ]


def test_nothing_is_said_of_too_few_runs():
    assert words.standing("alone", {"none": [1.0, 1.0]}) is None
    assert words.standing("single", {"none": [1.0], "GRU": [0.0]}) is None


def test_mmer_is_the_best_part_of_the_training_by_episode():
    parts = np.repeat([[0.0, 0.9, 0.3]], 80, axis=1).reshape(1, -1)
    attempts = np.ones_like(parts)
    parts[0, 5] = 50.0  # Of a window in which no attempt ended.
    attempts[0, 5] = 0
    curves = dict.fromkeys(("reward", "success", "memory_regret"), parts * np.nan)
    curves |= {"reward": parts, "return": parts, "discounted_return": parts, "attempts": attempts}
    curves |= dict.fromkeys(
        ("active_regret", "passive_regret", "memory_regret_after"), parts * np.nan
    )
    means = curve_means({"step": np.arange(1, 241) * 100, **curves})
    assert means["mmer"] == pytest.approx([0.9])


# All of it.


def test_made_up_runs_are_told_and_drawn(monkeypatch):
    monkeypatch.setattr("adastack.lab.figures.svg_of", lambda canvas: "<svg></svg>")
    league = League(("passive-tmaze:length=16", "popgym-repeat-first"))
    results = Results(MadeUp(), league.jobs(PAPER))
    shown = show_league(results, league)
    assert {table.name for table in shown.tables} == {"which-memory", "scores"}
    table = next(table for table in shown.tables if table.name == "scores")
    assert len(table.rows) == 2 * len(ENTRANTS)
    assert {figure.name for figure in shown.figures} == {"scores", "curves"}
    assert any("not decided" in sentence for sentence in sentences(results, league))


def own_league(place):
    return [
        *("league", "passive-tmaze:length=4", "--memories", "none", "adaptive:2"),
        *("--steps", "1600", "--seeds", "2", "--workers", "1", "--json"),
        *("--store", str(place / "lab"), "--out", str(place / "league.html")),
    ]


def test_the_plan_of_a_league_of_ones_own(tmp_path, capsys):
    """Each memory with each seed, and one job that measures their speeds."""
    assert main([*own_league(tmp_path), "--dry-run"]) == 0
    assert json.loads(capsys.readouterr().out)["plan"]["all"]["to_do"] == 5


@pytest.mark.slow
def test_a_league_of_ones_own(tmp_path, capsys, monkeypatch):
    """Through the lab: trained, timed, told and drawn; the second time nothing is left to do."""
    monkeypatch.setattr("adastack.lab.league.league.ROUNDS", 1)  # Of seconds each.
    line = own_league(tmp_path)
    assert main(line) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["finished"]) == 5
    rows = {row["memory"]: row for row in result["tables"]["scores"]}
    assert rows["AS(2)"]["seeds"] == "2 of 2"
    assert rows["AS(2)"]["bytes carried"] == 4
    assert {row["memory"] for row in result["tables"]["speed"]} == {"none", "AS(2)"}
    assert all(row["trained steps a second"] > 0 for row in result["tables"]["speed"])
    page = (tmp_path / "league.html").read_text()
    assert "In words" in page
    assert "<svg" in page
    assert settings_in_words({"mazes": ["none", "AS(2)"]}) in page
    asked = "--memories none adaptive:2 --steps 1600 --seeds 2"
    assert f"adastack league passive-tmaze:length=4 {asked} --store {tmp_path / 'lab'}" in page
    assert main(line) == 0
    assert len(json.loads(capsys.readouterr().out)["skipped"]) == 5


def test_an_environment_that_was_edited_is_computed_anew(tmp_path, monkeypatch):
    """Its file is part of what a result means, once the user has named its module."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edited_world.py").write_text(
        "import gymnasium\nclass World(gymnasium.Env): pass\n"
    )
    assert fingerprint("edited_world:World") is None, "not imported to look at a job"
    resolve("edited_world:World")
    before = fingerprint("edited_world:World")
    with (tmp_path / "edited_world.py").open("a") as file:
        file.write("# other rewards\n")
    assert before is not None
    assert fingerprint("edited_world:World") not in (None, before)
    assert fingerprint("CartPole-v1") is None


def test_what_is_named_twice_takes_part_once(tmp_path, capsys):
    line = ["league", "--dry-run", "--json", "--store", str(tmp_path), "--archive", str(tmp_path)]
    plans = []
    for times in (1, 2):
        asked = [*["passive-tmaze"] * times, "--memories", *["none", "adaptive:2"] * times]
        assert main([*line, *asked]) == 0
        plans.append(json.loads(capsys.readouterr().out))
    assert plans[0] == plans[1]
    assert plans[0]["tasks"] == ["passive-tmaze"]


@pytest.mark.parametrize("text", ["abc", "inf", "1.5"])
@pytest.mark.parametrize("option", ["--steps", "--seeds"])
def test_numbers_are_those_of_other_verbs(option, text, capsys):
    with pytest.raises(SystemExit):
        main(["league", "passive-tmaze", option, text])
    assert f"expected an integer, actual: '{text}'" in capsys.readouterr().err


def test_bad_input_is_refused(capsys):
    assert main(["league", "passive-tmaze", "--memories", "fifo:2"]) == 2
    assert "expected a memory rule of" in capsys.readouterr().err
    assert main(["league", "--seeds", "0"]) == 2
    assert main(["league", "no-such-task"]) == 2


OWN_TASKS = """
from adastack.tasks import TaskEntry, passive_tmaze, register_task

register_task(TaskEntry("my-tmaze", lambda: passive_tmaze(length=3), "the cue", "me/My-v0"))
"""


def test_modules_reach_the_workers_and_their_runs(tmp_path, capsys, monkeypatch):
    """A task that only a module of the user's knows is trained, kept, and evaluated later."""
    (tmp_path / "own_tasks.py").write_text(OWN_TASKS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_tasks", raising=False)
    line = ["league", "my-tmaze", "--import", "own_tasks", "--memories", "adaptive:2", "--json"]
    given = []
    monkeypatch.setattr(running, "run", lambda jobs, *_, **__: given.extend(jobs) or Outcome())
    assert main(line) == 0
    assert {job.imports for job in given} == {("own_tasks",)}
    capsys.readouterr()
    # A worker of its own, for a learner that is quicker to start than the league's.
    common = {"algo": "sarsa", "preset": "robust", "steps": 1000, "seeds": [0]}
    (job,) = train_jobs("my-tmaze", "adaptive", 2, **common)
    run([replace(job, imports=("own_tasks",))], Store("lab"), workers=1)
    trained = f"lab/{job.address}"
    assert json.loads(Path(f"{trained}/job.json").read_text())["imports"] == ["own_tasks"]
    # As in a process that has never heard of the task.
    monkeypatch.delitem(sys.modules, "own_tasks")
    registry._TASKS.pop("my-tmaze")
    gymnasium.registry.pop("me/My-v0")
    assert main(["evaluate", f"{trained}/run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "my-tmaze"
