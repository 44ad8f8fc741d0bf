"""Rows and curves of a store against what the learner itself says."""

import numpy as np
import pytest

from adastack.lab.execute import perform
from adastack.lab.job import Evaluation, Job, train_jobs
from adastack.lab.results import Results
from adastack.lab.store import Store
from adastack.progress import Silent
from adastack.tabular import Session, settings_for
from adastack.tasks.registry import make_task

TASK, LONGER = "passive-tmaze:length=3,continual=true", "passive-tmaze:length=5,continual=true"
STEPS = 3000
TESTS = (Evaluation(LONGER),)


def jobs(memory="adaptive", size=2, seeds=range(4), evaluate=TESTS):
    return train_jobs(
        TASK, memory, size, algo="q", preset="paper", steps=STEPS, seeds=seeds,
        evaluate=evaluate, batch=2,
    )  # fmt: skip


def compute(store, job):
    with store.claim(job) as folder:
        perform(job, folder, Silent())


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("lab"))
    for job in [*jobs(), *jobs("frame", 3), Job("kappa", {"task": "passive-tmaze:length=3"})]:
        compute(store, job)
    return store


def curves_of(memory, size, seeds):
    """The same learning, without a store."""
    session = Session(
        make_task(TASK), memory, size, "q", settings_for("paper", "q"), STEPS, list(seeds)
    )
    session.advance(session.blocks)
    return session.curves()


def test_rows_hold_what_the_seeds_did(store):
    results = Results(store, [*jobs(), *jobs("frame", 3)])
    rows = results.rows(memory="adaptive")
    assert [row["seed"] for row in rows] == [0, 1, 2, 3]
    assert {row["memory"] for row in results.rows()} == {"adaptive", "frame"}
    curves = curves_of("adaptive", 2, range(4))
    for index, row in enumerate(rows):
        assert row["auc_reward"] == pytest.approx(1000 * curves["reward"][index].sum() / STEPS)
        passive = curves["passive_regret"][index].sum() / STEPS
        assert row["auc_passive_regret"] == pytest.approx(passive)
        assert row["auc_memory_regret"] == pytest.approx(curves["memory_regret"][index].mean())
        assert row["auc_success"] == pytest.approx(np.nanmean(curves["success"][index]))
        assert row["end_return"] == pytest.approx(np.nanmean(curves["return"][index][-3:]))
        assert row["end_reward"] == pytest.approx(10 * np.mean(curves["reward"][index][-3:]))
        assert (row["task"], row["stack_size"], row["alpha"]) == (TASK, 2, 0.1)
        assert row["trained_steps"] == STEPS


def test_curves_join_the_batches(store):
    found = Results(store, jobs()).curves(memory="adaptive")
    wanted = curves_of("adaptive", 2, range(4))
    assert np.array_equal(found["step"], wanted["step"])
    assert np.array_equal(found["reward"], wanted["reward"])


def test_nothing_matches_nothing(store):
    results = Results(store, jobs())
    assert results.rows(memory="frame") == []
    assert results.curves(memory="frame") == {}


def test_a_tuple_stands_for_its_members(store):
    results = Results(store, [*jobs(), *jobs("frame", 3)])
    assert len(results.rows(memory=("adaptive", "frame"), seed=(0, 3))) == 4


def test_evaluations_are_of_the_other_task(store):
    rows = Results(store, jobs()).evaluations(tested=LONGER)
    assert [row["seed"] for row in rows] == [0, 1, 2, 3]
    # A perfect policy is paid once in five steps there, and once in three at home.
    assert all(row["reward_rate"] <= 200 + 1e-9 for row in rows)
    assert Results(store, jobs(evaluate=())).evaluations() == []


def test_exact_answers_carry_their_settings(store):
    job = Job("kappa", {"task": "passive-tmaze:length=3"})
    (row,) = Results(store, [job]).exact("kappa")
    assert (row["task"], row["kappa"]) == ("passive-tmaze:length=3", 2)
    assert Results(store, [job]).exact("kappa", memory="frame") == []


def test_what_is_not_there_is_named(store):
    more = jobs(seeds=range(6))
    results = Results(store, more)
    assert results.missing == more[2:]
    assert len(results.rows()) == 4


def test_a_run_that_is_tested_once_more_stays_finished(store):
    asked = jobs()
    with store.claim(asked[0]):
        assert Results(store, asked).missing == []


def test_what_is_damaged_is_left_out_and_named(tmp_path):
    store = Store(tmp_path / "lab")
    sound, broken = jobs(evaluate=())
    for job in (sound, broken):
        compute(store, job)
    path = next((store.folder(broken) / "run").glob("checkpoint-*.safetensors"))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    results = Results(store, [sound, broken])
    assert results.missing == [broken]
    assert [row["seed"] for row in results.rows()] == [0, 1]
    assert len(results.curves()["reward"]) == 2
