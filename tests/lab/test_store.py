"""A store gives back what was computed, or nothing."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adastack.files import DamagedFileError, write_json
from adastack.folders import Folder
from adastack.lab.execute import perform
from adastack.lab.job import Job
from adastack.lab.store import Busy, Store, StoreError
from adastack.lab.worker import attempt
from adastack.progress import Silent
from adastack.runs import Run
from lab.kinds import longer, quick, tabular


def killed(*paths):
    raise KeyboardInterrupt


def compute(store, job):
    with store.claim(job) as folder:
        return perform(job, folder, Silent())


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "lab")


def test_a_training_is_stored_whole(store):
    job = tabular(evaluate=(longer(),))
    assert store.status(job) == "missing"
    compute(store, job)
    assert store.status(job) == "finished"
    run = Run.open(store.folder(job) / "run")
    assert run.status == "resumable", (
        "the job's folder says that it has finished, the run's does not"
    )
    assert [row["seed"] for row in store.result(job)["seeds"]] == [0, 1]
    curves, ours = run.curves(), store.metrics(job)
    assert set(ours) == set(curves)
    assert all(np.array_equal(ours[name], curves[name], equal_nan=True) for name in curves)
    tested = store.evaluation(job, longer())
    assert len(tested["seeds"]) == 2
    # One step of reward in fifty against one in four: another task was evaluated.
    assert tested["seeds"][0]["reward_rate"] < store.result(job)["seeds"][0]["reward_rate"] / 5
    assert store.jobs() == [job]


def test_seconds_are_of_computing(store):
    assert compute(store, quick(1, seconds=0.5))["seconds"] < 0.25, "it slept"


def test_more_evaluations_are_added_to_the_same_training(store):
    plain, tested = tabular(), tabular(evaluate=(longer(),))
    compute(store, plain)
    checkpoint = store.folder(plain) / "run" / "checkpoint.json"
    before = checkpoint.stat().st_mtime_ns
    assert store.status(tested) == "resumable"
    with pytest.raises(KeyError, match="was not tested"):
        store.evaluation(tested, longer())
    compute(store, tested)
    assert store.status(plain) == store.status(tested) == "finished"
    assert checkpoint.stat().st_mtime_ns == before
    compute(store, tabular(evaluate=(longer(60),)))
    assert set(store.jobs()[0].evaluate) == {longer(), longer(60)}


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "run" / "checkpoint.json").unlink(),
        lambda folder: flip(next((folder / "evaluations").iterdir())),
        lambda folder: flip(next((folder / "run").glob("checkpoint-*.safetensors"))),
        lambda folder: (folder / "done.json").write_text("{"),
        lambda folder: (folder / "done.json").write_text("[]"),
        lambda folder: (folder / "done.json").write_text(
            (folder / "done.json").read_text().replace('"success": 1', '"success": 0', 1)
        ),
    ],
)
def test_damage_is_found_and_redone(store, damage):
    job = tabular(evaluate=(longer(),))
    first = compute(store, job)
    curves = store.metrics(job)
    damage(store.folder(job))
    assert store.status(job) == "damaged"
    again = compute(store, job)
    assert store.status(job) == "finished"
    assert again["result"] == first["result"]
    for name, values in store.metrics(job).items():
        np.testing.assert_array_equal(values, curves[name])
    assert set(again["files"]) == set(first["files"])


def test_what_is_damaged_is_never_given(store):
    job = tabular(evaluate=(longer(),))
    compute(store, job)
    flip(next((store.folder(job) / "run").glob("checkpoint-*.safetensors")))
    flip(next((store.folder(job) / "evaluations").iterdir()))
    with pytest.raises(DamagedFileError, match="checksum"):
        store.metrics(job)
    with pytest.raises(DamagedFileError, match="checksum"):
        store.evaluation(job, longer())


@pytest.mark.parametrize(
    "said",
    [
        {"tests": True},
        {"tests": {longer().address: {"meaning": True}}},
        {"tests": {longer().address: {"seconds": "long"}}},
        {"seconds": 10**400},
        {"versions": {"adastack": 3}},
        {"machine": []},
        {"finished": 3},
    ],
)
def test_a_forged_manifest_is_damaged_and_redone(store, said):
    job = tabular(evaluate=(longer(),))
    first = compute(store, job)["result"]
    place = Folder(store.folder(job))
    place.write("done.json", {**store.document(job), **said})
    assert store.status(job) == "damaged"
    assert compute(store, job)["result"] == first


def test_the_folder_of_another_job_is_damaged(store):
    one, other = quick(3), quick(4)
    compute(store, one)
    store.folder(one).rename(store.folder(other))
    assert store.status(other) == "damaged"
    assert compute(store, other)["result"] == {"square": 16}
    assert store.status(other) == "finished"


def test_a_damaged_checkpoint_of_an_unfinished_run_is_begun_anew(store):
    job = tabular()
    whole = compute(store, job)["result"]
    folder = store.folder(job)
    (folder / "done.json").unlink()
    for path in (folder / "run").glob("checkpoint-*.safetensors"):
        path.write_bytes(b"nothing")
    assert store.status(job) == "resumable"
    assert compute(store, job)["result"] == whole


@pytest.mark.parametrize("lost", ["checkpoint-*.safetensors", "settings.json", "checkpoint.json"])
def test_what_is_left_of_a_removed_run_is_begun_anew(store, lost):
    job = tabular()
    whole = compute(store, job)["result"]
    (store.folder(job) / "done.json").unlink()
    for path in (store.folder(job) / "run").glob(lost):
        path.unlink()
    assert compute(store, job)["result"] == whole
    assert store.status(job) == "finished"


@pytest.mark.parametrize("name", ["job.json", "done.json", "progress.json", "failure.json"])
def test_a_folder_in_a_documents_place_is_removed(store, name):
    job = quick(3)
    compute(store, job)
    (store.folder(job) / name).unlink(missing_ok=True)
    (store.folder(job) / name / "inner").mkdir(parents=True)
    assert attempt(store, job).status in ("finished", "reused")
    assert store.status(job) == "finished"
    assert not (store.folder(job) / name).is_dir()


def test_a_file_in_the_runs_place_is_removed(store):
    job = tabular()
    whole = compute(store, job)["result"]
    (store.folder(job) / "done.json").unlink()
    shutil.rmtree(store.folder(job) / "run")
    (store.folder(job) / "run").write_text("not a folder")
    assert compute(store, job)["result"] == whole


def test_damage_is_still_known_when_the_redoing_is_killed(store, monkeypatch):
    job = tabular()
    whole = compute(store, job)["result"]
    flip(next((store.folder(job) / "run").glob("checkpoint-*.safetensors")))

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            compute(store, job)
    assert store.status(job) == "damaged"
    assert compute(store, job)["result"] == whole


def test_a_claim_keeps_others_away(store):
    job = quick(2)
    with store.claim(job):
        assert store.status(job) == "running"
        with pytest.raises(Busy, match="another process"), store.claim(job):
            pass
        with pytest.raises(Busy):
            store.remove(job.address)
    assert store.status(job) == "resumable"


def test_a_claim_ends_with_its_process(store):
    job = quick(2)
    code = f"""
