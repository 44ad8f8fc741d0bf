"""A diagnosis from end to end, in Python and on the command line."""

import json
import runpy
from pathlib import Path

import pytest

import adastack
from adastack.cli import main
from adastack.diagnosis.memories import NONE, chosen
from adastack.diagnosis.random_play import random_score
from adastack.tasks import resolve

TINY = ("--steps", "64", "--seeds", "2", "--max-k", "2")
EXAMPLES = Path(__file__).parents[2] / "examples"


def diagnosed(capsys, *words):
    code = main(["diagnose", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_maze_is_answered_by_proof(tmp_path, capsys):
    code, found = diagnosed(capsys, "passive-tmaze:length=5", "--out", str(tmp_path / "d"))
    assert code == 0
    assert (found["needs_memory"], found["memory"], found["k"]) == (True, "adaptive", 2)
    assert found["proved"]
    assert found["kappa"]["frame"] == 5
    # Red may be told by the absence of green, so that one of them is kept, or both.
    kept = {name: times for name, _, times in found["kept"]["what"]}
    assert kept["red"] + kept["green"] > 0
    assert kept["grey"] == kept["blue"] == 0
    page = Path(found["page"]).read_text()
    assert found["verdict"] in page
    assert "What fewer slots reach" in page
    assert 'class="episode"' in page
    assert f"adastack diagnose passive-tmaze:length=5 --out {tmp_path / 'd'}" in page


def test_a_maze_is_learned_where_no_proof_is_asked_for(tmp_path, capsys):
    words = ["passive-tmaze:length=3", "--no-proof", "--steps", "400000", "--max-k", "2"]
    words += ["--seeds", "2", "--out", str(tmp_path)]
    code, found = diagnosed(capsys, *words)
    assert code == 0
    assert found["needs_memory"] is True
    standing = {row["memory"]: row["standing"] for row in found["trials"]}
    assert standing["none"] == "short"
    assert standing["adaptive-2"] == "enough"
    first = {row["run"]: row["scores"] for row in found["trials"]}
    # Again: nothing is trained anew, and the answer is the same.
    _, again = diagnosed(capsys, *words)
    assert {row["run"]: row["scores"] for row in again["trials"]} == first
    assert again["seconds"] < found["seconds"] / 2


def test_in_python_by_function_and_without_a_folder(monkeypatch):
    monkeypatch.setattr("adastack.diagnosis.diagnosis.search", _scripted_search)

    def two_steps():
        return resolve("CartPole-v1").env()

    found = adastack.diagnose(two_steps, steps=64, seeds=2, progress=False)
    assert found.task == "two_steps"
    assert found.verdict.memory == NONE
    assert str(found).startswith("two_steps: It needs no memory.")
    assert "needs no memory" in found.page().html()


def _scripted_search(learner, random, budget, max_k, watch):
    from adastack.diagnosis.search import Found
    from adastack.diagnosis.verdict import Trial

    assert learner.task.env().observation_space.shape == (4,)
    assert (budget.first, budget.rounds, budget.seconds) == (8, 4, None)
    return Found(random, [Trial(NONE, 8, (500.0, 500.0), (True, True))])


def test_a_threshold_of_the_environment_counts_as_solved(monkeypatch):
    seen = {}

    def spying(learner, *rest):
        seen["solved"] = learner.solved
        return _scripted_search(learner, *rest)

    monkeypatch.setattr("adastack.diagnosis.diagnosis.search", spying)
    adastack.diagnose("CartPole-v1", steps=64, progress=False)
    assert seen["solved"] == 475
    adastack.diagnose("CartPole-v1", steps=64, solved=200, progress=False)
    assert seen["solved"] == 200


def test_random_actions_are_the_same_for_a_seed_and_count_attempts():
    task = resolve("passive-tmaze:length=3")
    assert random_score(task, "return", 1) == random_score(task, "return", 1)
    assert abs(random_score(task, "return", 0)) < 0.6
    continual = resolve("passive-tmaze:length=3,continual=true")
    assert abs(random_score(continual, "reward_rate", 0)) < 200


BROKEN = """
import gymnasium as gym
class Broken(gym.Env):
    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}
    def step(self, action):
        raise KeyError("no such room")
"""


def test_an_environment_that_fails_is_one_line(tmp_path, capsys, monkeypatch):
    (tmp_path / "broken_room.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["diagnose", "broken_room:Broken", *TINY]) == 1
    said = capsys.readouterr().err.strip()
    assert said.count("\n") == 0
    assert "the environment broken_room:Broken failed in step: KeyError: 'no such room'" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("no-such-task",), "expected a task"),
        (("xormaze", "--seeds", "1"), "expected 2 to 100 seeds"),
        (("xormaze", "--max-k", "1"), "max_k of at least 2"),
        (("xormaze", "--minutes", "0"), "minutes must be above 0"),
        (("xormaze", "--steps", "0"), "steps must be at least 1"),
        (("xormaze", "--solved", "nan"), "solved must be a finite return"),
        (("xormaze", "--out", __file__), "--out expects a folder"),
        (("CartPole-v1", "--preset", "robus"), "robust"),
    ],
)
def test_bad_input_is_one_line(words, message, tmp_path, capsys):
    out = () if "--out" in words else ("--out", str(tmp_path / "d"))
    assert main(["diagnose", *words, *out]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said
    assert said.count("\n") == 0


@pytest.mark.parametrize(
    ("spec", "memory"),
    [
        ("lag:steps=0", "none"),
        ("lag:steps=1", "frame-2"),
        ("cues:number=1", "adaptive-2"),
        ("count:modulo=3", "gru"),
    ],
)
def test_tasks_of_a_module_of_your_own(spec, memory):
    runpy.run_path(str(EXAMPLES / "labelled_tasks.py"))
    found = adastack.diagnose(spec, progress=False)
    assert found.verdict.memory.name == memory


@pytest.mark.slow
def test_three_slots_are_learned_to_be_enough(tmp_path):
    found = adastack.diagnose(
        "xormaze", steps=4_000_000, prove_first=False, out=tmp_path, progress=False
    )
    assert found.verdict.memory == chosen(3)
    assert not found.verdict.proved
