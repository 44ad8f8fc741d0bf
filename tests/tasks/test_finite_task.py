import numpy as np
import pytest

from adastack.tasks import (
    FiniteTask,
    Picture,
    active_tmaze,
    memory_length,
    passive_tmaze,
    repeat_first,
    xormaze,
)


def fields(**changes):
    """Two states, two actions, one of which ends the attempt by chance."""
    return {
        "name": "coin",
        "observation": [0, 1],
        "next_state": [[[0, 1], [1, 1]], [[0, 0], [1, 0]]],
        "probability": [[[0.5, 0.5], [1.0, 0.0]], [[0.25, 0.75], [1.0, 0.0]]],
        "reward": np.zeros((2, 2, 2)),
        "ends": np.zeros((2, 2, 2), bool),
        "start": [1.0, 0.0],
        "observation_names": ("heads", "tails"),
        "action_names": ("toss", "stop"),
        **changes,
    }


def changed(name, where, value):
    array = np.array(fields(cue=[[0], [1]])[name], float)
    array[where] = value
    return {name: array}


PICTURE = Picture(np.array([[0, 1]]), np.array([[0, 0], [0, 1]]), np.zeros((2, 0, 2), int))

WRONG = {
    "no states": ({"observation": []}, "expected at least one state, action and observation"),
    "no actions": ({"action_names": ()}, "actual: 2 states, 0 actions, 2 observations"),
    "no observations": ({"observation_names": ()}, "2 actions, 0 observations"),
    "observation shape": ({"observation": [[0], [1]]}, r"observation must have shape \(2,\)"),
    "start shape": ({"start": [1.0]}, r"start must have shape \(2,\), actual \(1,\)"),
    "next_state shape": ({"next_state": [0, 1]}, r"next_state must have shape \(2, 2, 1\)"),
    "reward shape": ({"reward": np.zeros((2, 2))}, r"reward must have shape \(2, 2, 2\)"),
    "ends shape": ({"ends": np.zeros((2, 1, 2), bool)}, r"ends must have shape \(2, 2, 2\)"),
    "cue shape": ({"cue": [[0]]}, r"cue must have shape \(2, 1\), actual \(1, 1\)"),
    "observation range": (changed("observation", 1, 2), r"observation\(1,\) must be in 0\.\.1"),
    "next_state range": (
        changed("next_state", (1, 0, 1), -1),
        r"next_state\(1, 0, 1\) must be in 0\.\.1, actual -1",
    ),
    "cue range": (changed("cue", (0, 0), 2), r"cue\(0, 0\) must be in -1\.\.1, actual 2"),
    "fractions": ({"observation": [0, 0.5]}, "observation must hold integers"),
    "not a number": ({"observation": [0, np.nan]}, "observation must hold integers"),
    "not booleans": ({"ends": np.full((2, 2, 2), 2)}, "ends must hold booleans"),
    "start sum": ({"start": [0.5, 0.4]}, "start must sum to 1, actual 0.9"),
    "start negative": ({"start": [1.5, -0.5]}, r"start\(1,\) must not be negative or NaN"),
    "probability sum": (
        changed("probability", (1, 0, 0), 0.5),
        r"probability of \(state, action\) \(1, 0\) must sum to 1, actual 1.25",
    ),
    "probability NaN": (
        changed("probability", (0, 1, 1), np.nan),
        r"probability\(0, 1, 1\) must not be negative or NaN",
    ),
    "reward infinite": (
        changed("reward", (0, 0, 1), np.inf),
        r"reward\(0, 0, 1\) must be finite",
    ),
    "time limit zero": ({"time_limit": 0}, "time_limit must be an integer of at least 1"),
    "time limit fraction": ({"time_limit": 2.5}, "time_limit must be an integer"),
    "time limit continual": (
        {"time_limit": 5, "continual": True},
        "a continual task has no time limit",
    ),
    "discount": ({"discount": 1.5}, r"discount must be in 0\.\.1, actual 1.5"),
    "picture background": (
        {"picture": Picture(np.array([0]), PICTURE.agent, PICTURE.cue_cells)},
        "picture.background must have rows and columns",
    ),
    "picture symbol": (
        {"picture": Picture(np.array([[0, 2]]), PICTURE.agent, PICTURE.cue_cells)},
        r"picture.background must be in -1\.\.1",
    ),
    "picture agent": (
        {"picture": Picture(PICTURE.background, PICTURE.agent + 1, PICTURE.cue_cells)},
        r"picture.agent must lie within \(1, 2\)",
    ),
    "picture cues": (
        {"picture": Picture(PICTURE.background, PICTURE.agent, np.zeros((2, 1, 2), int))},
        r"picture.cue_cells must have shape \(2, 0, 2\)",
    ),
}


def test_the_example_is_a_task():
    task = FiniteTask(**fields(picture=PICTURE))
    assert (task.n_states, task.n_actions, task.n_outcomes, task.n_observations) == (2, 2, 2, 2)
    assert task.empty == 2
    assert task.cue.shape == (2, 0)


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_named_in_one_line(kind):
    changes, message = WRONG[kind]
    with pytest.raises(ValueError, match=message) as caught:
        FiniteTask(**fields(**changes))
    assert str(caught.value).startswith("task 'coin': ")
    assert "\n" not in str(caught.value)


def test_a_task_cannot_be_changed_and_leaves_the_callers_arrays_alone():
    reward = np.zeros((2, 2, 2))
    task = FiniteTask(**fields(reward=reward))
    reward[0, 0, 0] = 7
    assert task.reward[0, 0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        task.reward[0, 0, 0] = 1


def test_cumulative_probabilities_end_at_one_and_skip_what_cannot_happen():
    tenths = FiniteTask(
        **fields(
            probability=np.tile([0.1] * 10 + [0.0], (2, 2, 1)),
            next_state=np.zeros((2, 2, 11), int),
            reward=np.zeros((2, 2, 11)),
            ends=np.zeros((2, 2, 11), bool),
        )
    )
    assert np.cumsum(tenths.probability[0, 0])[9] < 1
    assert tenths.outcome_cdf[0, 0, 9] == tenths.outcome_cdf[0, 0, 10] == 1


@pytest.mark.parametrize(
    ("builder", "options", "message"),
    [
        (passive_tmaze, {"length": 1}, "length must be an integer of at least 2, actual: 1"),
        (active_tmaze, {"length": 3.0}, "length must be an integer of at least 2, actual: 3.0"),
        (passive_tmaze, {"length": True}, "length must be an integer of at least 2, actual: True"),
        (repeat_first, {"length": 0}, "length must be an integer of at least 1, actual: 0"),
        (repeat_first, {"suits": 1}, "suits must be an integer of at least 2, actual: 1"),
        (memory_length, {"bits": 0}, r"bits must be an integer in 1\.\.8, actual: 0"),
        (memory_length, {"bits": 9}, r"bits must be an integer in 1\.\.8, actual: 9"),
    ],
)
def test_builders_refuse_what_they_cannot_build(builder, options, message):
    with pytest.raises(ValueError, match=message):
        builder(**options)


def test_success_is_the_right_goal_and_nothing_else():
    for task in (passive_tmaze(5), active_tmaze(4), xormaze()):
        playing = (task.cue >= 0).all(axis=1)
        assert (task.success == (task.reward == 1)).all()
        assert task.success[playing].sum() == task.ends[playing].sum() / 2
