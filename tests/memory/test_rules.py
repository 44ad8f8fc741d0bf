import pytest

from adastack.memory import RULES, ReferenceStack, Rule, Stack, get_rule, register_rule


def test_the_four_rules_and_no_other_are_shipped():
    assert {"adaptive", "frame", "push_skip", "none"} <= set(RULES)


def test_adaptive_gives_up_the_slot_it_is_told():
    assert RULES["adaptive"].table(3).tolist() == [[0] * 4, [1] * 4, [2] * 4]


def test_frame_always_gives_up_the_oldest():
    assert RULES["frame"].table(3).tolist() == [[0, 0, 0, 0]]


def test_push_skip_skips_only_once_full():
    assert RULES["push_skip"].table(3).tolist() == [[0, 0, 0, 0], [0, 0, 0, 2]]


def test_an_observation_that_is_turned_away_leaves_a_full_stack_as_it_is():
    rule = RULES["push_skip_unseen"]
    assert rule.table(3, hiding=True).tolist() == [[0, 0, 0, 0], [0, 0, 0, 3]]
    stack = ReferenceStack(rule, 2, padding="-")
    stack.reset("a")
    held = []
    for action, symbol in ((1, "b"), (1, "c"), (0, "d")):
        stack.push(action, symbol)
        held.append(("".join(stack.slots), stack.ages))
    assert held == [("ab", [1, 0]), ("ab", [2, 1]), ("bd", [2, 0])]


def test_engines_that_cannot_hide_an_observation_say_so():
    with pytest.raises(ValueError, match=r"takes in every observation.*push_skip_unseen"):
        Stack("push_skip_unseen", 2, 1, [((), int)])
    with pytest.raises(ValueError, match=r"in 0\.\.2, actual slot: 3"):
        Rule("wrong", lambda action, filled, k: k, lambda k: 1).table(3)


def test_none_is_for_one_slot_only():
    assert RULES["none"].table(1).tolist() == [[0, 0]]
    with pytest.raises(ValueError, match="'none' expects stack_size 1, actual: 2"):
        RULES["none"].table(2)


@pytest.mark.parametrize(
    ("stack_size", "error"),
    [(0, ValueError), (-1, ValueError), (2.0, TypeError), (True, TypeError)],
)
def test_a_stack_size_that_is_not_a_positive_integer_is_refused(stack_size, error):
    with pytest.raises(error, match="stack_size must be"):
        RULES["adaptive"].table(stack_size)


def test_a_rule_of_ones_own_works_once_registered():
    @register_rule("test_second_oldest", actions=1)
    def second_oldest(memory_action, filled, stack_size):
        return min(1, stack_size - 1)

    stack = ReferenceStack("test_second_oldest", 3)
    stack.reset("a")
    for symbol in "bcd":
        stack.push(0, symbol)
    assert stack.slots == [None, "c", "d"]
    with pytest.raises(ValueError, match="already registered"):
        register_rule("test_second_oldest", actions=1)(second_oldest)


def test_a_rule_that_names_a_slot_out_of_range_is_refused():
    rule = Rule("broken", lambda action, filled, size: size, lambda size: 1)
    with pytest.raises(ValueError, match=r"must name a slot in 0\.\.2, actual slot: 3"):
        rule.table(3)


def test_an_unknown_rule_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"expected a memory rule of .*adaptive.*'adaptve'"):
        get_rule("adaptve")
