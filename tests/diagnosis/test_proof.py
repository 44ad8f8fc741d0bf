"""Finite tasks that are small enough are answered by proof."""

import pytest

from adastack.diagnosis.memories import CELL, NONE, chosen, window
from adastack.diagnosis.proof import prove, proved_verdict
from adastack.tasks import make_task


@pytest.mark.parametrize(
    ("numbers", "needs", "memory"),
    [
        ((1, 1, 1, False), False, NONE),
        ((2, 16, 16, False), True, chosen(2)),
        ((2, 2, 2, False), True, window(2)),
        ((3, None, 4, False), True, chosen(3)),
        ((3, None, 3, False), True, None),
        ((None, None, 9, True), True, CELL),
        ((None, None, 2, False), None, None),
    ],
)
def test_what_follows_from_the_smallest_sufficient_stacks(numbers, needs, memory):
    verdict = proved_verdict(*numbers)
    assert (verdict.needs_memory, verdict.memory) == (needs, memory)


@pytest.mark.parametrize(
    ("spec", "memory"),
    [
        ("passive-tmaze:length=5", chosen(2)),
        ("xormaze", chosen(3)),
        ("key-order", window(2)),
        ("pomdp:file=tiger", CELL),
    ],
)
def test_tasks_whose_memory_is_known(spec, memory):
    proof = prove(make_task(spec))
    assert proof.verdict.memory == memory
    assert proof.verdict.proved


def test_a_task_that_is_too_large_is_left_to_learning():
    assert prove(make_task("repeat-first:length=150")) is None
