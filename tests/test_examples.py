"""The examples run, and reach what they promise."""

import ast
import json
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("programs_are_compiled_once")
EXAMPLES = Path(__file__).parents[1] / "examples"
HOWTO = Path(__file__).parents[1] / "docs" / "howto.md"


def run(name, monkeypatch, capsys, *words):
    """Runs an example as from the command line and returns what it printed."""
    monkeypatch.setattr(sys, "argv", [name, *words])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


def test_a_rule_of_your_own(monkeypatch, capsys):
    out = run("own_rule.py", monkeypatch, capsys)
    cue = re.search(r"\[(\d) 1\]", out).group(1)
    assert cue in "23"
    assert "slot ages [4 0]" in out


def test_an_environment_of_your_own(monkeypatch, capsys):
    out = run("own_environment.py", monkeypatch, capsys)
    assert "reward 1.0, slot ages [5 0]" in out
    assert "'success': True" in out
    assert "'passive_regret': 0.0" in out


def test_an_agent_for_your_own_environment(monkeypatch, capsys):
    out = run("own_agent.py", monkeypatch, capsys, "--steps", "1600")
    assert 0 <= float(out.split()[-1]) <= 1


def test_variants_pay_who_remembers(monkeypatch):
    """A player who is told the sign succeeds; one that always says the same does not."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    tasks = runpy.run_path(str(EXAMPLES / "ordinary_variants.py"))["TASKS"]
    for name, (make, _) in tasks.items():
        env, successes = make(), {True: [], False: []}
        for seed in range(40):
            for told, found in successes.items():
                observation, _ = env.reset(seed=seed)
                over = False
                while not over:
                    assert env.observation_space.contains(observation), name
                    observation, _, ended, cut, info = env.step(said(env, told))
                    over = ended or cut
                found.append(info["is_success"])
        assert all(successes[True]), name
        assert sum(successes[False]) < 35, name


def said(env, told):
    """What ends an episode well if it is ``told``, else a guess."""
    if hasattr(env, "number"):
        return [env.number if told else 0.0]
    return 2 * (env.end if told else 1) if hasattr(env, "end") else env.sign if told else 0


def test_the_notebook_runs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "own_environment.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names, shown = {"__name__": "notebook"}, []
    for source in cells:
        body = ast.parse(source.replace("200_000", "1_600")).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        if last is not None:
            shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
    success, curves, page, again = shown
    assert 0 <= success <= 1
    assert curves._repr_png_().startswith(b"\x89PNG")
    assert page._repr_html_().startswith("<iframe")
    assert 0 <= again <= 1


@pytest.mark.parametrize(
    "task",
    [
        "delay",
        *(pytest.param(task, marks=pytest.mark.slow) for task in ("colours", "goal", "images")),
    ],
)
def test_ordinary_tasks_are_reached(task, monkeypatch, capsys):
    out = run("ordinary.py", monkeypatch, capsys, task, "--seeds", "0", "--steps", "1600")
    assert 0 <= float(out.split()[-1]) <= 1


@pytest.mark.parametrize("task", ["cartpole", pytest.param("pendulum", marks=pytest.mark.slow)])
def test_classic_control_is_reached_without_velocities(task, monkeypatch, capsys):
    asked = (task, "--k", "3", "--seeds", "0", "--steps", "1600", "--set", "batch_size=100")
    out = run("no_velocities.py", monkeypatch, capsys, *asked)
    assert np.isfinite(float(out.split()[-1]))


@pytest.mark.slow
def test_a_car_without_its_speed_gets_up_the_mountain(monkeypatch, capsys):
    out = run("no_velocities.py", monkeypatch, capsys, "mountain-car", "--seeds", "0")
    assert float(out.split()[-1]) >= 91.5


@pytest.mark.slow
def test_small_rewards_are_learned_like_others(monkeypatch, capsys):
    out = run("ordinary.py", monkeypatch, capsys, "delay", "--pays", "0.1", "0", "--seeds", "0")
    assert float(out.split()[-1]) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("task", ["pair", "numbers-4"])
def test_two_things_and_many_signs_are_remembered(task, monkeypatch, capsys):
    """Without `keep_rare` neither is learned on most seeds."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    out = run("ordinary_variants.py", monkeypatch, capsys, task, "--seeds", "21", "23")
    assert [float(line.split()[-1]) for line in out.splitlines()] == pytest.approx([1, 1], abs=0.01)


@pytest.mark.slow
def test_the_defaults_learn_a_delay_of_thirty(monkeypatch, capsys):
    out = run("own_agent.py", monkeypatch, capsys)
    assert float(out.split()[-1]) >= 0.99


@pytest.mark.parametrize(
    ("memory", "low", "high"),
    [("adaptive", 0.95, 1), pytest.param("frame", 0.4, 0.6, marks=pytest.mark.slow)],
)
def test_the_single_file_learns_the_maze(memory, low, high, monkeypatch, capsys):
    pytest.importorskip("torch")
    out = run("ppo_single_file.py", monkeypatch, capsys, "--memory", memory)
    assert low <= float(out.split()[-1]) <= high


@pytest.mark.slow
def test_stable_baselines_learns_the_maze(monkeypatch, capsys, tmp_path):
    pytest.importorskip("stable_baselines3")
    words = ("--tensorboard", str(tmp_path / "log"), "--export", str(tmp_path / "policy"))
    out = run("sb3_ppo.py", monkeypatch, capsys, *words)
    assert float(out.split()[-1]) >= 0.95
    assert list((tmp_path / "log").rglob("events.out.tfevents*"))
    assert "success 1" in (tmp_path / "policy" / "README.md").read_text()


@pytest.mark.parametrize(
    ("steps", "success"), [(1280, 0.4), pytest.param(10240, 0.9, marks=pytest.mark.slow)]
)
def test_a_frame_stack_in_stable_baselines(steps, success, monkeypatch, capsys):
    """A short corridor that is always the same is learned with the paper's settings."""
    pytest.importorskip("stable_baselines3")
    words = ("--length", "2", "--steps", str(steps), "--fixed")
    lines = run("sb3_frame_stack.py", monkeypatch, capsys, *words).splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith(f"steps {steps}, success ")
    assert success <= float(lines[-1].split()[-1]) <= 1


def test_the_how_to_shows_the_examples():
    texts = [(EXAMPLES / name).read_text() for name in ("own_rule.py", "own_environment.py")]
    blocks = re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.S)
    assert len(blocks) == len(texts)
    for block, text in zip(blocks, texts, strict=True):
        assert text.endswith(block)
