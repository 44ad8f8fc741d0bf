"""A wrapped environment draws its memory beside the maze."""

import gymnasium as gym
import numpy as np
import pytest

from adastack.tasks import FiniteTaskEnv, passive_tmaze
from adastack.wrappers import AdaptiveStack, FrameStack


@pytest.mark.parametrize("padding", ["reset", "zero", "empty"])
def test_the_text_shows_what_is_held_and_how_old_it_is(padding):
    env = FiniteTaskEnv(passive_tmaze(length=4), render_mode="ansi")
    env = AdaptiveStack(env, 3, padding_type=padding)
    observation, _ = env.reset(seed=0)
    cue = env.unwrapped.task.observation_names[observation[-1]]
    assert env.render().endswith(f"memory: [ - ] [ - ] > [{cue} 0]")
    env.step([0, 0])
    env.step([0, 2])
    assert env.render().endswith(f"memory: [ - ] [{cue} 2] x > [grey 0]")


def test_the_picture_is_taller_with_a_memory_and_changes_with_it():
    bare = FiniteTaskEnv(passive_tmaze(length=4), render_mode="rgb_array")
    bare.reset(seed=0)
    pictures = []
    for rule_action in ([0, 0], [0, 1]):
        env = AdaptiveStack(FiniteTaskEnv(bare.task, render_mode="rgb_array"), 2)
        env.reset(seed=0)
        env.step(rule_action)
        pictures.append(env.render())
    assert pictures[0].shape[0] > bare.render().shape[0]
    assert not np.array_equal(*pictures)


def test_other_environments_draw_themselves():
    env = FrameStack(gym.make("FrozenLake-v1", render_mode="ansi"), 2)
    env.reset(seed=0)
    assert "FHFH" in env.render()


def test_an_environment_draws_itself_alone_when_a_wrapper_changes_what_it_shows():
    env = FiniteTaskEnv(passive_tmaze(length=4), render_mode="ansi")
    env = AdaptiveStack(gym.wrappers.FlattenObservation(env), 2)
    env.reset(seed=0)
    env.step([0, 0])
    assert env.render() == env.unwrapped.render()
    assert "memory" not in env.render()
