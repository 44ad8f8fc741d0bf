from copy import deepcopy

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, iterate

from adastack.wrappers import AdaptiveStack
from adastack.wrappers.actions import ACTION_FORMS, action_form
from spaces import ACTION_SPACES, OBSERVATION_SPACES, RandomEnv, equal


def forms(n_memory):
    for form in ACTION_FORMS:
        for name, space in ACTION_SPACES.items():
            try:
                yield form, name, action_form(form, deepcopy(space), n_memory)
            except ValueError:
                continue


@pytest.mark.parametrize("n_memory", [1, 2, 3, 5])
def test_joining_and_splitting_are_inverse_and_stay_in_the_space(n_memory):
    seen = set()
    for form, name, made in forms(n_memory):
        made.env_space.seed(0)
        for memory_action in range(n_memory):
            env_action = made.env_space.sample()
            joint = made.join(env_action, memory_action)
            assert joint in made.space, (form, name)
            split, slot = made.split(joint)
            assert slot == memory_action
            assert split in made.env_space
            assert (
                np.array_equal(split, env_action) if not isinstance(split, dict | tuple) else True
            )
        seen.add((form, name))
    assert len(seen) == len(ACTION_SPACES) + 2 + 2


@pytest.mark.parametrize("n_memory", [1, 3])
def test_a_batch_is_split_as_its_actions_are(n_memory):
    for form, name, made in forms(n_memory):
        batched = batch_space(made.space, 4)
        batched.seed(1)
        actions = batched.sample()
        env_actions, memory_actions = made.split_batch(actions)
        env_batch = batch_space(made.env_space, 4)
        each = [made.split(action) for action in iterate(batched, actions)]
        assert memory_actions.tolist() == [slot for _, slot in each], (form, name)
        for ours, (theirs, _) in zip(iterate(env_batch, env_actions), each, strict=True):
            if isinstance(ours, dict | tuple):
                assert equal(ours, theirs)
            else:
                assert np.array_equal(ours, theirs)


def test_the_joint_spaces_are_those_that_were_promised():
    made = {(form, name): f.space for form, name, f in forms(3)}
    assert made["factored", "discrete"] == spaces.MultiDiscrete([3, 3])
    assert made["factored", "multi_discrete"] == spaces.MultiDiscrete([2, 3, 3])
    assert made["factored", "multi_binary"] == spaces.MultiDiscrete([2, 2, 2, 3])
    for name in ("box", "dict", "tuple"):
        pair = made["factored", name]
        assert pair == spaces.Tuple((ACTION_SPACES[name], spaces.Discrete(3)))
    assert made["flat", "discrete"] == spaces.Discrete(9)
    assert made["scores", "box"].shape == (5,)
    assert made["scores", "box_matrix"].shape == (7,)


def test_flat_counts_memory_first():
    made = action_form("flat", spaces.Discrete(4), 3)
    assert made.split(2 * 4 + 1) == (1, 2)
    with pytest.raises(ValueError, match=r"flat action must be in 0\.\.11, actual: 12"):
        made.split(12)
    with pytest.raises(ValueError, match="flat action"):
        made.split(-1)


@pytest.mark.parametrize("n_memory", range(1, 17))
def test_scores_reach_every_slot(n_memory):
    made = action_form("scores", spaces.Box(-1, 1, (2,), np.float32), n_memory)
    reached = {made.split(made.join(np.zeros(2), slot))[1] for slot in range(n_memory)}
    assert reached == set(range(n_memory))


def test_scores_that_are_not_numbers_are_refused_and_change_nothing():
    env = AdaptiveStack(
        RandomEnv(OBSERVATION_SPACES["discrete"], ACTION_SPACES["box"]), 2, action_form="scores"
    )
    env.reset(seed=0)
    with pytest.raises(ValueError, match="memory scores must be numbers"):
        env.step(np.array([0, 0, np.nan, 0], np.float32))
    assert env.unwrapped.received == []


@pytest.mark.parametrize("form", ACTION_FORMS)
@pytest.mark.parametrize("name", ACTION_SPACES)
def test_the_environment_receives_its_own_part(form, name):
    env = RandomEnv(OBSERVATION_SPACES["discrete"], deepcopy(ACTION_SPACES[name]), stop=0)
    fits = form == "factored" or (form == "flat" and name.startswith("discrete"))
    fits |= form == "scores" and name.startswith("box")
    if not fits:
        with pytest.raises(ValueError, match=f"action_form '{form}' expects a"):
            AdaptiveStack(env, 2, action_form=form)
        return
    wrapped = AdaptiveStack(env, 2, action_form=form)
    wrapped.reset(seed=0)
    wrapped.action_space.seed(0)
    for _ in range(10):
        wrapped.step(wrapped.action_space.sample())
    assert all(action in env.action_space for action in env.received)


def test_box_actions_of_a_real_environment():
    env = AdaptiveStack(gym.make("Pendulum-v1"), 3)
    env.reset(seed=0)
    env.action_space.seed(0)
    observation, *_ = env.step(env.action_space.sample())
    assert observation.shape == (3, 3)
