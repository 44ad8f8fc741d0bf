"""Long tasks as rows of cells: against the same tasks with a state for every cell."""

import dataclasses

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adastack.process.evaluation import Evaluator
from adastack.tasks import FiniteTask, active_tmaze, passive_tmaze, resolve
from adastack.tasks.stretched import StretchedTask
from adastack.tasks.tmaze import (
    BLUE,
    DOWN,
    GREEN,
    GREY,
    LEFT,
    RED,
    RIGHT,
    UP,
    long_active_tmaze,
    long_passive_tmaze,
)

MAZES = {
    "passive": (long_passive_tmaze, passive_tmaze),
    "active": (long_active_tmaze, active_tmaze),
}


def some_policy(seed, n_joint, chance=0.0):
    """A policy drawn at random, the same for the same stack; ``chance`` of drawing its actions."""

    def policy(stack):
        rng = np.random.default_rng([seed, *stack])
        best = np.eye(n_joint)[rng.integers(n_joint)]
        return (1 - chance) * best + chance / n_joint

    return policy


def both(stretched, plain, memory, k, policy, gamma=0.99, deterministic=True, slots=None):
    found = []
    for task in (stretched, plain):
        evaluator = Evaluator(task, memory, k, gamma)
        played = evaluator.play(
            policy, deterministic=deterministic, episodes=20, seed=3, memory=slots
        )
        found.append(dataclasses.asdict(played))
    return found


def check_equal(ours, theirs):
    """All that is counted is the same number; what is discounted may be rounded differently."""
    close = ("discounted",)
    theirs.pop("steps_walked")
    for name, value in theirs.items():
        if name == "remembered":
            np.testing.assert_array_equal(ours[name], value)
        elif name in close:
            assert ours[name] == pytest.approx(value, rel=1e-9, abs=1e-12)
        else:
            assert ours[name] == value, name


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(sorted(MAZES)), st.integers(4, 40), st.booleans(),
    st.sampled_from([("adaptive", 2), ("adaptive", 3), ("adaptive_full", 2), ("frame", 3),
                     ("push_skip", 3), ("none", 1)]),
    st.integers(0, 10**6), st.integers(0, 1),
)  # fmt: skip
@example("active", 5, True, ("push_skip", 3), 67464, 0)
def test_a_stretched_maze_is_the_maze(kind, length, continual, memory, seed, remembers):
    long, plain = (make(length, continual=continual) for make in MAZES[kind])
    rule, k = memory
    evaluator = Evaluator(plain, rule, k)
    slots = (RED,) * (k - 1) if remembers and continual else None
    policy = some_policy(seed, len(evaluator.tables.act_of))
    check_equal(*both(long, plain, rule, k, policy, slots=slots))


@pytest.mark.parametrize("kind", sorted(MAZES))
def test_the_expanded_task_is_the_task(kind):
    for continual in (False, True):
        long, plain = (make(7, continual=continual) for make in MAZES[kind])
        written = long.expanded()
        assert (written.n_states, written.name) == (plain.n_states, plain.name)
        assert long.n_states == plain.n_states
        assert written.time_limit == plain.time_limit
        policy = some_policy(5, 8, chance=0.5)
        first, second = (
            Evaluator(task, "adaptive", 2).play(policy, deterministic=False, episodes=50, seed=0)
            for task in (written, plain)
        )
        assert (first.steps, first.reward) == (second.steps, second.reward)


def test_drawn_actions_walk_through_rows_cell_by_cell():
    long, plain = (make(9) for make in MAZES["active"])
    check_equal(*both(long, plain, "adaptive", 2, some_policy(1, 8, 0.3), deterministic=False))


def toll_road(cells):
    """A row of cells that pay at each step, with a way back, a way on and a way to stay."""
    next_state = np.array([[[0], [1], [0]], [[0], [2], [1]], [[2], [2], [2]]])
    reward = np.array([[0.0, 0.0, 0.0], [0.25, 0.5, 0.125], [0.0, 0.0, 0.0]])[:, :, None]
    ends = np.zeros((3, 3, 1), bool)
    ends[2] = True
    task = FiniteTask(
        name="toll-road", observation=np.arange(3), next_state=next_state,
        probability=np.ones((3, 3, 1)), reward=reward, ends=ends, start=np.array([0.5, 0.5, 0.0]),
        observation_names=("gate", "road", "town"), action_names=("back", "on", "stay"),
        time_limit=4 * cells,
    )  # fmt: skip
    return StretchedTask(task, np.array([1, cells, 1]), np.array([-1, 0, -1], np.int32))


@settings(deadline=None, max_examples=100)
@given(st.integers(2, 50), st.integers(0, 10**6), st.sampled_from([2, 3]))
def test_rows_that_pay(cells, seed, k):
    """Rewards here are sums of halves: no rounding."""
    long = toll_road(cells)
    check_equal(*both(long, long.expanded(), "adaptive", k, some_policy(seed, 3 * k), gamma=0.9))


def keeper(stack):
    """Looks for the cue, keeps it to the junction, goes where it says and gives it up."""
    cue = next((symbol for symbol in stack if symbol in (RED, GREEN)), None)
    memory_action = 1 if stack[0] in (RED, GREEN) and stack[1] == GREY else 0
    action = LEFT if cue is None else RIGHT
    if stack[1] == BLUE:
        action = UP if cue == RED else DOWN
    return np.eye(8)[memory_action * 4 + action]


@pytest.mark.parametrize("name", ["passive-tmaze", "active-tmaze"])
@pytest.mark.parametrize("continual", [False, True])
def test_a_billion_cells_are_exact_and_quick(name, continual):
    length = 1_000_000_000
    task = resolve(f"{name}:length={length},continual={str(continual).lower()}").to_evaluate()
    assert isinstance(task, StretchedTask)
    assert abs(task.n_states - 2 * length) < 10
    evaluator = Evaluator(task, "adaptive", 2)
    evaluated = evaluator.play(keeper, deterministic=True, episodes=1, seed=0)
    steps = length if name == "passive-tmaze" else length + 1
    summary = evaluator.summary(evaluated)
    assert (summary["exact"], summary["success"], summary["attempt_steps"]) == (True, 1, steps)
    assert summary["reward_rate"] == 1000 * (1 / steps)
    assert summary["remembered"]["red"]["age_at_decision"] == length - 1


def test_running_in_circles_up_to_a_distant_time_limit():
    """Between cue and corridor, for four billion steps: two cells, two steps a round."""
    task = long_active_tmaze(1_000_000_000)

    def circles(stack):
        return np.eye(8)[LEFT if stack[-1] == 0 else RIGHT]

    evaluated = Evaluator(task, "adaptive", 2).play(circles, deterministic=True, episodes=1, seed=0)
    assert (evaluated.exact, evaluated.success) == (True, 0)
    assert evaluated.steps == task.short.time_limit == 4 * 999_999_998 + 8


def test_only_long_mazes_are_stretched():
    assert isinstance(resolve("passive-tmaze:length=16").to_evaluate(), FiniteTask)
    assert isinstance(resolve("active-tmaze:length=64,lag_penalty=true").to_evaluate(), FiniteTask)
    random = resolve("passive-tmaze:length=6000,random_length=true").to_evaluate()
    assert isinstance(random, FiniteTask)


def test_a_row_without_an_end_is_refused():
    road = toll_road(3)
    with pytest.raises(ValueError, match="must not end within a row"):
        StretchedTask(road.short, np.array([1, 1, 2]), road.back)
    with pytest.raises(ValueError, match="number of cells for each"):
        StretchedTask(road.short, np.array([1, 0, 1]), road.back)
