import gc
import json
import os
import runpy
import shlex
import signal
import subprocess
import sys
import threading
import time
import types

import gymnasium
import pytest

from adastack import cli
from adastack.cli import VERBS, _parser, main
from adastack.commands import command_line


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb, capsys):
    with pytest.raises(SystemExit) as stop:
        main([verb, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert VERBS[verb].split(":")[0] in " ".join(text.split())
    assert "--json" in text


def test_without_a_verb_it_lists_them(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    assert all(verb in text for verb in VERBS)


def test_the_package_is_the_command(monkeypatch, capsys):
    # The command's own handling of signals would stay in this process.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["adastack", "tasks", "--json"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("adastack", run_name="__main__")
    assert stop.value.code == 0
    assert "xormaze" in capsys.readouterr().out


def test_an_unknown_verb_is_bad_input(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["remember"])
    assert stop.value.code == 2
    assert "invalid choice: 'remember'" in capsys.readouterr().err


def test_json_is_one_object(capsys):
    assert main(["tasks", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)


def test_an_error_is_one_line_and_exit_code_2(capsys):
    assert main(["bench", "nothing"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "expected chapters of" in captured.err


def test_a_verb_that_cannot_be_imported_is_one_line(capsys, monkeypatch):
    def fail(name):
        raise RuntimeError("cannot cache function 'x':\n no locator")

    monkeypatch.setattr("importlib.import_module", fail)
    assert main(["tasks"]) == 1
    assert capsys.readouterr().err == "adastack tasks: cannot cache function 'x': no locator\n"


def test_a_traceback_is_shown_on_demand(capsys):
    assert main(["theory", "kappa", "no-such-task", "--traceback"]) == 2
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert "registry.py" in error
    assert error.splitlines()[-1].startswith("adastack theory: ")


def test_the_package_does_not_import_what_it_may_not_need():
    code = "import sys, adastack; print([m for m in ('jax', 'torch', 'ray') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_reader_that_leaves_early_is_no_error():
    command = f"set -o pipefail; {sys.executable} -m adastack.cli tasks | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr


def test_compilers_are_told_to_be_quiet_before_jax_is_imported():
    code = (
        "import os, sys; os.environ.pop('TF_CPP_MIN_LOG_LEVEL', None); import adastack.cli; "
        "print('jax' in sys.modules, os.environ['TF_CPP_MIN_LOG_LEVEL'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False 3"


MODULE = """
import gymnasium as gym
import numpy as np

class Tiny(gym.Env):
    observation_space = gym.spaces.Discrete(3)
    action_space = gym.spaces.Discrete(2)
    def __init__(self, steps=3):
        self.steps = steps
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.clock = 0
        return 0, {}
    def step(self, action):
        self.clock += 1
        return 1, 1.0, self.clock >= self.steps, False, {}

gym.register("Tiny-v0", Tiny)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["tiny_envs:Tiny"],
        pytest.param(["tiny_envs:Tiny-v0"], marks=pytest.mark.slow),
        ["Tiny-v0", "--import", "tiny_envs"],
    ],
)
def test_an_environment_of_a_users_module_is_reached(words, tmp_path, monkeypatch, capsys):
    (tmp_path / "tiny_envs.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("tiny_envs", None)
    tiny = ["n_envs=2", "n_steps=16", "batch_size=32", "n_epochs=1", "hidden=8"]
    settings = [word for setting in tiny for word in ("--set", setting)]
    asked = [*words, "--env-arg", "steps=5", "--steps", "32", "--out", "run", *settings]
    assert main(["train", *asked, "--json"]) == 0
    trained = json.loads(capsys.readouterr().out)
    assert trained["seeds"][0]["return"] == 5.0
    # The run remembers what it needs: nothing has to be imported again by hand.
    sys.modules.pop("tiny_envs")
    gymnasium.registry.pop("Tiny-v0", None)
    assert main(["evaluate", "run", "--episodes", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seeds"][0]["return"] == 5.0


@pytest.mark.parametrize(
    ("verb", "operands", "options"),
    [
        (
            "diagnose",
            ["X-v0"],
            "--minutes 2 --steps 1e3 --seeds 2 --seed 1 --max-k 3 --solved 0.5 --no-proof "
            "--preset p --out 'a b' --import mine --import yours",
        ),
        (
            "league",
            ["X-v0", "xormaze"],
            "--memories none adaptive:2 --steps 1e3 --seeds 2 --scale smoke --search --store s "
            "--archive a --out 'o p.html' --import mine --import yours",
        ),
    ],
)
def test_the_command_on_a_page_says_the_same_again(verb, operands, options):
    parser, module = _parser(verb)
    plain = parser.parse_args([verb, *operands])
    assert {name: getattr(plain, name) for name in module.DEFAULTS} == module.DEFAULTS
    shortest = shlex.join(["adastack", verb, *operands])
    assert command_line(verb, operands, plain, module.DEFAULTS) == shortest
    asked = parser.parse_args([verb, *operands, *shlex.split(options)])
    assert all(getattr(asked, name) != module.DEFAULTS[name] for name in module.DEFAULTS)
    name, *words = shlex.split(command_line(verb, operands, asked, module.DEFAULTS))
    assert name == "adastack"
    assert parser.parse_args(words) == asked


@pytest.mark.parametrize("verb", ["train", "diagnose", "league"])
def test_help_names_classes_and_ids_of_modules(verb, capsys):
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "module:MyEnv (a class) or module:MyEnv-v0 (an id)" in said


def test_an_environment_that_is_nowhere_is_asked_for(capsys):
    assert main(["train", "no_such_module:Env-v0"]) == 2
    assert "expected a module on the path" in capsys.readouterr().err
    assert main(["train", "NoSuchEnv-v0"]) == 2
    assert "module:Id-v0, or --import" in capsys.readouterr().err


def test_runs_lists_what_was_trained(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["runs"]) == 2
    assert "adastack train" in capsys.readouterr().err
    assert main(["train", "passive-tmaze:length=4", "--steps", "20000", "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    assert main(["runs", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["trained"]
    assert row["address"] == run
    assert (row["status"], row["steps"], row["seeds"]) == ("finished", 20_000, [0])
    assert 0 <= row["success"] <= 1
    assert main(["runs", "tmaze"]) == 0
    shown = capsys.readouterr().out
    assert "passive-tmaze:length=4, sarsa, adaptive memory of 2" in shown
    assert "1 run in runs" in shown
    assert main(["runs", "xormaze"]) == 0
    assert "0 runs in runs" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_also_in_a_callback(number, capsys):
    """Python goes on from an exception in a callback of the garbage collector."""
    calls = []

    def callback(phase, info):
        if phase == "start" and not calls:
            calls.append(1)
            os.kill(os.getpid(), number)
            for _ in range(1000):  # The handler runs here.
                pass

    gc.callbacks.append(callback)
    try:
        with cli._signals("adastack") as unwind:
            unwind()
            gc.collect()
            time.sleep(5)
        pytest.fail("not heard")
    except KeyboardInterrupt:
        pass
    finally:
        gc.callbacks.remove(callback)
    assert "Traceback" not in capsys.readouterr().err


def test_a_signal_is_heard_also_where_that_is_found_out(monkeypatch):
    """On a slow machine it is sent again before the hook that sends it is done."""
    start, began = threading.Thread.start, []

    def slowly(thread):
        start(thread)
        began.append(thread)
        if len(began) == 1:
            time.sleep(0.1)  # The handler runs here.

    monkeypatch.setattr(threading.Thread, "start", slowly)
    interrupt = types.SimpleNamespace(exc_value=KeyboardInterrupt())
    try:
        with cli._signals("adastack") as unwind:
            unwind()
            sys.unraisablehook(interrupt)
            time.sleep(5)
        pytest.fail("not heard")
    except KeyboardInterrupt:
        assert len(began) > 1
