import pickle
from copy import deepcopy

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FrameStackObservation
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.memory import RULES, ReferenceStack
from adastack.wrappers import AdaptiveStack, FrameStack, MemoryStack, PushSkipStack
from spaces import OBSERVATION_SPACES, equal, random_env


@pytest.mark.parametrize("padding", ["reset", "zero", "element"])
@pytest.mark.parametrize("name", OBSERVATION_SPACES)
def test_evicting_slot_0_equals_gymnasiums_frame_stack(name, padding):
    if padding == "element":
        space = deepcopy(OBSERVATION_SPACES[name])
        space.seed(99)
        padding = space.sample()
    theirs = FrameStackObservation(random_env(name), 3, padding_type=padding)
    ours = AdaptiveStack(random_env(name), 3, padding_type=padding)
    frame = FrameStack(random_env(name), 3, padding_type=padding)
    assert ours.observation_space == theirs.observation_space
    for seed in range(3):
        expected, _ = theirs.reset(seed=seed)
        assert equal(ours.reset(seed=seed)[0], expected)
        assert equal(frame.reset(seed=seed)[0], expected)
        for _ in range(8):
            expected, *rest, _ = theirs.step(1)
            observation, *ours_rest, info = ours.step([1, 0])
            assert equal(observation, expected)
            assert equal(frame.step(1)[0], expected)
            assert ours_rest == rest
            assert info["evicted_slot"] == 0
            assert observation in ours.observation_space


@given(
    st.sampled_from(["adaptive", "push_skip", "frame"]),
    st.integers(1, 5),
    st.integers(0, 10**6),
)
@settings(max_examples=60, deadline=None)
def test_every_memory_equals_the_reference(rule, stack_size, seed):
    env = MemoryStack(
        random_env("discrete", stop=0.05), stack_size, rule=rule, padding_type="empty"
    )
    rng = np.random.default_rng(seed)
    reference = ReferenceStack(rule, stack_size, padding=5)
    observation, info = env.reset(seed=seed)
    reference.reset(observation[-1])
    for _ in range(100):
        memory_action = int(rng.integers(RULES[rule].actions(stack_size)))
        action = 0 if rule == "frame" else np.array([0, memory_action])
        observation, _, terminated, truncated, info = env.step(action)
        slot = reference.push(memory_action, observation[-1])
        assert observation.tolist() == reference.slots
        assert info["slot_ages"].tolist() == reference.ages
        assert info["evicted_slot"] == slot
        assert observation in env.observation_space
        if terminated or truncated:
            observation, info = env.reset()
            reference.reset(observation[-1])
            assert observation.tolist() == reference.slots
            assert info["slot_ages"].tolist() == reference.ages


def test_a_long_trace_equals_the_reference():
    env = AdaptiveStack(random_env("discrete", stop=0.001), 3, padding_type="empty")
    rng = np.random.default_rng(0)
    reference = ReferenceStack("adaptive", 3, padding=5)
    reference.reset(env.reset(seed=0)[0][-1])
    for memory_action in rng.integers(3, size=100_000).tolist():
        observation, _, terminated, truncated, info = env.step((0, memory_action))
        reference.push(memory_action, observation[-1])
        assert observation.tolist() == reference.slots
        assert info["slot_ages"].tolist() == reference.ages
        if terminated or truncated:
            reference.reset(env.reset()[0][-1])


def test_empty_is_a_symbol_of_its_own_for_discrete_and_zeros_elsewhere():
    env = AdaptiveStack(random_env("discrete"), 3, padding_type="empty")
    assert env.observation_space == spaces.MultiDiscrete([6, 6, 6])
    assert env.reset(seed=0)[0][:2].tolist() == [5, 5]
    env = AdaptiveStack(random_env("discrete_start"), 2, padding_type="empty")
    assert env.reset(seed=0)[0][0] == 2
    env = AdaptiveStack(random_env("dict"), 2, padding_type="empty")
    observation, _ = env.reset(seed=0)
    assert observation["a"][0] == 3
    assert observation["b"][0].tolist() == [0, 0]
    assert observation in env.observation_space


@pytest.mark.parametrize("name", OBSERVATION_SPACES)
def test_results_are_copies(name):
    env = AdaptiveStack(random_env(name), 2)
    first, _ = env.reset(seed=0)
    before = deepcopy(first)
    env.step([0, 0])
    assert equal(first, before)


def test_writing_to_a_result_does_not_reach_the_memory():
    env = AdaptiveStack(random_env("box_vector", stop=0), 2)
    observation, info = env.reset(seed=0)
    observation[:] = 9
    info["slot_ages"][:] = 9
    following, _, _, _, info = env.step([0, 0])
    assert (following != 9).all()
    assert info["slot_ages"].tolist() == [1, 0]


def test_seeds_pass_through():
    env = AdaptiveStack(gym.make("CartPole-v1"), 2)
    first = env.reset(seed=3)[0]
    assert np.array_equal(first, env.reset(seed=3)[0])
    assert not np.array_equal(first, env.reset(seed=4)[0])


