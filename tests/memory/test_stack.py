import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.memory import RULES, ReferenceStack, Stack

EMPTY = -7


@st.composite
def traces(draw):
    rule = draw(st.sampled_from(["adaptive", "frame", "push_skip"]))
    return (
        rule,
        draw(st.integers(1, 5)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 30)),
        draw(st.integers(0, 2**32 - 1)),
    )


@given(traces())
@settings(max_examples=200, deadline=None)
def test_a_batch_equals_the_reference_with_partial_resets(trace):
    rule, stack_size, batch, steps, seed = trace
    rng = np.random.default_rng(seed)
    stack = Stack(rule, stack_size, batch, [((), np.int64), ((2,), np.float32)])
    references = [ReferenceStack(rule, stack_size, EMPTY) for _ in range(batch)]

    def observe():
        first = rng.integers(100, size=batch)
        return [first, np.stack([first, -first], axis=1).astype(np.float32)]

    padding = [np.array(EMPTY), np.array([EMPTY, -EMPTY])]
    observations = observe()
    stack.reset(observations, padding)
    for reference, symbol in zip(references, observations[0], strict=True):
        reference.reset(symbol)
    for _ in range(steps):
        actions = rng.integers(RULES[rule].actions(stack_size), size=batch)
        observations = observe()
        slots = stack.push(actions, observations)
        expected = [
            reference.push(int(action), symbol)
            for reference, action, symbol in zip(references, actions, observations[0], strict=True)
        ]
        assert slots.tolist() == expected
        mask = rng.random(batch) < 0.2
        stack.reset(observations, padding, mask)
        for reference, symbol, again in zip(references, observations[0], mask, strict=True):
            if again:
                reference.reset(symbol)
        assert stack.columns[0].tolist() == [reference.slots for reference in references]
        assert stack.columns[1][..., 1].tolist() == (-stack.columns[0]).tolist()
        assert stack.ages.tolist() == [reference.ages for reference in references]


@pytest.mark.parametrize("rule", ["adaptive", "frame", "push_skip"])
def test_a_batch_equals_the_reference_on_100_000_steps(rule):
    rng = np.random.default_rng(0)
    batch, stack_size = 100, 4
    stack = Stack(rule, stack_size, batch, [((), np.int64)])
    references = [ReferenceStack(rule, stack_size, EMPTY) for _ in range(batch)]
    first = rng.integers(9, size=batch)
    stack.reset([first], [np.array(EMPTY)])
    for reference, symbol in zip(references, first, strict=True):
        reference.reset(symbol)
    for _ in range(1000):
        actions = rng.integers(RULES[rule].actions(stack_size), size=batch)
        symbols = rng.integers(9, size=batch)
        stack.push(actions, [symbols])
        for reference, action, symbol in zip(references, actions, symbols, strict=True):
            reference.push(int(action), symbol)
        assert stack.columns[0].tolist() == [reference.slots for reference in references]
        assert stack.ages.tolist() == [reference.ages for reference in references]


def test_without_padding_empty_slots_repeat_the_first_observation():
    stack = Stack("frame", 3, 2, [((), np.int64)])
    stack.reset([np.array([4, 5])])
    assert stack.columns[0].tolist() == [[4, 4, 4], [5, 5, 5]]
    assert stack.ages.tolist() == [[-1, -1, 0], [-1, -1, 0]]


def test_what_was_read_before_a_push_stays():
    stack = Stack("frame", 2, 1, [((), np.int64)])
    stack.reset([np.array([1])])
    before = stack.columns[0]
    stack.push(np.array([0]), [np.array([2])])
    assert before.tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ([0, 2], ValueError, r"must be in 0\.\.1, actual: 2 \(environment 1\)"),
        ([-1, 0], ValueError, r"must be in 0\.\.1, actual: -1 \(environment 0\)"),
        ([0.0, 1.0], TypeError, "must be integers, actual dtype: float64"),
        ([0, 0, 0], ValueError, r"expected 2 memory actions, actual shape: \(3,\)"),
    ],
)
def test_wrong_memory_actions_are_refused_and_change_nothing(actions, error, message):
    stack = Stack("adaptive", 2, 2, [((), np.int64)])
    stack.reset([np.array([1, 2])])
    before, ages = stack.columns[0].copy(), stack.ages.copy()
    with pytest.raises(error, match=message):
        stack.push(np.array(actions), [np.array([3, 4])])
    assert np.array_equal(stack.columns[0], before)
    assert np.array_equal(stack.ages, ages)
