import fcntl
import json
import os
import stat

import numpy as np
import pytest

from adastack.agent import Agent
from adastack.files import (
    DamagedFileError,
    read_arrays,
    read_json,
    write_arrays,
    write_json,
    write_whole,
)
from adastack.folders import HeldError
from adastack.runs import Run, RunError
from adastack.schemas import sealed
from adastack.tensorboard import CurveEvents
from adastack.training import RunSpec, make_session, restored


def test_a_file_is_the_old_one_or_the_new_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    (tmp_path / ".page.html.abcd_123.part").write_bytes(b"left by a kill")
    others = {".page.html.part", ".page.html.abcd.part", ".else.abcd_123.part", "page.html.bak"}
    for name in others:
        (tmp_path / name).write_bytes(b"somebody's")
    (tmp_path / ".page.html.linked__.part").symlink_to(tmp_path / "page.html.bak")
    held = tmp_path / ".page.html.written_.part"
    with held.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # As another process that writes the page now.
        write_whole(tmp_path / "page.html", b"new")
        others |= {".page.html.linked__.part", "page.html"}
        assert {path.name for path in tmp_path.iterdir()} == {held.name} | others
    write_whole(tmp_path / "page.html", b"newer")
    assert {path.name for path in tmp_path.iterdir()} == others
    assert (tmp_path / "page.html").read_bytes() == b"newer"


def test_a_temporary_file_that_was_removed_too_early_is_made_again(tmp_path, monkeypatch):
    taken = []

    def flock(handle, how, real=fcntl.flock):
        if not taken:  # Before it is locked, another process takes it for abandoned.
            taken.extend(tmp_path.iterdir())
            taken[0].unlink()
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert len(taken) == 1


def test_a_written_file_is_readable_as_the_folder_allows(tmp_path):
    write_whole(tmp_path / "file", b"x")
    (tmp_path / "plain").write_bytes(b"x")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("file", "plain")]
    assert modes[0] == modes[1]


def test_arrays_come_back_and_damage_is_noticed(tmp_path):
    path = tmp_path / "arrays"
    arrays = {"a": np.arange(6).reshape(2, 3), "b": np.array([0.5, np.nan]), "c": np.array(True)}
    checksum = write_arrays(path, arrays)
    read = read_arrays(path, checksum)
    assert all(np.array_equal(read[name], arrays[name], equal_nan=name == "b") for name in arrays)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match="checksum"):
        read_arrays(path, checksum)
    path.write_bytes(b"not arrays")
    with pytest.raises(DamagedFileError, match="safetensors"):
        read_arrays(path)


def test_a_run_goes_from_resumable_to_finished(tmp_path):
    run = Run.create(tmp_path / "run", {"task": "xormaze"})
    assert run.status == "resumable"
    assert run.load_checkpoint() is None
    with pytest.raises(RunError, match="has not finished"):
        _ = run.result
    for step in range(3):
        run.save_checkpoint({"q": np.full(2, step)}, step=step)
    again = Run.open(tmp_path / "run")
    arrays, meta = again.load_checkpoint()
    assert again.settings == {"task": "xormaze"}
    assert arrays["q"].tolist() == [2, 2]
    assert meta == {"step": 2}
    run.fail("a NaN at step 7")
    assert run.status == "failed"
    run.finish({"success": np.float64(1)})
    assert run.status == "finished"
    assert Run.open(run.path).result == {"success": 1}
    assert "numpy" in read_json(run.path / "settings.json")["versions"]


def test_a_crash_between_arrays_and_their_name_leaves_the_previous_checkpoint(tmp_path):
    run = Run.create(tmp_path / "run", {})
    run.save_checkpoint({"q": np.array([1])}, step=1)
    run.save_checkpoint({"q": np.array([2])}, step=2)
    # As after a crash: the arrays of a third checkpoint stand, its JSON does not.
    write_arrays(run.path / "checkpoint-0.safetensors", {"q": np.array([3])})
    arrays, meta = run.load_checkpoint()
    assert (arrays["q"].tolist(), meta["step"]) == ([2], 2)


def test_a_damaged_checkpoint_is_never_used(tmp_path):
    run = Run.create(tmp_path / "run", {})
    run.save_checkpoint({"q": np.zeros(100)}, step=1)
    path = run.path / "checkpoint-0.safetensors"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(DamagedFileError, match="checksum"):
        run.load_checkpoint()
    path.unlink()
    with pytest.raises(DamagedFileError, match="missing"):
        run.load_checkpoint()
    (run.path / "checkpoint.json").write_text(json.dumps({"slot": 0}))
    with pytest.raises(DamagedFileError, match="not a checkpoint"):
        run.load_checkpoint()
    write_json(run.path / "checkpoint.json", sealed({"slot": 0}))
    with pytest.raises(DamagedFileError, match="not a checkpoint: expected 'arrays'"):
        run.load_checkpoint()


def test_every_word_of_a_checkpoint_counts(tmp_path):
    run = Run.create(tmp_path / "run", {})
    run.save_checkpoint({"q": np.zeros(3)}, done=3)
    path = run.path / "checkpoint.json"
    path.write_text(path.read_text().replace('"done": 3', '"done": 9'))
    with pytest.raises(DamagedFileError, match="checksum"):
        run.load_checkpoint()


