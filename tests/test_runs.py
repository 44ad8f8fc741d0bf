import json
import os
import stat

import numpy as np
import pytest

from adastack.files import DamagedFileError, read_arrays, read_json, write_arrays, write_whole
from adastack.runs import Run, RunError


def test_a_file_is_the_old_one_or_the_new_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


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
    with pytest.raises(RunError, match="not a run's settings"):
        Run.open(tmp_path)
