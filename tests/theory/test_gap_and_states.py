"""The value gap in closed form, and agent states counted by hand."""

import numpy as np
import pytest

from adastack.tasks import active_tmaze, make_task, passive_tmaze
from adastack.theory.gap import largest_gap, plot_gaps, value_gaps
from adastack.theory.question import Question
from adastack.theory.states import count_states
from theory.plain import reachable_stacks


@pytest.mark.parametrize("maze", [passive_tmaze, active_tmaze])
@pytest.mark.parametrize("length", [3, 4, 16, 100])
def test_tmaze_gap_in_closed_form(maze, length):
    gamma, corridor = 0.99, length - 2
    gap = largest_gap(value_gaps(Question(maze(length), 2, gamma=gamma)))
    average = np.mean([gamma**steps for steps in range(1, corridor + 1)])
    assert gap.gap == pytest.approx(abs(gamma**corridor - average), abs=1e-12)
    if corridor > 1:
        assert gap.stack == "red | grey"
        assert (gap.optimal, gap.agent) == pytest.approx((gamma**corridor, average))
        assert gap.largest == pytest.approx(gamma - average)


def test_a_long_enough_window_has_no_gap():
    assert largest_gap(value_gaps(Question(passive_tmaze(6), 6, "frame"))).gap == pytest.approx(0)
    with pytest.raises(ValueError, match="optimal frame policy"):
        value_gaps(Question(passive_tmaze(6), 5, "frame"))


def test_the_plot_reads_a_table(tmp_path):
    plot_gaps({"passive": [(2, 0.0), (4, 0.005), (8, 0.02)]}, tmp_path / "gap.svg")
    assert (tmp_path / "gap.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("spec", "rule", "k", "expected"),
    [
        ("passive-tmaze:length=16", "adaptive", 2, 10),
        ("passive-tmaze:length=16", "frame", 16, 32),
        ("active-tmaze:length=6,continual=true", "adaptive", 2, 20),
        ("active-tmaze:length=6", "frame", 6, 252),
        ("xormaze", "adaptive", 3, 39),
    ],
)
def test_agent_states(spec, rule, k, expected):
    task = make_task(spec)
    found = count_states(task, rule, k)
    pairs = reachable_stacks(task, rule, k)
    assert found.reachable == len({stack for _, stack in pairs}) == expected
    assert found.pairs == len(pairs)
    choices = task.n_actions * (k if rule == "adaptive" else 1)
    assert found.log10_policies == pytest.approx(expected * np.log10(choices))
    assert found.possible == sum(task.n_observations**n for n in range(1, k + 1))


def test_too_many_states_are_said_to_be():
    found = count_states(active_tmaze(6), "adaptive", 6, max_pairs=100)
    assert (found.reachable, found.pairs, found.log10_policies) == (None, None, None)
    assert found.possible == sum(4**n for n in range(1, 7))