def test_nothing_is_read_or_written_through_a_link(tmp_path):
    run = Run.create(tmp_path / "run", {})
    run.save_checkpoint({"q": np.zeros(3)}, done=3)
    for name in ("checkpoint.json", "checkpoint-0.safetensors", "settings.json"):
        (run.path / name).rename(tmp_path / name)
        (run.path / name).symlink_to(tmp_path / name)
        with pytest.raises(DamagedFileError, match="a link"):
            Run.open(run.path).load_checkpoint()
        (run.path / name).unlink()
        (tmp_path / name).rename(run.path / name)
    (tmp_path / "diary").write_text("mine")
    (run.path / "events").mkdir()
    (run.path / "events" / "events.out.tfevents.0").symlink_to(tmp_path / "diary")
    with pytest.raises(DamagedFileError, match="a link"):
        CurveEvents(run.path, 3, 0)
    events = CurveEvents(run.path, 0, 0)  # A new file takes the place of the link.
    events.file.add(1, {"return": 1.0})
    assert (tmp_path / "diary").read_text() == "mine"


def test_an_event_file_is_never_made_longer(tmp_path):
    events = CurveEvents(tmp_path, 0, 0)
    events.file.add(100, {"return": 1.0})
    size = events.file.size
    again = CurveEvents(tmp_path, 10**10, 5)
    assert again.points == 0, "what is lost is written anew"
    assert again.file.size < size


def test_a_result_is_believed_only_if_it_is_this_runs(tmp_path):
    settings = {"algo": "sarsa", "seeds": [0]}
    result = {
        "run": "elsewhere", "settings": settings, "trained_steps": 1, "steps_per_second": 1.0,
        "seeds": [{"seed": 0}],
    }  # fmt: skip
    run = Run.create(tmp_path / "run", settings)
    run.finish(result)
    assert Run.open(run.path).result == {**result, "run": str(run.path)}
    for wrong in ("null", "[]", "{}", json.dumps(result)):
        (run.path / "result.json").write_text(wrong)
        with pytest.raises(DamagedFileError):
            _ = Run.open(run.path).result
    run.finish({**result, "settings": {**settings, "gamma": 0.5}})
    with pytest.raises(DamagedFileError, match="another run"):
        _ = run.result


def test_a_start_that_was_killed_is_started_again(tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    (path / ".settings.json.x7_2kq0a.part").write_text("{")
    for begin in (Run.create, Run.resume):
        run = begin(path, {"a": 1})
        with run.held():
            assert sorted(entry.name for entry in path.iterdir()) == [".lock", "settings.json"]
        (path / "settings.json").unlink()


def test_two_processes_do_not_share_a_folder(tmp_path):
    run = Run.create(tmp_path / "run", {})
    with run.held(), pytest.raises(HeldError, match="in use by another process"), run.held():
        pass
    with run.held():
        pass


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match="already exists"):
        Run.create(tmp_path, {})
    Run.create(tmp_path / "run", {"a": 1})
    with pytest.raises(RunError, match="already exists: resume it"):
        Run.create(tmp_path / "run", {"a": 2})
    assert Run.open(tmp_path / "run").settings == {"a": 1}


def test_what_is_not_a_run_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"expected a run folder with a settings\.json"):
        Run.open(tmp_path / "nowhere")
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(DamagedFileError, match="expected a JSON document"):
        Run.open(tmp_path)
    (tmp_path / "settings.json").write_text("[]")
    with pytest.raises(DamagedFileError, match="not a run's settings"):
        Run.open(tmp_path)
    for settings in (None, [], "xormaze"):
        write_json(tmp_path / "settings.json", sealed({"settings": settings, "versions": {}}))
        with pytest.raises(DamagedFileError, match="expected an object as 'settings'"):
            Run.open(tmp_path)


def test_a_forged_run_calls_no_function(tmp_path, monkeypatch):
    """Its settings may name any function; only a user who names its module lets it be called."""
    touched = tmp_path / "touched"
    settings = RunSpec(
        task="passive-tmaze:length=3", memory="adaptive", stack_size=2, algo="ppo", preset="paper",
        steps=128, seeds=[0], overrides={},
    ).document()  # fmt: skip
    run = Run.create(tmp_path / "run", {**settings, "task": f"os:system:command=touch {touched}"})
    run.save_checkpoint({"nothing": np.zeros(1)}, done=0)
    for load in (Agent.load, lambda path: restored(Run.open(path))):
        with pytest.raises(ValueError, match=r"expected an environment class, actual: os:system"):
            load(tmp_path / "run")
    assert not touched.exists()


def test_a_module_that_was_renamed_is_not_missed_if_the_task_is_found(tmp_path):
    settings = RunSpec(
        task="passive-tmaze:length=3", memory="adaptive", stack_size=2, algo="q", preset="paper",
        steps=100, seeds=[0], overrides={},
    ).document()  # fmt: skip
    assert make_session({**settings, "imports": ["renamed_since"]}).seeds == [0]
    with pytest.raises(ImportError, match="renamed_since"):
        make_session({**settings, "imports": ["renamed_since"], "task": "no-such-task"})
