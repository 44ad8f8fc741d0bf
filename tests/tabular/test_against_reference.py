"""The compiled learners do what the learner of dictionaries and lists does, draw for draw."""

import numpy as np
import pytest

from adastack.memory.regret import SHARES
from adastack.process.draws import first_words
from adastack.tabular import Session, settings_for
from adastack.tabular.reference import ReferenceLearner, SplitMix
from adastack.tasks import active_tmaze, passive_tmaze, repeat_first, xormaze

STEPS = 3000
TASKS = {
    "passive": passive_tmaze(length=4),
    "passive continual": passive_tmaze(length=5, continual=True),
    "passive random": passive_tmaze(length=5, random_length=True, continual=True),
    "active": active_tmaze(length=3),
    "active continual": active_tmaze(length=4, continual=True),
    "xormaze": xormaze(),
    "repeat first": repeat_first(length=5, suits=3),
}
VARIANTS = {
    "q": ("q", "paper", {}),
    "sarsa": ("sarsa", "paper", {"trace_decay": 0.0}),
    "sarsa traces": ("sarsa", "paper", {"trace_decay": 0.9}),
    "sarsa robust": ("sarsa", "robust", {}),
    "q-lambda": ("q-lambda", "paper", {"epsilon": 0.3}),
    "expected": ("expected-sarsa", "robust", {"persistence": 1, "persistence_end": 1}),
    "expected joint": ("expected-sarsa", "paper", {"epsilon": 0.2}),
    "rare": ("sarsa", "paper", {"intrinsic": "rare"}),
    "rare-kept": ("q", "paper", {"intrinsic": "rare-kept"}),
}


def both(task, memory, k, variant, seed=7):
    algo, preset, overrides = VARIANTS[variant]
    settings = settings_for(preset, algo, overrides)
    session = Session(task, memory, k, algo, settings, STEPS, [seed])
    session.advance(session.blocks)
    source = SplitMix(int(first_words([seed])[0, 0]))
    reference = ReferenceLearner(task, memory, k, algo, settings, STEPS, source)
    reference.run()
    return session, reference


def assert_same(session, reference):
    for stack, row in reference.q.items():
        agent = session.induced.find(stack)
        assert agent >= 0
        np.testing.assert_allclose(session.table[0, agent], row, rtol=1e-12, atol=1e-12)
    curves = session.curves()
    assert curves["reward"].sum() == pytest.approx(reference.totals["reward"])
    assert curves["attempts"].sum() == reference.totals["attempts"]
    for name in ("active_regret", "passive_regret"):
        assert curves[name].sum() == reference.totals[name], name
    for name in SHARES:
        assert (curves[name] * 100).sum() == pytest.approx(reference.totals[name]), name
    successes = np.nansum(curves["success"] * curves["attempts"])
    assert successes == pytest.approx(reference.totals["successes"])


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_algorithm_on_every_task(task, variant):
    assert_same(*both(TASKS[task], "adaptive", 3 if task == "xormaze" else 2, variant))


@pytest.mark.parametrize(
    ("memory", "k"), [("frame", 3), ("push_skip", 3), ("none", 1), ("random", 2), ("adaptive", 4)]
)
@pytest.mark.parametrize("variant", ["q", "sarsa robust"])
def test_every_memory(memory, k, variant):
    for task in ("active continual", "xormaze", "repeat first"):
        assert_same(*both(TASKS[task], memory, k, variant))