import os, signal
from adastack.lab.job import Job
from adastack.lab.store import Store
job = Job({job.kind!r}, {job.settings!r})
with Store({str(store.root)!r}).claim(job):
    assert Store({str(store.root)!r}).is_held(job)
    print(job.address, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (-9, f"{job.address}\n"), ended.stderr
    assert not store.is_held(job)
    with store.claim(job):
        pass


def test_leftovers_of_a_killed_write_go(store, monkeypatch):
    job = quick(2)
    with store.claim(job) as folder:
        monkeypatch.setattr(os, "replace", killed)
        monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt):
            write_json(folder / "done.json", {})
        monkeypatch.undo()
        (folder / ".bashrc").write_text("mine")
        assert len(list(folder.iterdir())) == 3
    with store.claim(job) as folder:
        assert {path.name for path in folder.iterdir()} == {"job.json", ".bashrc"}


def test_a_link_in_the_store_leads_nowhere(store, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("mine")
    store.prepare()
    store.folder(quick(2)).symlink_to(home)
    with pytest.raises(DamagedFileError, match="a link"), store.claim(quick(2)):
        pass
    assert store.status(quick(2)) == "damaged"
    assert store.jobs() == []
    store.remove(quick(2).address)
    assert [path.name for path in home.iterdir()] == [".bashrc"]
    compute(store, quick(2))
    done = store.folder(quick(2)) / "done.json"
    done.rename(home / "done.json")
    done.symlink_to(home / "done.json")
    assert store.status(quick(2)) == "damaged"
    (store.root / ".locks" / quick(3).address).symlink_to(home / "lock")
    with pytest.raises(DamagedFileError, match="a link"), store.claim(quick(3)):
        pass
    assert not (home / "lock").exists()


@pytest.mark.parametrize(
    "said",
    [
        None, [], 3, {"kind": 3, "settings": {}}, {"kind": "train", "settings": {}},
        {"kind": "square", "settings": []}, {"kind": "square", "settings": {"steps": "many"}},
        {"kind": "square", "settings": {}, "evaluate": [{"task": 3}]},
        {"kind": "square", "settings": {}, "evaluate": {}},
    ],
)  # fmt: skip
def test_one_malformed_job_is_damaged_alone(store, said):
    compute(store, quick(2))
    compute(store, quick(3))
    (store.folder(quick(2)) / "job.json").write_text(json.dumps(said))
    assert store.jobs() == [quick(3)]
    rows = {row["address"]: row["status"] for row in list_runs(store)["runs"]}
    assert rows == {quick(2).address: "damaged", quick(3).address: "finished"}


def list_runs(store):
    from adastack.commands import runs

    parser = argparse.ArgumentParser()
    runs.add_arguments(parser)
    return runs.run(parser.parse_args(["--store", str(store.root)]))


def test_a_hidden_folder_is_somebody_elses(store):
    with store.claim(quick(2)) as folder:
        (folder / ".thumbnails").mkdir()
    with store.claim(quick(2)) as folder:
        assert (folder / ".thumbnails").is_dir()


def test_removing_with_a_folder_in_a_documents_place(store):
    compute(store, quick(2))
    (store.folder(quick(2)) / "done.json").unlink()
    (store.folder(quick(2)) / "done.json").mkdir()
    store.remove(quick(2).address)
    assert store.status(quick(2)) == "missing"


def test_removing(store):
    compute(store, quick(2))
    store.remove(quick(2).address)
    assert store.status(quick(2)) == "missing"
    assert store.jobs() == []
    for address in (quick(2).address, "..", ".locks/../..", ""):
        with pytest.raises(ValueError, match="expected a job of"):
            store.remove(address)


def test_a_store_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "lab").write_text("a file")
    with pytest.raises(StoreError, match=r"cannot write to the store .*lab: "):
        Store(tmp_path / "lab").prepare()


