"""Tasks small enough to be solved by hand."""

from dataclasses import replace

import numpy as np

from adastack.tasks import FiniteTask


def chain(length):
    """One action that leads from observation 0 to the last; the last step pays 1 and ends."""
    states = np.arange(length)
    return FiniteTask(
        name=f"chain-{length}",
        observation=states,
        next_state=np.minimum(states + 1, length - 1)[:, None, None],
        probability=np.ones((length, 1, 1)),
        reward=(states == length - 1).astype(float)[:, None, None],
        ends=(states == length - 1)[:, None, None],
        start=(states == 0).astype(float),
        observation_names=tuple(f"cell {state}" for state in states),
        action_names=("on",),
    )


def wait(length):
    """A chain whose states all look alike."""
    task = chain(length)
    return replace(task, observation=np.zeros_like(task.observation))


def noisy_choice():
    """Two cues, then a decision; outcomes are random, and so is what they pay."""
    next_state = np.array(
        [[[2, 2], [2, 2]], [[3, 3], [3, 3]], [[4, 4]] * 2, [[4, 4]] * 2, [[4, 4]] * 2]
    )
    probability = np.tile([0.7, 0.3], (5, 2, 1))
    reward = np.zeros((5, 2, 2))
    reward[0] = reward[1] = [[0.1, -0.2], [0.0, 0.3]]
    reward[2] = [[1.0, -1.0], [0.2, 0.5]]
    reward[3] = [[-0.5, 0.1], [1.0, 0.0]]
    ends = np.zeros((5, 2, 2), bool)
    ends[2:] = True
    return FiniteTask(
        name="noisy-choice",
        observation=[0, 1, 2, 2, 2],
        next_state=next_state,
        probability=probability,
        reward=reward,
        ends=ends,
        start=[0.4, 0.6, 0, 0, 0],
        observation_names=("left cue", "right cue", "decision"),
        action_names=("left", "right"),
        cue=[[0], [1], [0], [1], [-1]],
    )
