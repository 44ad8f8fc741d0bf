"""Jobs run to their end whatever happens to workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from adastack.lab import fork_server, local, runner
from adastack.lab.job import Job
from adastack.lab.runner import run
from adastack.lab.speed_estimates import SpeedEstimates
from adastack.lab.store import Store, StoreError
from adastack.lab.worker import environment
from adastack.tasks import registry
from lab.kinds import HEARS_CTRL_C, longer, quick, tabular


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "lab")


def lines(path):
    return sorted(path.read_text().split())


def test_everything_is_computed_once(store, tmp_path):
    log = str(tmp_path / "log")
    jobs = [quick(n, log=log) for n in range(5)]
    seen = []
    outcome = run([*jobs, *jobs], store, workers=2, on_change=lambda b: seen.append(len(b.running)))
    assert sorted(outcome.finished) == sorted(job.address for job in jobs)
    assert (outcome.failed, outcome.skipped) == ({}, [])
    assert [store.result(job)["square"] for job in jobs] == [0, 1, 4, 9, 16]
    assert max(seen) == 2
    assert seen[-1] == 0
    again = run(jobs, store)
    assert (again.finished, len(again.skipped)) == ([], 5)
    assert lines(tmp_path / "log") == list("01234")


def test_a_failure_has_its_reason_and_the_others_go_on(store):
    bad, unknown = quick(1, error="the sky\nfell"), Job("nothing", {})
    outcome = run([bad, quick(2), unknown, quick(3)], store, workers=1)
    assert len(outcome.finished) == 2
    assert outcome.failed[bad.address] == "the sky fell"
    assert "expected a kind of job" in outcome.failed[unknown.address]
    assert (store.status(bad), store.reason(bad)) == ("failed", "the sky fell")
    # It is tried again by the next call.
    assert list(run([bad], store, workers=1).failed) == [bad.address]


def test_a_worker_that_dies_is_replaced(store):
    job = Job("lab.kinds:die", {"times": 2})
    outcome = run([job, quick(2)], store, workers=1)
    assert len(outcome.finished) == 2
    assert store.result(job) == {"tries": 3}


def test_three_deaths_are_a_failure(store):
    job = Job("lab.kinds:die", {"times": 9})
    outcome = run([job, quick(2)], store, workers=1)
    assert outcome.failed == {job.address: "its worker died (SIGKILL), 3 times"}
    assert len(outcome.finished) == 1
    assert store.status(job) == "failed"


def test_a_worker_takes_many_jobs_until_it_has_grown(store, monkeypatch):
    # What the process that starts workers holds is not theirs.
    monkeypatch.setattr(local, "MOST_BYTES", 600_000_000)
    ballast = np.ones(local.MOST_BYTES // 8 + 1)
    small = [Job("lab.kinds:pid", {"n": n}) for n in range(3)]
    run(small, store, workers=1)
    assert len({store.result(job)["pid"] for job in small}) == 1
    del ballast
    monkeypatch.setattr(local, "MOST_BYTES", 1)
    large = [Job("lab.kinds:pid", {"n": n}) for n in range(3, 6)]
    run(large, store, workers=1)
    assert len({store.result(job)["pid"] for job in large}) == 3


def test_workers_are_forked_by_a_process_that_has_imported_the_learners(store):
    def parent(number):
        job = Job("lab.kinds:pid", {"n": number})
        run([job], store, workers=1)
        assert store.result(job)["jax"]
        return store.result(job)["parent"]

    first = parent(0)
    assert parent(1) == first
    os.kill(first, signal.SIGKILL)
    assert parent(2) != first


def test_another_environment_is_another_fork_server(monkeypatch):
    monkeypatch.setattr(fork_server, "ForkServer", lambda environment: SimpleNamespace(alive=True))
    monkeypatch.setattr(fork_server, "_running", {})
    first = fork_server._server({"a": "1"})
    assert fork_server._server({"a": "1"}) is first
    assert fork_server._server({"a": "2"}) is not first


def test_a_worker_that_stands_still_is_killed(store, monkeypatch):
    monkeypatch.setattr(runner, "STALL_SECONDS", 2.0)
    job = Job("lab.kinds:hang", {})
    assert run([job], store, workers=1).finished == [job.address]
    assert store.result(job) == {"hung": 1}


def test_a_job_that_another_process_holds_is_waited_for(store, tmp_path):
    job, log = quick(3, log=str(tmp_path / "log"), seconds=3), tmp_path / "log"
    other = threading.Thread(target=run, args=([job], store), kwargs={"workers": 1})
    other.start()
    while not store.is_held(job):
        time.sleep(0.01)
    outcome = run([job, quick(4)], store, workers=1)
    other.join()
    assert (outcome.finished, outcome.skipped) == ([quick(4).address], [job.address])
    assert lines(log) == ["3"]


def process(code, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", code]
    return subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, **options)


def script(store, jobs):
    return f"""