def test_looking_whether_a_store_can_be_written_writes_nothing(tmp_path):
    Store(tmp_path / "new" / "lab").check()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    for place in ("file", "file/lab"):
        with pytest.raises(StoreError, match="Not a directory"):
            Store(tmp_path / place).check()


def test_only_jobs_are_listed_and_removed(store):
    compute(store, quick(2))
    (store.root / "notes").mkdir()
    assert store.folders() == [store.folder(quick(2))]
    with pytest.raises(ValueError, match="expected a job of"):
        store.remove("notes")
    assert (store.root / "notes").exists()


def test_unreadable_folders_are_listed_but_hold_no_job(store):
    compute(store, quick(2))
    (store.folder(quick(2)) / "job.json").write_text(json.dumps({"kind": 3}))
    assert store.jobs() == []
    assert len(store.folders()) == 1


def test_an_unknown_kind_is_named(store):
    with pytest.raises(ValueError, match=r"expected a kind of job of .*kappa.*actual: 'kapa'"):
        compute(store, Job("kapa", {}))


def test_what_a_preset_meant_before_is_not_used(store, monkeypatch):
    from adastack.tabular import settings

    job = tabular()
    compute(store, job)
    changed = settings.settings_for(job.settings["preset"], job.settings["algo"], {"gamma": 0.5})
    presets = {**settings.VALUE_PRESETS, job.settings["preset"]: changed}
    monkeypatch.setattr(settings, "VALUE_PRESETS", presets)
    assert store.status(job) == "damaged"
    compute(store, job)
    assert store.result(job)["settings"]["gamma"] == 0.5
    assert store.status(job) == "finished"
