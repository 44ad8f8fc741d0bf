"""What the steps of M_k count for, against the wrappers' own counting."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.memory import RULES
from adastack.memory.regret import regrets
from adastack.process.events import EVENTS, PACKED, add_events, counts_of
from adastack.process.tables import cue_classes, evicted_slots, regret_flags
from adastack.tasks import passive_tmaze, xormaze

EMPTY = 4


@settings(max_examples=200, deadline=None)
@given(
    data=st.data(),
    rule=st.sampled_from(["adaptive", "frame", "push_skip"]),
    k=st.integers(1, 5),
    cue=st.lists(st.integers(-1, 3), min_size=1, max_size=3),
)
def test_regrets_equal_those_of_the_wrappers(data, rule, k, cue):
    filled = data.draw(st.integers(1, k))
    held = data.draw(st.lists(st.integers(0, 3), min_size=filled, max_size=filled))
    stack = np.array([[EMPTY] * (k - filled) + held], np.int32)
    evicted = evicted_slots(stack, RULES[rule].table(k), EMPTY)
    flags = regret_flags(stack, evicted, np.array([cue], np.int32))
    labels = np.where(stack == EMPTY, -2, stack)
    for action, slot in enumerate(evicted[0]):
        expected = regrets(labels, np.array([slot]), np.array([cue]), np.array([False]))
        found = dict(zip(EVENTS, counts_of(flags[:, action]).tolist(), strict=True))
        assert found["memory_regret"] == expected.memory[0]
        assert found["active_regret"] == expected.active[0]
        assert found["passive_regret"] == expected.passive[0]
        assert found["memory_regret_after"] == expected.memory_after[0]


@given(st.lists(st.integers(0, 2 ** len(EVENTS) - 1), max_size=127))
def test_packed_counters_add_up(flags):
    counts = np.zeros(len(EVENTS), np.int64)
    add_events.py_func(counts, sum(PACKED[each] for each in flags))
    assert counts.tolist() == counts_of(np.array(flags, np.uint8)).tolist()


def test_cues_are_classed_as_multisets():
    cues, members = cue_classes(xormaze())
    assert len(cues) == 4  # red red, red green in either order, green green, none
    assert members[3] == members[6]
    assert cue_classes(passive_tmaze(9))[0].ravel().tolist() == [-1, 2, 3]