from adastack.lab.runner import run
from adastack.lab.store import Store
from lab.kinds import *
print(run({jobs}, Store({str(store.root)!r}), workers=2))
"""


@pytest.mark.slow
def test_two_users_of_one_store(store, tmp_path):
    log = tmp_path / "log"
    jobs = f"[quick(n, log={str(log)!r}, seconds=0.05) for n in range(20)] + [tabular()]"
    users = [process(script(store, jobs), stdout=subprocess.DEVNULL) for _ in range(2)]
    for user in users:
        _, said = user.communicate(timeout=100)
        assert user.returncode == 0, said
    assert lines(log) == sorted(str(n) for n in range(20))
    assert len(store.jobs()) == 21
    assert {store.status(job) for job in store.jobs()} == {"finished"}


def test_ctrl_c_ends_the_workers_and_the_next_call_goes_on(store):
    job = tabular(steps=100_000_000)
    jobs = f"[tabular(steps={job.settings['steps']}), quick(3, seconds=60)]"
    user = process(HEARS_CTRL_C + script(store, jobs), start_new_session=True)
    while not (store.is_held(job) and (store.progress(job) or {}).get("step")):
        time.sleep(0.05)
    pid = store.progress(job)["pid"]
    os.killpg(user.pid, signal.SIGINT)
    _, said = user.communicate(timeout=20)
    assert "KeyboardInterrupt" in said
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert {store.status(each) for each in store.jobs()} == {"resumable"}
    assert not [path for path in store.folder(job).rglob("*.json") if not path.read_bytes()]


def test_workers_end_with_the_process_that_started_them(store):
    job = tabular(steps=100_000_000)
    user = process(script(store, f"[tabular(steps={job.settings['steps']})]"))
    while not store.is_held(job):
        time.sleep(0.05)
    user.kill()
    user.communicate()
    ends = time.monotonic() + 20
    while store.is_held(job) and time.monotonic() < ends:
        time.sleep(0.05)
    assert store.status(job) == "resumable"


def test_a_damaged_run_is_redone_by_the_next_call(store):
    job = tabular(evaluate=(longer(),))
    run([job], store, workers=1)
    before, curves = store.document(job), store.metrics(job)
    path = next((store.folder(job) / "run").glob("checkpoint-*.safetensors"))
    path.write_bytes(path.read_bytes()[:-1])
    assert run([job], store, workers=1).finished == [job.address]
    assert store.document(job)["result"] == before["result"]
    assert np.array_equal(store.metrics(job)["reward"], curves["reward"])


def test_a_store_that_cannot_be_written_is_one_error(tmp_path):
    (tmp_path / "lab").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="cannot write to the store"):
        run([quick(1)], Store(tmp_path / "lab"))


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
"""


def test_a_full_disk_is_one_error_and_no_broken_run(store):
    """No file may grow beyond what the first checkpoint needs, as on a disk that is full."""
    code = FULL.format(limit=8_000) + script(store, "[tabular(), tabular(seeds=(5, 6)), quick(2)]")
    user = process(code, stdout=subprocess.DEVNULL)
    _, said = user.communicate(timeout=60)
    assert user.returncode == 1
    assert (
        said.strip()
        .splitlines()[-1]
        .startswith(f"adastack.lab.store.StoreError: cannot write to the store {store.root}: ")
    )
    assert "File too large" in said
    assert {store.status(job) for job in store.jobs()} <= {"resumable", "finished"}
    jobs = [tabular(), tabular(seeds=(5, 6)), quick(2)]
    assert run(jobs, store, workers=2).failed == {}
    assert {store.status(job) for job in jobs} == {"finished"}


def test_the_longest_job_is_first(store):
    jobs = [tabular(steps=n) for n in (1_000, 50_000, 20_000)]
    first = []
    run(jobs, store, workers=1, on_change=lambda b: first.extend(b.running))
    assert list(dict.fromkeys(first)) == [jobs[i].address for i in (1, 2, 0)]


