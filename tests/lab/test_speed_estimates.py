"""Estimates rest on the closest and newest runs that are known."""

import json

import pytest

from adastack.cli import main
from adastack.lab import experiments
from adastack.lab import machine as machine_module
from adastack.lab.archive import Archive
from adastack.lab.archive_file import encode
from adastack.lab.experiment import Analysis, Experiment
from adastack.lab.job import Evaluation, Job
from adastack.lab.machine import machine
from adastack.lab.speed_estimates import TEST_SECONDS, SpeedEstimates
from adastack.lab.store import Store

STEPS = 1_000_000
LONG = Evaluation("passive-tmaze:length=1000")


def job(net="lstm", memory="frame", k=64, seed=0, task="passive-tmaze:length=64", evaluate=()):
    settings = {
        "task": task, "memory": memory, "stack_size": k, "algo": "ppo", "preset": "paper",
        "steps": STEPS, "seeds": [seed], "overrides": {"net": net},
    }  # fmt: skip
    return Job("train", settings, evaluate)


class Filled:
    """An archive to which runs are added by their speed."""

    def __init__(self, root):
        self.archive = Archive(root)
        root.mkdir()

    def add(self, job, rate, version="0.1.0", finished="2026-01-01", tests=(), **where):
        body = {
            "job": {"kind": "train", "settings": job.settings},
            "result": {"settings": {}, "seeds": {}},
            "versions": {"adastack": version},
            "machine": {**machine(), **where},
            "finished": finished,
            "seconds": STEPS / rate,
            "means": {},
            "curves": {},
            "tests": {
                test.address: {"evaluation": vars(test), "seconds": spent, "seeds": {}}
                for test, spent in tests
            },
        }
        self.archive.path(job.address).write_bytes(encode(body))

    def rate(self, job):
        speeds = SpeedEstimates(Store(self.archive.root / "none"), Archive(self.archive.root))
        return STEPS / speeds.seconds(job), speeds.basis(job)


@pytest.fixture
def filled(tmp_path):
    return Filled(tmp_path / "evidence")


def test_the_rate_is_that_of_the_same_network_and_memory(filled):
    filled.add(job(), 26)
    filled.add(job(k=2), 5000)
    filled.add(job(memory="adaptive"), 20)
    filled.add(job("transformer"), 7)
    assert filled.rate(job(seed=1)) == (pytest.approx(26), "same")
    assert filled.rate(job(k=2, seed=1)) == (pytest.approx(5000), "same")
    assert filled.rate(job("transformer", seed=1)) == (pytest.approx(7), "same")


def test_other_slots_are_corrected_by_usual_speeds(filled):
    speeds = SpeedEstimates(Store(filled.archive.root / "none"))
    usual = [speeds.seconds(job(k=k)) for k in (64, 16)]
    filled.add(job(k=64), 26)
    rate, basis = filled.rate(job(k=16))
    assert basis == "similar"
    assert rate == pytest.approx(26 * usual[0] / usual[1], rel=0.2)
    assert filled.rate(job("cnn"))[1] == "table"


def test_new_code_and_this_machine_count_first(filled):
    filled.add(job(seed=0), 26, version="0.9.9")
    filled.add(job(seed=1), 800, version="0.10.0", processor="another", finished="2026-02-02")
    assert filled.rate(job(seed=9))[0] == pytest.approx(800)
    filled.add(job(seed=2), 700, version="0.10.0")
    assert filled.rate(job(seed=9))[0] == pytest.approx(700)
    for seed in range(3, 8):
        filled.add(job(seed=seed), 900, version="0.10.0", finished="2026-03-03")
    assert filled.rate(job(seed=9))[0] == pytest.approx(900)


def test_tests_take_their_time(filled):
    filled.add(job(), 1000, tests=[(LONG, 120.0)])
    speeds = SpeedEstimates(Store(filled.archive.root / "none"), filled.archive)
    assert speeds.seconds(job(seed=1, evaluate=(LONG,))) == pytest.approx(1120)
    other = Evaluation("xormaze")
    assert speeds.seconds(job(seed=1, evaluate=(other,))) == pytest.approx(1000 + TEST_SECONDS)


def test_a_dry_run_says_what_it_rests_on(filled, monkeypatch, capsys, tmp_path):
    jobs = [job(seed=seed) for seed in range(3)]
    one = Experiment(
        name="one", sweep=lambda scale: [*jobs, job("cnn")], analyse=lambda found: Analysis()
    )
    monkeypatch.setattr(experiments, "load_experiments", lambda: {"one": one})
    filled.add(jobs[0], 100)
    words = ["reproduce", "one", "--dry-run", "--workers", "1", "--store", str(tmp_path / "lab")]
    words += ["--archive", str(filled.archive.root)]
    assert main([*words, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    rests_on = plan["rests_on"]
    assert (rests_on["same"], rests_on["similar"], rests_on["table"]) == (2, 0, 1)
    assert plan["all"]["exist"] == 1
    usual = SpeedEstimates(Store(tmp_path / "lab")).seconds(job("cnn"))
    assert plan["all"]["seconds"] == pytest.approx(2 * STEPS / 100 + usual)
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2 by runs of the same network, memory and task, 1 by usual speeds" in said
    assert "Measured 2026-01-01 on" in said


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["model name: EPYC", "cpu family: 26", "model\t\t: 2"], "EPYC (family 26, model 2)"),
        (["model name: EPYC"], "EPYC"),
    ],
)
def test_processors_of_one_name_are_told_apart(monkeypatch, tmp_path, lines, expected):
    (tmp_path / "cpuinfo").write_text("\n".join(lines))
    read = machine_module._line
    monkeypatch.setattr(machine_module, "_line", lambda _, name: read(tmp_path / "cpuinfo", name))
    assert machine_module._processor() == expected
