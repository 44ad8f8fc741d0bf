"""Markov chains against closed forms and against stepping them."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from adastack.process.chain import (
    conditional_frequencies,
    discounted_values,
    gain_and_bias,
    recurrent_classes,
    stationary,
    visits,
)


def chain(rows):
    return sparse.csr_array(np.array(rows, float))


def random_chain(seed, size, leak):
    """Sparse rows, so that transient states, several classes and periods all occur."""
    rng = np.random.default_rng(seed)
    rows = rng.random((size, size)) * (rng.random((size, size)) < 1.5 / size)
    rows[np.arange(size), rng.integers(size, size=size)] += 0.5
    rows /= rows.sum(axis=1, keepdims=True)
    if leak:
        rows[rng.random(size) < 0.3] *= 0.6
    return rows


def test_a_periodic_chain_has_a_stationary_distribution():
    cycle = chain([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    (members,) = recurrent_classes(cycle)
    assert stationary(cycle, members) == pytest.approx([1 / 3] * 3)
    gain, bias = gain_and_bias(cycle, np.array([3.0, 0.0, 0.0]))
    assert gain == pytest.approx([1, 1, 1])
    assert bias == pytest.approx([1, -1, 0])  # bias + gain = reward + next bias, average zero


def test_several_recurrent_classes_share_what_flows_into_them():
    two = chain([[0, 0.25, 0.75], [0, 1, 0], [0, 0, 1]])
    gain, _ = gain_and_bias(two, np.array([9.0, 4.0, 8.0]))
    assert gain == pytest.approx([7, 4, 8])
    passing, staying = visits(two, np.array([1.0, 0.0, 0.0]))
    assert passing == pytest.approx([1, 0, 0])
    assert staying == pytest.approx([0, 0.25, 0.75])


def test_a_class_that_leaks_is_not_recurrent():
    assert recurrent_classes(chain([[0.9]])) == []
    assert [list(c) for c in recurrent_classes(chain([[0.5, 0.5], [0, 1]]))] == [[1]]


def test_undiscounted_values_need_an_end():
    with pytest.raises(ValueError, match="gamma = 1 expects every episode to end"):
        discounted_values(chain([[1.0]]), np.array([1.0]), 1.0)
    assert discounted_values(chain([[0.5]]), np.array([1.0]), 1.0) == pytest.approx([2.0])
    assert discounted_values(chain([[1.0]]), np.array([0.0]), 1.0) == pytest.approx([0.0])


@given(st.integers(0, 10**6), st.integers(1, 7), st.booleans())
@example(1244, 5, False)
@settings(max_examples=60, deadline=None)
def test_frequencies_are_what_stepping_the_chain_gives(seed, size, leak):
    rows = random_chain(seed, size, leak)
    rng = np.random.default_rng(seed)
    group = rng.integers(max(1, size // 2), size=size)
    start = np.eye(size)[rng.integers(size)]
    found = conditional_frequencies(sparse.csr_array(rows), start, group)
    # The visits of 2^30 steps, by doubling: some chains take millions to settle.
    visited, power = np.eye(size), rows
    for _ in range(30):
        visited, power = visited + power @ visited, power @ power
    counts = start @ visited
    for state in range(size):
        total = counts[group == group[state]].sum()
        if total < 1e-9:
            assert np.isnan(found[state])
        else:
            assert found[state] == pytest.approx(counts[state] / total, abs=5e-3)


@given(st.integers(0, 10**6), st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_gain_and_bias_solve_their_equations(seed, size):
    rows = random_chain(seed, size, leak=False)
    reward = np.random.default_rng(seed).normal(size=size)
    gain, bias = gain_and_bias(sparse.csr_array(rows), reward)
    assert rows @ gain == pytest.approx(gain, abs=1e-9)
    assert gain + bias == pytest.approx(reward + rows @ bias, abs=1e-9)
    # Long after the slowest chain has settled, and over whole periods of those that never do.
    late, average = np.linalg.matrix_power(rows, 10**7), np.zeros((size, size))
    for _ in range(420):
        late = late @ rows
        average += late / 420
    assert average @ reward == pytest.approx(gain, abs=1e-6)
    assert average @ bias == pytest.approx(np.zeros(size), abs=1e-6)
