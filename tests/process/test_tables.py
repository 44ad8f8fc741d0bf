"""What the steps of M_k count for, against the wrappers' own counting."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.memory import RULES
from adastack.process.tables import FIELDS, cue_classes, evicted_slots, regret_words, unpack
from adastack.tasks import passive_tmaze, xormaze
from adastack.wrappers.metrics import regrets

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
    words = unpack(regret_words(stack, evicted, np.array([cue], np.int32)))
    labels = np.where(stack == EMPTY, -2, stack)
    for action, slot in enumerate(evicted[0]):
        expected = regrets(labels, np.array([slot]), np.array([cue]), np.array([False]))
        assert words["memory_regret"][0, action, 0] == expected.memory[0]
        assert words["active_regret"][0, action, 0] == expected.active[0]
        assert words["passive_regret"][0, action, 0] == expected.passive[0]


def test_packed_words_add_up():
    word = sum((i + 1) << (12 * i) for i in range(len(FIELDS)))
    assert [int(v) for v in unpack(np.array(100 * word)).values()] == [100, 200, 300, 400, 500]


def test_cues_are_classed_as_multisets():
    cues, members = cue_classes(xormaze())
    assert len(cues) == 4  # red red, red green in either order, green green, none
    assert members[3] == members[6]
    assert cue_classes(passive_tmaze(9))[0].ravel().tolist() == [-1, 2, 3]
