"""A policy that never ends its attempt is cut, not counted as one round of its loop."""

import numpy as np
import pytest

from adastack.tabular.evaluation import Stage
from adastack.tasks import FiniteTask


def waiting_room():
    """Action 0 waits and pays 1; action 1 leaves and pays nothing."""
    return FiniteTask(
        name="waiting-room",
        observation=np.array([0, 1]),
        next_state=np.array([[[0], [1]], [[1], [1]]]),
        probability=np.ones((2, 2, 1)),
        reward=np.array([[[1.0], [0.0]], [[0.0], [0.0]]]),
        ends=np.array([[[False], [True]], [[True], [True]]]),
        start=np.array([1.0, 0.0]),
        observation_names=("room", "street"),
        action_names=("wait", "leave"),
    )


def test_waiting_for_ever_is_worth_its_discounted_sum():
    gamma = 0.9
    stage = Stage(waiting_room(), "none", 1, gamma)
    played = stage.play(lambda stack: np.array([1.0, 0.0]), deterministic=True, episodes=3, seed=0)
    assert played.discounted == pytest.approx(1 / (1 - gamma))
    assert not played.exact
    assert stage.summary(played)["optimality"] == pytest.approx(1)


def test_leaving_at_once_is_worth_nothing_exactly():
    stage = Stage(waiting_room(), "none", 1, 0.9)
    played = stage.play(lambda stack: np.array([0.0, 1.0]), deterministic=True, episodes=3, seed=0)
    assert (played.exact, played.discounted, played.steps) == (True, 0.0, 1.0)
