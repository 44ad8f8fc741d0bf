"""The search: rounds, budgets, and what is left when it is stopped."""

import pytest

from adastack.diagnosis.memories import CELL, NONE, chosen, window
from adastack.diagnosis.search import Budget, Deadline, OutOfTimeError, search
from adastack.diagnosis.verdict import Trial
from adastack.progress import Silent
from adastack.tasks.failures import EnvironmentFailure

RANDOM = (0.0, 0.0)


class Scripted:
    """A learner on whose task exactly some memories are enough, after so many steps."""

    def __init__(self, enough, after=100, raises=None):
        self.enough, self.after, self.raises, self.asked = enough, after, raises or {}, []

    def learn(self, memory, steps, progress):
        self.asked.append((memory, steps))
        if memory in self.raises:
            raise self.raises[memory]
        good = self.enough(memory) and steps >= self.after
        return Trial(memory, steps, (float(good), float(good) or 0.5), (good, good))


def found_by(learner, budget=None, max_k=8):
    budget = budget or Budget(first=100, rounds=4)
    return search(learner, RANDOM, budget, max_k, lambda memory, steps: Silent())


def test_it_ends_with_the_first_trial_where_no_memory_is_needed():
    learner = Scripted(lambda memory: True)
    assert found_by(learner).verdict.memory == NONE
    assert learner.asked == [(NONE, 100)]


def test_only_what_matters_learns_for_longer():
    learner = Scripted(lambda m: m.rule == "adaptive")
    assert found_by(learner).verdict.memory == chosen(2)
    # A cell and larger stacks do not matter once two slots are as good as can be.
    assert learner.asked == [
        *((memory, 100) for memory in (NONE, chosen(2), window(4))),
        *((NONE, 200), (window(2), 200)),
    ]


def test_scouts_of_all_kinds_are_tried_while_none_is_enough():
    learner = Scripted(lambda m: False)
    found_by(learner)
    scouts = [NONE, chosen(2), window(4), chosen(4), CELL]
    assert learner.asked[:5] == [(memory, 100) for memory in scouts]


def test_what_learns_late_is_found_in_a_later_round():
    learner = Scripted(lambda m: m.rule == "frame" and m.k >= 4, after=200)
    assert found_by(learner).verdict.memory == window(4)


def test_a_search_that_decides_nothing_says_why():
    found = found_by(Scripted(lambda m: False))
    assert not found.verdict.decided
    assert found.stopped == "all rounds are over"


def test_time_that_is_over_ends_a_training():
    budget = Budget(first=100, seconds=-1.0)
    with pytest.raises(OutOfTimeError):
        Deadline(Silent(), budget).update(1)
    learner = Scripted(lambda m: True, raises={NONE: OutOfTimeError()})
    assert found_by(learner, budget).stopped == "time is over"


def test_ctrl_c_leaves_what_was_found():
    found = found_by(Scripted(lambda m: False, raises={window(4): KeyboardInterrupt()}))
    assert found.stopped == "interrupted"
    assert [trial.memory for trial in found.trials] == [NONE, chosen(2)]


def test_a_memory_that_fails_does_not_end_the_search_but_an_environment_does():
    broken = {CELL: RuntimeError("seed 0: loss is nan")}
    found = found_by(Scripted(lambda m: m == chosen(8), raises=broken))
    assert not found.verdict.decided
    broken = {chosen(2): RuntimeError("seed 0: loss is nan")}
    found = found_by(Scripted(lambda m: m.rule == "frame", raises=broken))
    assert found.verdict.memory == window(2)
    assert found.failed == {chosen(2): "seed 0: loss is nan"}
    everything = dict.fromkeys([NONE, chosen(2), window(4), CELL, chosen(4)], RuntimeError("nan"))
    found = found_by(Scripted(lambda m: True, raises=everything))
    assert found.trials == []
    assert len(found.failed) == 5
    with pytest.raises(EnvironmentFailure):
        found_by(Scripted(lambda m: False, raises={NONE: EnvironmentFailure("it failed")}))
