"""The verdict on made-up scores."""

import pytest

from adastack.diagnosis.memories import CELL, NONE, Memory, chosen, window
from adastack.diagnosis.plan import wanted
from adastack.diagnosis.verdict import Trial, judge, level_of, standings

RANDOM = (0.0, 0.02, -0.02)


def trial(memory, score, steps=100, good=None, spread=0.01):
    """Three seeds around a score; good: whether that is known to be as good as can be."""
    known = () if good is None else (good,) * 3
    return Trial(memory, steps, (score - spread, score, score + spread), known)


def told(memory, score, steps=100):
    """Scores of an environment that reports success: 1 is as good as can be."""
    return Trial(memory, steps, (score,) * 3, (score >= 0.99,) * 3)


def test_without_memory_as_good_as_can_be_is_decided_at_once():
    verdict = judge([told(NONE, 1.0)], RANDOM)
    assert (verdict.needs_memory, verdict.memory) == (False, NONE)
    assert wanted([told(NONE, 1.0)], RANDOM, 8) == []


def test_one_good_seed_shows_that_a_memory_is_enough():
    lucky = Trial(chosen(2), 100, (1.0, 0.5, 0.5), (True, False, False))
    found = standings([told(NONE, 0.5, 200), lucky, told(window(4), 0.5, 200)], RANDOM)
    assert found == {NONE: "short", chosen(2): "enough", window(4): "short"}


def test_short_is_only_what_had_twice_the_steps():
    def without(steps):
        return standings([told(NONE, 0.5, steps), told(chosen(2), 1.0, 100)], RANDOM)[NONE]

    assert [without(100), without(199), without(200)] == ["open", "open", "short"]


def test_keeping_beats_recency_where_a_longer_window_is_short():
    trials = [told(NONE, 0.5, 200), told(chosen(2), 1.0), told(window(4), 0.5, 200)]
    verdict = judge(trials, RANDOM)
    assert (verdict.needs_memory, verdict.memory) == (True, chosen(2))


def test_a_window_that_is_enough_is_preferred_to_chosen_slots_of_the_same_size():
    trials = [told(NONE, 0.5, 200), told(chosen(2), 1.0), told(window(2), 1.0)]
    assert judge(trials, RANDOM).memory == window(2)


def test_the_smallest_stack_is_named_only_when_all_smaller_ones_are_short():
    trials = [told(NONE, 0.2, 200), told(chosen(4), 1.0), told(window(4), 0.5, 200)]
    verdict = judge(trials, RANDOM)
    assert (verdict.needs_memory, verdict.memory, verdict.at_most) == (True, None, chosen(4))
    trials += [told(chosen(2), 0.5, 200), told(chosen(3), 1.0)]
    assert judge(trials, RANDOM).memory == chosen(3)


def test_a_cell_is_needed_where_stacks_of_both_kinds_are_short():
    trials = [told(NONE, 0.5, 200), told(CELL, 1.0)]
    trials += [told(chosen(2), 0.5, 200), told(window(4), 0.5, 200)]
    assert judge(trials, RANDOM).memory == CELL
    # One that is open may still get there.
    assert judge([*trials, told(chosen(4), 0.5, 100)], RANDOM).memory is None


@pytest.mark.parametrize("score", [0.0, 0.005])
def test_nothing_learned_decides_nothing(score):
    trials = [trial(m, score, 400) for m in (NONE, chosen(2), window(4), CELL, chosen(4))]
    verdict = judge(trials, RANDOM)
    assert verdict.needs_memory is None
    assert verdict.memory is None
    assert not level_of(trials, RANDOM).learned


def test_that_nothing_beats_no_memory_is_believed_late_and_not_where_success_is_missing():
    scouts = [trial(m, 0.5) for m in (chosen(2), window(4), CELL, chosen(4))]
    some = [trial(NONE, 0.51, 100), trial(NONE, 0.51, 200)]
    assert judge([*scouts, *some], RANDOM).needs_memory is None
    long = [*some, trial(NONE, 0.51, 400)]
    assert judge([*scouts, *long], RANDOM).memory == NONE
    # The same scores where the environment says that they are no successes: a plateau at chance.
    said = [trial(t.memory, t.mean, t.steps, good=False) for t in [*scouts, *long]]
    assert judge(said, RANDOM).needs_memory is None


def test_scores_that_still_rise_decide_what_is_short_but_not_what_is_enough():
    rising = [trial(chosen(2), 0.4, 100), trial(chosen(2), 1.0, 200), trial(NONE, 0.1, 400)]
    found = standings(rising, RANDOM)
    assert found == {NONE: "short", chosen(2): "open"}
    assert judge(rising, RANDOM).needs_memory is True
    assert standings([*rising, trial(chosen(2), 1.02, 400)], RANDOM)[chosen(2)] == "enough"


def test_noise_decides_nothing():
    noisy = trial(NONE, 0.8, 400, spread=0.4)
    best = [trial(chosen(2), 1.0, 100), trial(chosen(2), 1.0, 200)]
    assert standings([*best, noisy], RANDOM)[NONE] == "open"
    assert standings([*best, trial(NONE, 0.8, 400)], RANDOM)[NONE] == "short"


def test_a_difference_counts_in_units_of_what_learning_gained():
    best = [trial(chosen(2), -100, s, spread=1) for s in (100, 200)]
    for score, expected in ((-105, "enough"), (-150, "short")):
        trials = [*best, trial(window(2), score, 400, spread=1)]
        assert standings(trials, (-300.0, -301.0, -299.0))[window(2)] == expected


def test_a_smaller_stack_of_the_same_kind_is_short_with_a_larger_one():
    trials = [told(NONE, 0.5, 200), told(chosen(2), 1.0), told(window(4), 0.5, 200)]
    found = standings([*trials, told(window(2), 0.5, 100)], RANDOM)
    assert found[window(2)] == "short"


def search_for(need, max_k=8):
    """Plays the search against a task on which exactly the memories of `need` are enough."""
    trials, rounds = [], 0
    while (asked := wanted(trials, RANDOM, max_k)) and rounds < 20:
        steps = 100 * 2 ** (rounds // 3)
        trials += [told(m, 1.0 if need(m) else 0.5, steps) for m in asked]
        rounds += 1
    return judge(trials, RANDOM), trials


@pytest.mark.parametrize(
    ("need", "memory"),
    [
        (lambda m: True, NONE),
        (lambda m: m.recurrent or (m.rule == "adaptive" and m.k >= 2), chosen(2)),
        (lambda m: m.recurrent or (m.rule == "adaptive" and m.k >= 3), chosen(3)),
        (lambda m: m.recurrent or (m.k >= 3 and m.rule == "adaptive") or m.k >= 5, chosen(3)),
        (lambda m: m.recurrent or m.k >= 2, window(2)),
        (lambda m: m.recurrent or (m.rule == "frame" and m.k >= 4), window(4)),
        (lambda m: m.recurrent or (m.rule == "frame" and m.k >= 3), window(3)),
        (lambda m: m.recurrent or (m.rule == "frame" and m.k >= 8), window(8)),
        (lambda m: m.recurrent, CELL),
    ],
)
def test_the_search_ends_at_the_right_memory(need, memory):
    verdict, trials = search_for(need)
    assert verdict.memory == memory
    assert len(trials) < 30


def test_no_stack_beyond_the_largest_is_asked_for():
    _, trials = search_for(lambda m: m.recurrent, max_k=4)
    assert max(t.memory.k for t in trials) == 4
    assert Memory("frame", 4) in {t.memory for t in trials}
