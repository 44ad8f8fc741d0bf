"""Seeds do not know of each other, and a session can be taken up where it was left."""

import numpy as np
import pytest

from adastack.process import TooLargeError
from adastack.tabular import Session, settings_for
from adastack.tasks import active_tmaze, passive_tmaze, xormaze

MAZE = active_tmaze(length=4, continual=True)
KINDS = [
    ("sarsa", MAZE, 2),
    ("q", xormaze(), 3),
    ("reinforce", passive_tmaze(length=4), 2),
    ("average-reinforce", MAZE, 2),
]


def session(algo, task, k, seeds, steps=20_000):
    return Session(task, "adaptive", k, algo, settings_for("robust", algo), steps, seeds)


@pytest.mark.parametrize(("algo", "task", "k"), KINDS)
def test_a_seed_learns_the_same_in_any_company(algo, task, k):
    together = session(algo, task, k, [5, 6, 7])
    together.advance(together.blocks)
    alone = session(algo, task, k, [6])
    alone.advance(alone.blocks)
    assert np.array_equal(alone.table[0], together.table[1])
    assert not np.array_equal(together.table[0], together.table[1])
    for name, curve in alone.curves().items():
        if name != "step":
            assert np.array_equal(curve[0], together.curves()[name][1], equal_nan=True)


@pytest.mark.parametrize(("algo", "task", "k"), KINDS)
def test_chunks_and_a_restore_change_nothing(algo, task, k):
    whole = session(algo, task, k, [3])
    whole.advance(whole.blocks)
    parts = session(algo, task, k, [3])
    for blocks in (1, 2, 50):
        parts.advance(blocks)
    resumed = session(algo, task, k, [3])
    resumed.restore(*parts.checkpoint())
    while resumed.blocks_done < resumed.blocks:
        resumed.advance(37)
    for name, array in whole.arrays.items():
        assert np.array_equal(array, resumed.arrays[name], equal_nan=True), name


def test_arrays_of_another_run_are_refused():
    ours, other = session("q", xormaze(), 3, [0]), session("q", xormaze(), 2, [0])
    with pytest.raises(ValueError, match="checkpoint is of another run"):
        ours.restore(*other.checkpoint())


def test_metrics_do_not_grow_with_the_run():
    short, long = (session("sarsa", MAZE, 2, [0], steps=steps) for steps in (10**6, 10**9))
    assert long.arrays["paid"].nbytes <= 2 * short.arrays["paid"].nbytes


def test_a_table_that_is_too_large_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("adastack.process.capacity.MAX_PAIRS", 100_000)
    with pytest.raises(TooLargeError, match=r"stacks takes .*B: use a smaller k"):
        session("q", active_tmaze(length=40), 30, [0])


def test_the_average_reward_learner_wants_a_continual_task_and_the_other_an_episodic_one():
    with pytest.raises(ValueError, match="expects a continual task"):
        session("average-reinforce", passive_tmaze(length=4), 2, [0])
    with pytest.raises(ValueError, match="expects an episodic task"):
        session("reinforce", MAZE, 2, [0])


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_setting_that_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="initial_value must be a finite number"):
        settings_for("paper", "q", {"initial_value": float(value)})
    with pytest.raises(ValueError, match="entropy must be a finite number"):
        settings_for("paper", "reinforce", {"entropy": float(value)})
