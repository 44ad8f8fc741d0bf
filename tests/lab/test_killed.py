"""Killed at any moment and resumed, everything is bit for bit as if it had not been."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from adastack.lab import runner
from adastack.lab.runner import run
from adastack.lab.store import Store
from lab.kinds import deep, longer, often, tabular


def assert_same(ours, theirs, jobs):
    for job in jobs:
        assert ours.status(job) == "finished"
        assert ours.result(job) == theirs.result(job)
        mine, other = ours.metrics(job), theirs.metrics(job)
        assert set(mine) == set(other)
        assert all(np.array_equal(mine[name], other[name], equal_nan=True) for name in other)
        for test in job.evaluate:
            assert ours.evaluation(job, test) == theirs.evaluation(job, test)


def saved_step(run):
    path = run / "checkpoint.json"
    return max(json.loads(path.read_text())["meta"].values()) if path.exists() else 0


class Killer(threading.Thread):
    """Kills whoever computes, at random moments after it has begun."""

    def __init__(self, store, jobs, kills, longest, seed=0):
        super().__init__(daemon=True)
        self.store, self.jobs, self.kills, self.longest = store, jobs, kills, longest
        self.rng, self.dead = np.random.default_rng(seed), set()
        self.saved = {job.address: [] for job in jobs}

    def run(self):
        while len(self.dead) < self.kills:
            job, pid = self._found()
            if self.rng.random() < 0.7:
                self._wait_for_a_checkpoint(job)
            time.sleep(self.rng.random() * self.longest)
            said = self.store.progress(job)
            if said and said["pid"] == pid and self.store.is_held(job):
                self.dead.add(pid)
                os.kill(pid, signal.SIGKILL)
                self.saved[job.address].append(saved_step(self.store.folder(job) / "run"))

    def _wait_for_a_checkpoint(self, job):
        run = self.store.folder(job) / "run"
        before = saved_step(run)
        while self.store.is_held(job) and saved_step(run) == before:
            time.sleep(0.005)

    def _found(self):
        while True:
            for job in self.jobs:
                said = self.store.progress(job) if self.store.is_held(job) else None
                if said and said["pid"] not in self.dead:
                    return job, said["pid"]
            time.sleep(0.005)


def assert_killed_is_as_whole(tmp_path, monkeypatch, jobs, kills, longest):
    monkeypatch.setattr(runner, "DEATHS", kills + 1)
    whole, broken = Store(tmp_path / "whole"), Store(tmp_path / "broken")
    run(jobs, whole, workers=1)
    killer = Killer(broken, jobs, kills, longest)
    killer.start()
    assert run(jobs, broken, workers=1).failed == {}
    assert len(killer.dead) == kills
    # Each time it went on from where it was, instead of beginning anew.
    assert all(steps == sorted(steps) for steps in killer.saved.values())
    assert max(max(steps, default=0) for steps in killer.saved.values()) > 0
    assert_same(broken, whole, jobs)


@pytest.mark.parametrize(("seeds", "kills"), [(2, 4), pytest.param(6, 20, marks=pytest.mark.slow)])
def test_workers_killed_at_random_moments(tmp_path, monkeypatch, seeds, kills):
    jobs = [often(tabular([seed], 6_000_000, evaluate=[longer()])) for seed in range(seeds)]
    assert_killed_is_as_whole(tmp_path, monkeypatch, jobs, kills, 0.15)


@pytest.mark.slow
def test_deep_workers_killed_at_random_moments(tmp_path, monkeypatch):
    jobs = [often(deep(seed, steps=600_000)) for seed in range(2)]
    assert_killed_is_as_whole(tmp_path, monkeypatch, jobs, 5, 1.0)


SCRIPT = """
from adastack.lab.runner import run
from adastack.lab.store import Store
from lab.kinds import *
jobs = [often(tabular([seed], 3_000_000)) for seed in range(2)]
run(jobs, Store({root!r}), workers=2)
"""


@pytest.mark.slow
def test_the_whole_command_killed(tmp_path):
    jobs = [often(tabular([seed], 3_000_000)) for seed in range(2)]
    whole, broken = Store(tmp_path / "whole"), Store(tmp_path / "broken")
    run(jobs, whole, workers=2)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", SCRIPT.format(root=str(broken.root))]
    rng = np.random.default_rng(1)
    for _ in range(2):
        process = subprocess.Popen(words, env=environment)
        while not any(broken.is_held(job) for job in jobs):
            time.sleep(0.01)
        time.sleep(0.3 * rng.random())
        process.kill()
        process.wait()
    assert {broken.status(job) for job in broken.jobs()} != {"finished"}
    subprocess.run(words, env=environment, check=True)
    assert_same(broken, whole, jobs)