@pytest.mark.parametrize(
    ("quick", "slow"),
    [
        ({"task": "passive-tmaze"}, {"task": "fetch-reach:goal_period=20"}),
        ({"task": "cube", "stack_size": 2}, {"task": "minigrid-memory", "stack_size": 2}),
        (
            {"task": "passive-tmaze", "stack_size": 2, "overrides": {"net": "lstm"}},
            {"task": "passive-tmaze", "stack_size": 16, "overrides": {"net": "lstm"}},
        ),
        (
            {"task": "minigrid-memory", "stack_size": 2},
            {"task": "minigrid-memory", "stack_size": 17},
        ),
    ],
    ids=["world", "worlds", "slots", "wide slots"],
)
def test_usual_rates_know_worlds_and_slots(store, quick, slow):
    common = {"algo": "ppo", "steps": 1_000_000, "seeds": [0]}
    times = [
        SpeedEstimates(store).seconds(Job("train", {**common, **each})) for each in (quick, slow)
    ]
    assert times[1] > 2 * times[0]


def test_rates_are_learned_from_what_is_finished(store):
    job, twice = tabular(steps=20_000), tabular(steps=40_000)
    usual = SpeedEstimates(store).seconds(twice)
    run([job], store, workers=1)
    assert SpeedEstimates(store).seconds(twice) == pytest.approx(2 * store.document(job)["seconds"])
    assert SpeedEstimates(store).seconds(twice) != usual
    # A job that is far longer says nothing: the short one is all start.
    assert SpeedEstimates(store).measured(tabular(steps=2_000_000)) is None


def test_what_was_begun_takes_only_the_rest(store):
    job = tabular(steps=40_000_000)
    whole = SpeedEstimates(store).seconds(job)
    assert SpeedEstimates(store).seconds_left(job) == whole
    with store.claim(job) as folder:
        (folder / "progress.json").write_text('{"step": 30000000, "total": 40000000}')
    assert SpeedEstimates(store).seconds_left(job) == pytest.approx(whole / 4)


def test_the_time_left_does_not_read_the_store_again(store, monkeypatch):
    speeds, job = SpeedEstimates(store), tabular()
    first = speeds.seconds_left(job)
    monkeypatch.setattr(Store, "share_left", lambda *args: pytest.fail("read again"))
    assert speeds.seconds_left(job) == first


def test_a_new_test_needs_no_new_training(store):
    run([tabular()], store, workers=1)
    assert store.share_left(tabular(evaluate=[longer()])) == 0
    assert store.share_left(tabular(steps=30_000)) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [({"backend": "slurm"}, "backend must be one of local, ray"), ({"workers": 0}, "at least 1")],
)
def test_bad_options(store, options, message):
    with pytest.raises(ValueError, match=message):
        run([quick(1)], store, **options)
    assert not store.root.exists()


def test_curves_are_the_same_in_any_process(store, tmp_path):
    from adastack.lab.execute import perform
    from adastack.progress import Silent

    job, here = tabular(), Store(tmp_path / "here")
    run([job], store, workers=1)
    with here.claim(job) as folder:
        perform(job, folder, Silent())
    ours, theirs = here.metrics(job), store.metrics(job)
    assert all(np.array_equal(ours[name], theirs[name], equal_nan=True) for name in theirs)


def test_workers_find_modules_that_the_user_named_and_no_others(store, tmp_path, monkeypatch):
    """The current folder comes last, and only where something was imported from it by name."""
    (tmp_path / "numba.py").write_text("raise RuntimeError('somebody else ran')")
    (tmp_path / "my_tasks.py").write_text(
        "from adastack.tasks import TaskEntry, passive_tmaze, register_task\n"
        "def mine():\n    return passive_tmaze(length=4)\n"
        "register_task(TaskEntry('my-maze', mine, 'the cue'))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])  # As `python -m` has it.
    assert str(tmp_path) not in environment()["PYTHONPATH"].split(os.pathsep)
    registry.import_module("my_tasks")
    assert environment()["PYTHONPATH"].split(os.pathsep)[-1] == str(tmp_path)
    job = tabular([0])
    settings = {**job.settings, "task": "my-maze", "imports": ["my_tasks"]}
    mine = replace(job, settings=settings)
    assert run([mine], store, workers=1).finished == [mine.address]
