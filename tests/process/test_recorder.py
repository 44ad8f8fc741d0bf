"""Curves against sums done the slow way, however the steps arrive; event files that others read."""

import numpy as np
import pytest

from adastack.files import DamagedFileError
from adastack.process.events import (
    ACTIVE,
    AFTER,
    ATTEMPT,
    LEARNING,
    MEMORY,
    PASSIVE,
    SUCCESS,
    check_windows,
    saved_curves,
)
from adastack.process.recorder import Recorder
from adastack.tensorboard import CurveEvents

GAMMA = 0.9


def random_steps(updates=5, seeds=2, time=37, envs=3, k=4):
    rng = np.random.default_rng(0)
    shape = (updates, seeds, time, envs)
    over = rng.random(shape) < 0.1
    flags = np.where(over, ATTEMPT | (rng.random(shape) < 0.5) * SUCCESS, 0)
    flags = flags | rng.integers(16, size=shape) * MEMORY
    learning = rng.normal(size=(updates, seeds, len(LEARNING)))
    return rng.normal(size=shape), flags.astype(np.uint8), rng.integers(k, size=shape), learning


def record(steps, parts):
    recorder = Recorder(2, 3, 4, GAMMA)
    for part in np.array_split(np.arange(5), parts):
        recorder.add(*(array[part] for array in steps))
    return recorder.curves()


def test_curves_match_slow_sums():
    reward, flags, evicted, _ = steps = random_steps()
    curves = record(steps, 1)
    for seed in range(2):
        order = [array[:, seed].reshape(-1, 3) for array in (reward, flags, evicted)]
        rows, running = [], np.tile([0.0, 1.0], (3, 1))
        discounted = np.zeros(3)
        for t in range(len(order[0])):
            for env in range(3):
                paid, flag = order[0][t, env], int(order[1][t, env])
                running[env, 0] += paid
                discounted[env] += running[env, 1] * paid
                running[env, 1] *= GAMMA
                row = [paid, np.nan, np.nan, np.nan, flag, order[2][t, env]]
                if flag & ATTEMPT:
                    row[1:4] = running[env, 0], discounted[env], bool(flag & SUCCESS)
                    running[env], discounted[env] = (0, 1), 0
                rows.append(row)
        for point in range(len(rows) // 100):
            window = np.array(rows[100 * point : 100 * point + 100])
            flag = window[:, 4].astype(int)
            expected = {
                "reward": window[:, 0].sum(),
                "return": np.nanmean(window[:, 1]),
                "discounted_return": np.nanmean(window[:, 2]),
                "success": np.nanmean(window[:, 3]),
                "attempts": (flag & ATTEMPT > 0).sum(),
                "memory_regret": (flag & MEMORY > 0).mean(),
                "active_regret": (flag & ACTIVE > 0).sum(),
                "passive_regret": (flag & PASSIVE > 0).sum(),
                "memory_regret_after": (flag & AFTER > 0).mean(),
            }
            for name, value in expected.items():
                assert curves[name][seed, point] == pytest.approx(value, rel=1e-5), name
            slots = np.bincount(window[:, 5].astype(int), minlength=4)
            assert curves["evictions"][seed, point].tolist() == slots.tolist()


def test_a_window_has_what_the_update_that_it_ends_in_says_of_itself():
    *_, learning = steps = random_steps()
    curves = record(steps, 1)
    updates = [0, 1, 2, 3, 4]  # Of 111 steps each, so that each of them ends a window of 100.
    for i, name in enumerate(LEARNING):
        np.testing.assert_allclose(curves[name], learning[updates, :, i].T, rtol=1e-6)


def test_an_old_checkpoint_knows_nothing_of_its_updates():
    steps = random_steps()
    first, second = Recorder(2, 3, 4, GAMMA), Recorder(2, 3, 4, GAMMA)
    first.add(*(array[:2] for array in steps))
    old = first.state()
    second.restore({name: old[name] for name in old if "learning" not in name}, first.steps)
    second.add(*(array[2:] for array in steps))
    found, whole = second.curves()["kl"], record(steps, 1)["kl"]
    assert np.isnan(found[:, :2]).all()
    np.testing.assert_array_equal(found[:, 2:], whole[:, 2:])


def test_it_does_not_matter_how_steps_are_cut():
    steps = random_steps()
    whole = record(steps, 1)
    for parts in (2, 5):
        for name, curve in record(steps, parts).items():
            np.testing.assert_array_equal(curve, whole[name])


def test_a_checkpoint_from_before_an_event_was_counted_can_be_continued():
    steps = random_steps()
    recorder = Recorder(2, 3, 4, GAMMA)
    recorder.add(*(array[:3] for array in steps))
    state = recorder.state()
    older = {name: array[..., :-1] for name, array in state.items() if "counts" in name}
    assert np.isnan(saved_curves({**state, **older})["memory_regret_after"]).all()
    resumed = Recorder(2, 3, 4, GAMMA)
    older["windows/unknown"] = state["windows/unknown"][:-1]
    resumed.restore({**state, **older}, recorder.steps)
    resumed.add(*(array[3:] for array in steps))
    for name, curve in record(steps, 1).items():
        if name != "memory_regret_after":
            np.testing.assert_array_equal(resumed.curves()[name], curve)


def test_a_recorder_goes_on_from_its_state():
    steps = random_steps()
    first, second = Recorder(2, 3, 4, GAMMA), Recorder(2, 3, 4, GAMMA)
    first.add(*(array[:2] for array in steps))
    second.restore(first.state(), first.steps)
    second.add(*(array[2:] for array in steps))
    for name, curve in second.curves().items():
        np.testing.assert_array_equal(curve, record(steps, 1)[name])


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint64", "int32"])
def test_steps_of_another_dtype_are_refused(dtype):
    recorder = Recorder(2, 3, 4, GAMMA)
    recorder.add(*random_steps())
    state = recorder.state()
    check_windows(state)
    with pytest.raises(DamagedFileError, match="windows/ends must be int64"):
        check_windows({**state, "windows/ends": state["windows/ends"].astype(dtype)})


def test_tensorboard_reads_the_events(tmp_path):
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    curves = {name: np.full((2, 25), 0.5) for name in CurveEvents.names}
    curves["step"] = np.arange(1, 26) * 100
    curves["success"][:, 10:] = np.nan
    curves["attempts"] = np.zeros((2, 25))
    curves["attempts"][:, [3, 7, 19]] = 1
    events = CurveEvents(tmp_path, 0, 0)
    events.add(curves)
    reader = loader.EventAccumulator(str(tmp_path / "events")).Reload()
    assert [(e.step, e.value) for e in reader.Scalars("return")] == [(1000, 0.5), (2000, 0.5)]
    assert [e.step for e in reader.Scalars("success")] == [1000]
    assert {*CurveEvents.names, "episode_length"} == {*reader.Tags()["scalars"]}
    assert [e.value for e in reader.Scalars("episode_length")] == [500, 1000]


def test_a_resumed_event_file_is_cut_back(tmp_path):
    curves = {name: np.full((1, 30), 0.5) for name in (*CurveEvents.names, "attempts")}
    curves["step"] = np.arange(1, 31) * 100
    short = {name: array[..., :10] for name, array in curves.items()}
    events = CurveEvents(tmp_path, 0, 0)
    events.add(short)
    size, points = events.file.size, events.points
    events.add(curves)
    whole = events.file.path.read_bytes()
    resumed = CurveEvents(tmp_path, size, points)
    assert resumed.file.size == size
    resumed.add(curves)
    assert resumed.file.path.read_bytes() == whole
