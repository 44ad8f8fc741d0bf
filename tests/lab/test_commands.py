"""The lab from the command line."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from adastack.cli import main
from adastack.lab import experiments
from adastack.lab.execute import perform
from adastack.lab.experiment import Experiment
from adastack.lab.live import table_of
from adastack.lab.runner import Board
from adastack.lab.speed_estimates import SpeedEstimates
from adastack.lab.store import Store
from lab.kinds import HEARS_CTRL_C, longer, quick, tabular


def experiment(name, sweep):
    return Experiment(
        name=name,
        title=f"what {name} shows",
        where="Figure 1",
        sweep=sweep,
        analyse=lambda results: None,
    )


@pytest.fixture(autouse=True)
def _experiments(monkeypatch):
    found = [
        experiment(
            "small", lambda scale: [quick(n) for n in scale.pick(paper=range(4), smoke=[1])]
        ),
        experiment("learned", lambda scale: [tabular(range(n, n + 5)) for n in (0, 5)]),
        experiment("broken", lambda scale: [quick(1), quick(9, error="the sky fell")]),
    ]
    monkeypatch.setattr(experiments, "load_experiments", lambda: {e.name: e for e in found})


@pytest.fixture
def adastack(capsys, tmp_path):
    def call(*words):
        code = main([*words, "--store", str(tmp_path / "lab"), "--json"])
        captured = capsys.readouterr()
        return code, json.loads(captured.out) if captured.out else captured.err

    return call


def test_the_list(adastack, capsys):
    _, result = adastack("reproduce", "--list")
    assert [(line["name"], line["jobs"], line["steps"]) for line in result["list"]] == [
        ("small", 4, 0),
        ("learned", 2, 200_000),
        ("broken", 2, 0),
    ]
    assert main(["reproduce", "--list", "--scale", "smoke"]) == 0
    assert "what small shows" in capsys.readouterr().out


def test_a_dry_run_then_a_run_then_nothing_to_do(adastack, capsys, tmp_path):
    _, before = adastack("reproduce", "small", "learned", "--dry-run")
    assert not (tmp_path / "lab").exists()
    assert before["plan"]["all"]["to_do"] == 6
    assert before["plan"]["all"]["steps"] == 200_000
    assert before["plan"]["all"]["seconds"] > 0
    code, result = adastack("reproduce", "small", "learned", "--workers", "1")
    assert (code, len(result["finished"]), result["failed"]) == (0, 6, {})
    _, after = adastack("reproduce", "all", "--dry-run")
    sizes = after["plan"]["experiments"]
    assert (sizes["small"]["exist"], sizes["small"]["to_do"]) == (4, 0)
    assert sizes["broken"]["to_do"] == 1
    code, again = adastack("reproduce", "small", "learned")
    assert (code, again["finished"], len(again["skipped"])) == (0, [], 6)
    assert main(["reproduce", "small", "--store", str(tmp_path / "lab")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "4 there already" in said
    assert f"adastack report small --store {tmp_path / 'lab'}" in said


def test_the_next_command_can_be_copied(capsys, tmp_path):
    """On one line, quoted, with its scale, and without the names of all experiments."""
    store = tmp_path / ("a long name" * 10)
    words = ["reproduce", "--store", str(store), "--scale", "smoke", "--workers", "1"]
    assert main([*words, "small"]) == 0
    assert (
        f"Now: adastack report small --scale smoke --store '{store}'\n" in capsys.readouterr().out
    )
    assert main([*words, "all"]) == 1
    assert f"Now: adastack report --scale smoke --store '{store}'\n" in capsys.readouterr().out


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_file_is_no_store(adastack, tmp_path, more):
    (tmp_path / "lab").write_text("a file")
    code, error = adastack("reproduce", "small", *more)
    assert (code, error.count("\n")) == (2, 1)
    assert f"cannot write to the store {tmp_path / 'lab'}: Not a directory" in error
    expected = {
        "runs": f"or a store in {tmp_path / 'lab'} (`adastack reproduce`), actual: neither",
        "report": f"expected a store, actual: {tmp_path / 'lab'}; run `adastack reproduce`",
    }
    for verb, words in expected.items():
        code, error = adastack(verb)
        assert (code, error.count("\n")) == (2, 1)
        assert words in error


def test_a_failed_run_is_exit_code_1(adastack, capsys, tmp_path):
    code, result = adastack("reproduce", "broken", "--workers", "1")
    assert code == 1
    assert [why for _, why in result["failed"].values()] == ["the sky fell"]
    assert len(result["finished"]) == 1
    assert main(["reproduce", "broken", "--store", str(tmp_path / "lab")]) == 1
    captured = capsys.readouterr()
    assert "1 failed" in captured.out
    assert "the sky fell" in captured.out
    assert "2 of 2: lab.kinds:square: failed: the sky fell" in captured.err


def test_fewer_seeds_are_whole_batches_of_the_sweep(adastack):
    _, few = adastack("reproduce", "learned", "--seeds", "3", "--dry-run")
    _, all_of_them = adastack("reproduce", "learned", "--seeds", "6", "--dry-run")
    assert (few["plan"]["all"]["to_do"], all_of_them["plan"]["all"]["to_do"]) == (1, 2)


def test_runs_are_left_out_by_word(adastack):
    _, none = adastack("reproduce", "small", "learned", "--dry-run", "--skip", "adaptive")
    assert none["plan"]["all"]["to_do"] == 4
    _, part = adastack("reproduce", "small", "learned", "--dry-run", "--skip", "square")
    assert part["plan"]["all"]["to_do"] == 2


@pytest.mark.parametrize(
    "words",
    [
        ["--skip=adaptive,square", "small", "learned"],
        ["--skip=adaptive", "--skip=square", "small", "learned"],
        ["small", "learned", "--skip", "adaptive", "--skip", "square"],
        ["--skip", "adaptive", "square", "--dry-run", "small", "learned"],
    ],
)
def test_words_to_skip_may_come_before_the_names(adastack, words):
    _, none = adastack("reproduce", "--dry-run", *words)
    assert {name: row["to_do"] for name, row in none["plan"]["experiments"].items()} == {
        "small": 0,
        "learned": 0,
    }


def test_a_word_of_another_experiment_skips_nothing(adastack):
    """The same --skip can stand behind every experiment."""
    code, result = adastack("reproduce", "small", "--dry-run", "--skip", "adaptive")
    assert (code, result["plan"]["all"]["to_do"]) == (0, 4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["smal"], "expected experiments of small, learned, broken, or all, actual: 'smal'"),
        ([], "expected experiments of small"),
        (["small", "--address", "here"], "--address expects --backend ray"),
        (["small", "--seeds", "0"], "--seeds must be at least 1"),
        (["learned", "--skip", "adapt"], "--skip expects words of a run's line, actual: 'adapt'"),
        (["--skip", "adaptive", "learned"], "or write --skip=adaptive NAME"),
        (["small", "--workers", "0"], "workers must be at least 1"),
    ],
)
def test_bad_input(adastack, tmp_path, words, message):
    code, error = adastack("reproduce", *words)
    assert code == 2
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "lab").exists()


def test_runs_are_listed_and_filtered(adastack, capsys, tmp_path):
    assert adastack("runs")[0] == 2
    adastack("reproduce", "broken", "learned", "--workers", "1")
    _, result = adastack("runs")
    assert len(result["runs"]) == 4
    status = {run["what"]: (run["status"], run["reason"]) for run in result["runs"]}
    assert (
        status["passive-tmaze:length=4,continual=true, adaptive 2, sarsa, robust"][0] == "finished"
    )
    assert len(adastack("runs", "tmaze", "adaptive")[1]["runs"]) == 2
    assert [run["reason"] for run in adastack("runs", "failed")[1]["runs"]] == ["the sky fell"]
    assert adastack("runs", "nowhere")[1]["runs"] == []
    assert main(["runs", "--store", str(tmp_path / "lab")]) == 0
    assert "4 runs" in capsys.readouterr().out
    assert main(["runs", "sarsa", "finished", "--store", str(tmp_path / "lab")]) == 0
    shown = capsys.readouterr().out
    for run in adastack("runs", "sarsa", "finished")[1]["runs"]:
        assert run["address"] in shown, "as --remove asks for it"


def test_damage_is_shown(adastack, tmp_path):
    adastack("reproduce", "learned", "--seeds", "5", "--workers", "1")
    assert adastack("runs", "--verify") == (0, {**adastack("runs", "--verify")[1], "runs": []})
    metrics = next((tmp_path / "lab").glob("*/run/checkpoint-*.safetensors"))
    metrics.write_bytes(b"nothing")
    code, result = adastack("runs", "--verify")
    assert code == 1
    assert [run["address"] for run in result["runs"]] == [metrics.parent.parent.name]


def test_runs_are_removed_after_asking(adastack, tmp_path, monkeypatch):
    adastack("reproduce", "small", "--workers", "1")
    store = Store(tmp_path / "lab")
    addresses = [job.address for job in store.jobs()]
    code, error = adastack("runs", "--remove", addresses[0])
    assert (code, "--yes" in error) == (2, True)
    code, error = adastack("runs", "--remove", addresses[0], "other", "--yes")
    assert (code, "actual: other" in error) == (2, True)
    assert len(store.jobs()) == 4
    monkeypatch.setattr("sys.stdin", Answer("y\n"))
    assert adastack("runs", "--remove", addresses[0])[0] == 0
    assert adastack("runs", "--remove", addresses[1], "--yes")[1]["removed"] == [addresses[1]]
    assert len(store.jobs()) == 2


class Answer:
    def __init__(self, text):
        self.text = text

    def isatty(self):
        return True

    def readline(self):
        return self.text


def test_the_live_table_says_what_runs(tmp_path):
    store, job = Store(tmp_path), tabular()
    with store.claim(job) as folder:
        said = {"step": 5_000, "total": 20_000, "rate": 1_000.0, "numbers": {"success": 0.5}}
        (folder / "progress.json").write_text(json.dumps(said))
        board = Board(store, [job, quick(1)], SpeedEstimates(store), running={job.address: job})
        table = table_of(board)
    cells = [next(iter(column.cells)) for column in table.columns]
    # Two seeds with 15,000 steps each are left, at 1,000 a second.
    assert cells[1:] == ["0-1", "25%", "1,000", "success 0.5", "30 s"]
    assert table.title == "2 jobs: 1 running, about 30 s left"


def test_the_live_table_counts_tests(tmp_path):
    said = []

    class Heard:
        def update(self, step, **numbers):
            said.append({"step": step, "total": 20_000, "rate": 1.0, "numbers": numbers})

    store, job = Store(tmp_path), tabular(evaluate=[longer(8), longer(9)])
    with store.claim(job) as folder:
        perform(job, folder, Heard())
        (folder / "progress.json").write_text(json.dumps(said[-1]))
        table = table_of(Board(store, [job], SpeedEstimates(store), running={job.address: job}))
    assert [next(iter(column.cells)) for column in table.columns][2] == "test 2 of 2"


@pytest.mark.slow
def test_ctrl_c_on_a_terminal(tmp_path):
    """A real terminal: the table is drawn, and Ctrl-C is one line that says how to go on."""
    main_end, other_end = pty.openpty()
    code = HEARS_CTRL_C + "import sys; from adastack.cli import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "reproduce", "tabular", "--store", tmp_path / "lab"]
    # With the repository's archive nothing would be left to do.
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=other_end, start_new_session=True
    )
    os.close(other_end)
    store = Store(tmp_path / "lab")
    while not any(store.is_held(job) for job in store.jobs()):
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGINT)
    said = b""
    while chunk := _read(main_end):
        said += chunk
    assert process.wait(20) == 1
    assert b"running" in said
    assert b"adastack reproduce: stopped: the same command goes on" in said
    assert b"Traceback" not in said
    assert not any(store.is_held(job) for job in store.jobs())


def _read(handle):
    try:
        return os.read(handle, 65536)
    except OSError:  # The other end is closed.
        return b""
