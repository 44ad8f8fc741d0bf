"""The same on a real Ray cluster of this machine."""

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from adastack.lab.job import Job
from adastack.lab.runner import run
from adastack.lab.store import Store
from lab.kinds import deep, longer, often, quick, tabular

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two cores that all tests here share, reached by its address."""
    context = ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield context.address_info["gcs_address"]
    ray.shutdown()


@pytest.mark.slow
def test_a_worker_killed_in_the_middle(cluster, tmp_path):
    """Nothing is lost, nothing runs twice, and all is as from local workers."""
    there, here, log = Store(tmp_path / "ray"), Store(tmp_path / "local"), tmp_path / "log"
    long = often(tabular(steps=10_000_000, evaluate=(longer(),)))
    others = [quick(n, log=str(log)) for n in range(6)]
    killed = threading.Thread(target=kill_in_the_middle, args=(there, long))
    killed.start()
    outcome = run([long, *others], there, backend="ray", workers=2, address=cluster)
    killed.join()
    assert outcome.failed == {}
    assert len(outcome.finished) == 7
    assert sorted(log.read_text().split()) == list("012345")
    run([long], here, workers=1)
    assert_same(there, here, long)


@pytest.mark.slow
def test_deep_trainings_are_the_same(cluster, tmp_path):
    there, here = Store(tmp_path / "ray"), Store(tmp_path / "local")
    run([deep(0)], there, backend="ray", address=cluster)
    run([deep(0)], here, workers=1)
    assert_same(there, here, deep(0))


def assert_same(there, here, job):
    assert there.result(job) == here.result(job)
    for test in job.evaluate:
        assert there.evaluation(job, test) == here.evaluation(job, test)
    ours, theirs = there.metrics(job), here.metrics(job)
    assert all(np.array_equal(ours[name], theirs[name], equal_nan=True) for name in theirs)


def kill_in_the_middle(store, job):
    """Once there is a checkpoint to go on from."""
    while not (store.folder(job) / "run" / "checkpoint.json").exists():
        time.sleep(0.02)
    os.kill(store.progress(job)["pid"], signal.SIGKILL)


@pytest.mark.slow
def test_three_deaths_are_a_failure(cluster, tmp_path):
    """Slow, as Ray starts a worker anew each time."""
    store, dying = Store(tmp_path / "lab"), Job("lab.kinds:die", {"times": 9})
    dies_once = Job("lab.kinds:die", {"times": 1})
    outcome = run([dying, dies_once, quick(2)], store, backend="ray", address=cluster)
    assert sorted(outcome.finished) == sorted([dies_once.address, quick(2).address])
    assert store.result(dies_once) == {"tries": 2}
    assert outcome.failed[dying.address].startswith("its worker died")
    assert outcome.failed[dying.address].endswith("3 times")


@pytest.mark.slow
def test_local_and_ray_workers_share_a_store(cluster, tmp_path):
    store, log = Store(tmp_path / "lab"), tmp_path / "log"
    jobs = [quick(n, log=str(log), seconds=0.2) for n in range(10)]
    bad = quick(1, error="the sky fell")
    other = threading.Thread(target=run, args=(jobs, store), kwargs={"workers": 1})
    other.start()
    outcome = run([*jobs, bad], store, backend="ray", workers=1, address=cluster)
    other.join()
    assert len(outcome.finished) + len(outcome.skipped) == 10
    assert outcome.failed == {bad.address: "the sky fell"}
    assert sorted(log.read_text().split()) == sorted(str(n) for n in range(10))


@pytest.mark.slow
def test_modules_of_the_user_reach_the_workers(cluster, tmp_path, monkeypatch):
    """A task that only a module beside the user knows; local workers are tried with the league."""
    (tmp_path / "tasks_for_ray.py").write_text(
        "from adastack.tasks import TaskEntry, passive_tmaze, register_task\n"
        "register_task(TaskEntry('ray-tmaze', lambda: passive_tmaze(length=3), 'the cue'))\n"
    )
    monkeypatch.chdir(tmp_path)
    store, job = Store(tmp_path / "lab"), Job("kappa", {"task": "ray-tmaze"})
    known = replace(job, imports=("tasks_for_ray",))
    assert known.address == job.address
    outcome = run([known], store, backend="ray", workers=1, address=cluster)
    assert outcome.failed == {}
    assert store.result(job)["kappa"] == 2
