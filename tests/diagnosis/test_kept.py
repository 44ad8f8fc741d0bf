"""What is kept, and for how long."""

import numpy as np
from gymnasium.spaces import Box, Discrete, Tuple

from adastack.diagnosis.kept import Held, record_held, summarise
from adastack.diagnosis.words import kept_words
from adastack.tasks import resolve
from adastack.viewer.show import Show


def test_only_what_a_window_would_have_lost_counts_as_kept():
    held = [Held(0, 9, 1), Held(1, 1, 0), Held(2, 2, 0), Held(5, 3, 1)]
    found = summarise(held, 1, 2, Discrete(2), ("grey", "red"))
    assert (found.observations, found.kept) == (4, 2)
    assert found.what == (("red", 2, 2), ("grey", 2, 0))
    assert found.held_for == (4.5, 6.0, 7.5)
    assert found.seen_at[1] == 2.5
    assert "red (and seldom grey)" in kept_words(found)[0]


def test_numbers_that_mark_what_is_kept_are_named():
    rng = np.random.default_rng(0)
    held = [Held(i, 1, np.array([rng.normal(), 0.0, rng.normal()])) for i in range(1, 40)]
    held.append(Held(0, 30, np.array([0.0, 1.0, 0.1])))
    found = summarise(held, 1, 2, Box(-5, 5, (3,)))
    assert found.what == ()
    assert found.numbers[0][0] == 1
    assert found.numbers[0][1] > 3


def test_observations_of_several_parts_have_no_name():
    parts = (1, np.zeros(3, np.float32))
    found = summarise([Held(0, 5, parts)] * 3, 1, 2, Tuple([Discrete(3), Box(-1, 1, (3,))]))
    assert (found.kept, found.what, found.numbers) == (3, (), ())


def test_nothing_kept_is_said():
    found = summarise([Held(0, 2, 0), Held(1, 1, 0)], 1, 2, Discrete(2))
    assert kept_words(found) == ["Nothing is kept for longer than a window would keep it."]


def test_the_cue_of_a_maze_is_held_from_the_start_to_the_junction():
    def keeps_the_first(stack, ages):
        return 0, 0 if ages[0] < 0 else 1

    env = resolve("passive-tmaze:length=6").env()
    show = Show("maze", "adaptive", 2, env, keeps_the_first)
    held, attempts = record_held(show, seed=0)
    assert attempts == 20
    assert {(each.step, each.steps) for each in held if each.steps > 2} == {(0, 6)}


def test_attempts_that_follow_each_other_are_counted_one_by_one():
    env = resolve("passive-tmaze:length=4,continual=true").env()
    show = Show("maze", "adaptive", 2, env, lambda stack, ages: (0, 0))
    held, attempts = record_held(show, seed=0)
    assert attempts == 500
    assert max(each.step for each in held) == 3
