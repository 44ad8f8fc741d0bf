"""Optimal values against closed forms and against a search over histories."""

import pytest

from adastack.process import TooLargeError
from adastack.tasks import active_tmaze, make_task, passive_tmaze, xormaze
from adastack.theory.belief import beliefs
from adastack.theory.optimal import optimal_values
from theory.plain import random_task, tree_value

GAMMA = 0.9


@pytest.mark.parametrize("length", [2, 3, 5, 16])
def test_tmaze_closed_forms(length):
    passive, active = passive_tmaze(length), active_tmaze(length)
    assert optimal_values(passive, GAMMA).start_value == pytest.approx(GAMMA ** (length - 1))
    assert optimal_values(active, GAMMA).start_value == pytest.approx(GAMMA**length)
    assert optimal_values(active, 1.0).start_value == pytest.approx(1)
    for_ever = passive_tmaze(length, continual=True)
    cycle = GAMMA ** (length - 1) / (1 - GAMMA**length)
    assert optimal_values(for_ever, GAMMA).start_value == pytest.approx(cycle)
    assert optimal_values(for_ever, criterion="average").start_value == pytest.approx(1 / length)
    for_ever = active_tmaze(length, continual=True)
    found = optimal_values(for_ever, criterion="average").start_value
    assert found == pytest.approx(1 / (length + 1))


def test_the_tiger_has_its_known_value():
    # Many solvers report 19.3713683559737 for discount 0.95 from the uniform belief.
    assert optimal_values(make_task("pomdp"), 0.95).start_value == pytest.approx(19.37136835597)


@pytest.mark.parametrize("seed", range(12))
def test_random_tasks_agree_with_a_tree_search(seed):
    task = random_task(seed, states=5, observations=2)
    found = optimal_values(task, 0.3).start_value
    # What lies beyond the horizon is worth at most 0.3^8.
    assert found == pytest.approx(tree_value(task, 0.3, 8), abs=1e-4)


def test_the_mazes_agree_with_a_tree_search():
    assert optimal_values(xormaze(), GAMMA).start_value == pytest.approx(
        tree_value(xormaze(), GAMMA, 5)
    )
    maze = active_tmaze(3)
    assert optimal_values(maze, GAMMA).start_value == pytest.approx(tree_value(maze, GAMMA, 5))


def test_what_has_no_value_is_refused():
    with pytest.raises(ValueError, match="average reward expects a continual task"):
        optimal_values(xormaze(), criterion="average")
    with pytest.raises(ValueError, match=r"gamma must be in \(0, 1\]"):
        optimal_values(xormaze(), 1.5)
    with pytest.raises(ValueError, match="gamma = 1 expects an episodic task"):
        optimal_values(xormaze(continual=True), 1.0)
    with pytest.raises(ValueError, match="criterion must be"):
        optimal_values(xormaze(), criterion="best")
    with pytest.raises(TooLargeError, match="more than 3 reachable beliefs"):
        beliefs(xormaze(), max_beliefs=3)