@pytest.mark.parametrize(
    ("wrapper", "arguments"),
    [
        (AdaptiveStack, {"padding_type": "zero", "action_form": "flat"}),
        (FrameStack, {"padding_type": np.full(4, 0.25, np.float32)}),
        (PushSkipStack, {"padding_type": "empty"}),
        (MemoryStack, {"rule": "push_skip", "action_form": "flat"}),
    ],
)
def test_make_rebuilds_the_wrapped_environment(wrapper, arguments):
    env = wrapper(gym.make("CartPole-v1"), 3, **arguments)
    again = gym.make(env.spec)
    assert type(again) is wrapper
    assert again.action_space == env.action_space
    a, _ = env.reset(seed=5)
    b, _ = again.reset(seed=5)
    assert np.array_equal(a, b)
    env.action_space.seed(0)
    for _ in range(5):
        action = env.action_space.sample()
        assert np.array_equal(env.step(action)[0], again.step(action)[0])


@pytest.mark.parametrize("wrapper", [AdaptiveStack, FrameStack, PushSkipStack])
def test_gymnasium_finds_nothing_wrong(wrapper, recwarn):
    check_env(wrapper(gym.make("MountainCar-v0").unwrapped, 3), skip_render_check=True)
    assert [str(w.message) for w in recwarn if "wrapped" not in str(w.message)] == []


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"stack_size": 0}, ValueError, "stack_size must be at least 1, actual: 0"),
        ({"stack_size": 2.0}, TypeError, "stack_size must be an integer, actual: 2.0"),
        ({"stack_size": 2, "padding_type": "zeros"}, ValueError, "padding_type must be .*'zeros'"),
        (
            {"stack_size": 2, "padding_type": np.zeros(3, np.float32)},
            ValueError,
            "padding_type must be .* element of Box",
        ),
        ({"stack_size": 2, "action_form": "pair"}, ValueError, "action_form must be one of"),
        (
            {"stack_size": 2, "action_form": "scores"},
            ValueError,
            "'scores' expects a floating-point Box",
        ),
    ],
)
def test_bad_arguments_are_answered_with_what_was_expected(kwargs, error, message):
    with pytest.raises(error, match=message):
        AdaptiveStack(gym.make("CartPole-v1"), **kwargs)


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="expected a memory rule of"):
        MemoryStack(gym.make("CartPole-v1"), 2, rule="lru")


def test_a_second_memory_is_refused():
    env = gym.wrappers.TimeLimit(FrameStack(gym.make("CartPole-v1"), 2), 10)
    with pytest.raises(ValueError, match="has one already"):
        AdaptiveStack(env, 2)


@pytest.mark.parametrize(
    ("action", "error"),
    [([0, 3], ValueError), ([0, -1], ValueError), ([0, 1.0], TypeError), ([1], ValueError)],
)
def test_a_wrong_memory_action_changes_nothing(action, error):
    env = AdaptiveStack(random_env("discrete", stop=0), 3)
    before, _ = env.reset(seed=0)
    with pytest.raises(error, match="action must be"):
        env.step(action)
    assert env.unwrapped.received == []
    after, *_ = env.step([0, 0])
    assert after[1] == before[2]


@pytest.mark.parametrize("wrapper", [AdaptiveStack, FrameStack, PushSkipStack])
def test_a_wrapped_environment_can_be_pickled(wrapper):
    env = wrapper(gym.make("adastack/PassiveTMaze-v0", length=4), 2)
    env.reset(seed=0)
    again = pickle.loads(pickle.dumps(env))
    action = env.action_space.sample()
    assert np.array_equal(env.step(action)[0], again.step(action)[0])


@pytest.mark.parametrize("name", ["text", "graph", "box_vector", "dict"])
def test_what_the_environment_reuses_does_not_reach_the_memory(name):
    class Reusing(gym.Wrapper):
        """Writes every observation into the same object, where it can."""

        def _same(self, observation):
            if isinstance(observation, np.ndarray):
                self.kept = getattr(self, "kept", observation)
                self.kept[...] = observation
                return self.kept
            return observation

        def reset(self, **kwargs):
            observation, info = self.env.reset(**kwargs)
            return self._same(observation), info

        def step(self, action):
            observation, *rest = self.env.step(action)
            return (self._same(observation), *rest)

    ours = FrameStack(Reusing(random_env(name, stop=0)), 3)
    theirs = FrameStack(random_env(name, stop=0), 3)
    assert equal(ours.reset(seed=0)[0], theirs.reset(seed=0)[0])
    for _ in range(4):
        assert equal(ours.step(0)[0], theirs.step(0)[0])


def test_an_element_that_pads_is_ours_alone():
    padding = np.zeros(3, np.float32)
    env = FrameStack(random_env("box_vector"), 2, padding_type=padding)
    padding[:] = 1
    assert (env.reset(seed=0)[0][0] == 0).all()


def test_a_step_before_a_reset_is_refused():
    env = AdaptiveStack(random_env("discrete"), 2)
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        env.step([0, 0])
    assert env.unwrapped.received == []


def test_a_stack_of_one_is_the_environment_itself():
    bare, env = random_env("discrete", stop=0), AdaptiveStack(random_env("discrete", stop=0), 1)
    assert env.reset(seed=0)[0].tolist() == [bare.reset(seed=0)[0]]
    for _ in range(5):
        assert env.step([1, 0])[0].tolist() == [bare.step(1)[0]]
