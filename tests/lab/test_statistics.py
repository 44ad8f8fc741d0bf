"""Statistics against closed forms, scipy and counting by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from adastack.lab import statistics as s

NUMBERS = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))


def sample(low=2, high=12):
    return hnp.arrays(np.float64, st.integers(low, high), elements=NUMBERS)


@given(sample())
def test_t_interval_is_scipys(values):
    found = s.t_interval(values)
    if values.std() == 0:
        assert found.low == found.high == values[0]
        return
    want = stats.ttest_1samp(values, 0.0).confidence_interval()
    assert np.allclose([found.low, found.high], [want.low, want.high])


@settings(deadline=None)
@given(sample(), sample())
def test_welch_interval_is_scipys(first, second):
    found = s.difference_interval(first, second)
    if first.std() + second.std() == 0:
        assert found.low == found.high == first[0] - second[0]
        return
    want = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    assert np.allclose([found.low, found.high], [want.low, want.high], rtol=1e-6, atol=1e-6)


def test_summary_by_hand():
    found = s.summary([2.0, 4.0, 4.0, 6.0])
    assert (found.count, found.mean) == (4, 4.0)
    assert found.sd == pytest.approx(np.sqrt(8 / 3))
    half = 3.182446 * np.sqrt(8 / 3) / 2  # Student's t of three degrees of freedom
    assert found.interval.low == pytest.approx(4 - half, abs=1e-5)


def test_equal_values_do_not_vary():
    assert str(s.summary([1 / 3] * 20)) == "0.333 ± 0 (n=20)"


def test_one_seed_says_nothing_of_the_mean():
    assert s.summary([1.0]).sd == 0
    assert s.t_interval([1.0]) == s.Interval(-np.inf, np.inf)
    assert s.difference_interval([1.0], [0.0, 0.1]).low == -np.inf
    assert s.contrast_interval([[1.0], [0.0, 0.1]], (1, -1)).low == -np.inf


def test_a_contrast_of_two_groups_is_their_difference():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=7), rng.normal(1, 3, size=5)
    found = s.contrast_interval((first, second), (1, -1))
    expected = s.difference_interval(first, second)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    doubled = s.contrast_interval((first, second), (2, -2))
    assert (doubled.low, doubled.high) == pytest.approx((2 * expected.low, 2 * expected.high))


def test_shares_are_compared_by_newcombe():
    """The published example: 56 of 70 against 48 of 80."""
    found = s.contrast_interval([[1] * 56 + [0] * 14, [1] * 48 + [0] * 32], (1, -1))
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_two_values_are_counted_and_more_are_averaged():
    share = s.wilson_interval(3, 4)
    found = s.mean_interval([0.5, 1, 1, 1])
    assert (found.low, found.high) == pytest.approx((0.5 + share.low / 2, 0.5 + share.high / 2))
    many = [0.1, 0.2, 0.4]
    assert s.mean_interval(many) == s.t_interval(many)
    assert s.mean_interval([0.7] * 4) == s.Interval(0.7, 0.7)


@pytest.mark.parametrize("weights", [(1, -1), (1, -0.9), (-1, 0, 1)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(weights):
    rng, hits, trials = np.random.default_rng(1), 0, 400
    shares = np.linspace(0.4, 0.8, len(weights))
    for _ in range(trials):
        groups = [(rng.random(10) < share).astype(float) for share in shares]
        found = s.contrast_interval(groups, weights)
        hits += found.low <= shares @ np.array(weights) <= found.high
    assert 0.92 <= hits / trials <= 0.995


@given(sample(1, 20))
def test_iqm_drops_a_quarter_at_each_end(values):
    cut = len(values) // 4
    middle = np.sort(values)[cut : len(values) - cut]
    assert s.iqm(values) == pytest.approx(middle.mean())


@given(sample(1, 8), sample(1, 8))
def test_improvement_counts_pairs(first, second):
    wins = sum((a > b) + 0.5 * (a == b) for a in first for b in second)
    found = s.probability_of_improvement(first, second)
    assert found == pytest.approx(wins / (len(first) * len(second)))
    assert found + s.probability_of_improvement(second, first) == pytest.approx(1)


def test_improvement_over_tasks_is_the_mean_of_each():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(9, 4)), rng.normal(0.5, size=(7, 4))
    each = [s.probability_of_improvement(one[:, i], two[:, i]) for i in range(4)]
    assert s.probability_of_improvement(one, two) == pytest.approx(np.mean(each))
    assert np.ptp(each) > 0


def test_bootstrap_draws_each_task_by_itself():
    # Within a task all seeds agree, so however seeds are drawn the mean is the same.
    scores = np.tile([0.0, 1.0, 5.0], (6, 1))
    assert s.bootstrap_interval(scores, lambda x: x.mean(axis=-1)) == s.Interval(2.0, 2.0)


def test_bootstrap_of_a_mean_is_near_the_normal_interval():
    values = np.random.default_rng(3).normal(size=400)
    found = s.bootstrap_interval(values, lambda x: x.mean(axis=-1), resamples=4000)
    half = 1.96 * values.std() / 20
    assert found.low == pytest.approx(values.mean() - half, abs=0.01)
    assert found.high == pytest.approx(values.mean() + half, abs=0.01)


def test_bootstrap_is_of_the_iqm_unless_told_otherwise():
    values = np.random.default_rng(4).normal(size=9)
    each = lambda rows: np.array([s.iqm(row) for row in rows])  # noqa: E731
    found, want = s.bootstrap_interval(values), s.bootstrap_interval(values, each)
    assert (found.low, found.high) == pytest.approx((want.low, want.high))
    assert found != s.bootstrap_interval(values, lambda x: x.mean(axis=-1))


def test_bootstrap_is_seeded():
    values = np.random.default_rng(3).normal(size=20)
    assert s.bootstrap_interval(values, seed=1) == s.bootstrap_interval(values, seed=1)
    assert s.bootstrap_interval(values, seed=1) != s.bootstrap_interval(values, seed=2)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(case):
    hits, count = case
    found = s.wilson_interval(hits, count)
    want = stats.binomtest(hits, count).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((want.low, want.high), abs=1e-9)


def test_solved_counts_what_reaches_the_threshold():
    assert s.solved([0.5, 0.98, 1.0], 0.98) == (2, 3)


@pytest.mark.parametrize("values", [[], [1.0, np.nan]])
def test_what_has_no_statistics_is_refused(values):
    with pytest.raises(ValueError, match="expected"):
        s.summary(values)


def test_other_tasks_are_refused():
    with pytest.raises(ValueError, match="same tasks"):
        s.probability_of_improvement(np.ones((2, 3)), np.ones((2, 4)))


def test_impossible_counts_are_refused():
    with pytest.raises(ValueError, match="successes"):
        s.wilson_interval(3, 2)
