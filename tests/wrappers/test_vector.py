"""The vector wrapper must do what the single wrapper does inside a SyncVectorEnv, info for info."""

import copy

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from adastack.wrappers import vector
from adastack.wrappers.single import AdaptiveStack, FrameStack, MemoryStack, PushSkipStack
from spaces import ACTION_SPACES, OBSERVATION_SPACES, RandomEnv, equal, random_env

NUM_ENVS = 4


def pair(name, mode, wrapper="AdaptiveStack", stop=0.25, **kwargs):
    """The same environments, wrapped inside and wrapped outside."""
    single = {
        "AdaptiveStack": AdaptiveStack,
        "FrameStack": FrameStack,
        "PushSkipStack": PushSkipStack,
        "MemoryStack": MemoryStack,
    }[wrapper]
    inside = SyncVectorEnv(
        [lambda: single(random_env(name, stop=stop), 3, **kwargs)] * NUM_ENVS, autoreset_mode=mode
    )
    bare = SyncVectorEnv([lambda: random_env(name, stop=stop)] * NUM_ENVS, autoreset_mode=mode)
    return inside, getattr(vector, wrapper)(bare, 3, **kwargs)


def assert_same_steps(inside, outside, steps=60):
    assert outside.single_observation_space == inside.single_observation_space
    assert outside.observation_space == inside.observation_space
    assert outside.action_space == inside.action_space
    expected, expected_infos = inside.reset(seed=7)
    observations, infos = outside.reset(seed=7)
    assert equal(observations, expected)
    assert equal(infos, expected_infos)
    inside.action_space.seed(0)
    finished = 0
    for _ in range(steps):
        actions = inside.action_space.sample()
        expected, *expected_rest, expected_infos = inside.step(actions)
        observations, *rest, infos = outside.step(actions)
        assert equal(observations, expected)
        assert all(equal(a, b) for a, b in zip(rest, expected_rest, strict=True))
        assert equal(infos, expected_infos)
        done = rest[1] | rest[2]
        finished += done.sum()
        if inside.autoreset_mode == AutoresetMode.DISABLED and done.any():
            expected, expected_infos = inside.reset(options={"reset_mask": done.copy()})
            observations, infos = outside.reset(options={"reset_mask": done.copy()})
            assert equal(observations, expected)
            assert equal(infos, expected_infos)
    assert finished > NUM_ENVS


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("name", OBSERVATION_SPACES)
def test_outside_equals_inside_for_every_space_and_mode(name, mode):
    assert_same_steps(*pair(name, mode))


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(
    ("wrapper", "kwargs"),
    [
        ("FrameStack", {}),
        ("FrameStack", {"padding_type": "zero"}),
        ("PushSkipStack", {}),
        ("PushSkipStack", {"padding_type": "empty", "action_form": "flat"}),
        ("AdaptiveStack", {"padding_type": "empty", "action_form": "flat"}),
        ("MemoryStack", {"rule": "push_skip", "padding_type": 2}),
    ],
)
def test_outside_equals_inside_for_every_wrapper(wrapper, kwargs, mode):
    assert_same_steps(*pair("discrete", mode, wrapper, **kwargs))


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("form", ["factored", "scores"])
@pytest.mark.parametrize("name", ["box", "dict", "multi_binary", "multi_discrete"])
def test_outside_equals_inside_for_every_action_space(name, form, mode):
    if form == "scores" and name != "box":
        return

    def bare():
        return RandomEnv(OBSERVATION_SPACES["box_vector"], ACTION_SPACES[name])

    inside = SyncVectorEnv(
        [lambda: AdaptiveStack(copy.deepcopy(bare()), 3, action_form=form)] * NUM_ENVS,
        autoreset_mode=mode,
    )
    outside = vector.AdaptiveStack(
        SyncVectorEnv([lambda: copy.deepcopy(bare())] * NUM_ENVS, autoreset_mode=mode),
        3,
        action_form=form,
    )
    assert_same_steps(inside, outside)


@pytest.mark.parametrize("name", ACTION_SPACES)
def test_a_frame_stack_passes_any_action_on(name):
    def bare():
        return copy.deepcopy(RandomEnv(OBSERVATION_SPACES["discrete"], ACTION_SPACES[name]))

    inside = SyncVectorEnv([lambda: FrameStack(bare(), 3)] * NUM_ENVS)
    outside = vector.FrameStack(SyncVectorEnv([bare] * NUM_ENVS), 3)
    assert_same_steps(inside, outside)


@pytest.mark.parametrize(
    ("form", "actions", "error", "message"),
    [
        ("factored", [[0, 1, 7]] * NUM_ENVS, ValueError, r"must have shape \(2,\), actual: \(3,\)"),
        ("factored", [0] * NUM_ENVS, ValueError, "joint action must have shape"),
        ("flat", [0, 0, 9, 0], ValueError, r"flat action must be in 0\.\.8, actual: 9"),
        ("flat", [0.0] * NUM_ENVS, TypeError, "flat actions must be integers"),
    ],
)
def test_actions_of_another_form_are_refused(form, actions, error, message):
    _, envs = pair("discrete", AutoresetMode.NEXT_STEP, action_form=form)
    envs.reset(seed=0)
    with pytest.raises(error, match=message):
        envs.step(np.array(actions))


def test_a_step_before_a_reset_is_refused():
    _, envs = pair("discrete", AutoresetMode.NEXT_STEP)
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        envs.step(envs.action_space.sample())


def test_async_environments_work_too():
    inside, _ = pair("dict", AutoresetMode.SAME_STEP)
    bare = AsyncVectorEnv(
        [lambda: random_env("dict", stop=0.25)] * NUM_ENVS, autoreset_mode="SameStep"
    )
    outside = vector.AdaptiveStack(bare, 3)
    assert_same_steps(inside, outside, steps=25)
    outside.close()


def test_a_native_vector_environment():
    envs = vector.AdaptiveStack(
        gym.make_vec("CartPole-v1", num_envs=5, vectorization_mode="vector_entry_point"), 3
    )
    envs.reset(seed=0)
    envs.action_space.seed(0)
    resets = 0
    for _ in range(200):
        observations, _, _, _, infos = envs.step(envs.action_space.sample())
        assert observations.shape == (5, 3, 4)
        fresh = infos["evicted_slot"] < 0
        assert (infos["slot_ages"][fresh] == [-1, -1, 0]).all()
        resets += fresh.sum()
    assert resets > 5


def test_a_batched_final_observation_is_understood():
    class Native(gym.vector.VectorEnv):
        """Counts; ends every third step; gives its final observations as one array."""

        num_envs = 2
        single_observation_space = gym.spaces.Discrete(100)
        single_action_space = gym.spaces.Discrete(2)
        observation_space = gym.spaces.MultiDiscrete([100, 100])
        action_space = gym.spaces.MultiDiscrete([2, 2])

        def __init__(self):
            self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
            self.count = np.array([0, 1])

        def reset(self, *, seed=None, options=None):
            return self.count * 0, {}

        def step(self, actions):
            self.count = self.count + 1
            done = self.count % 3 == 0
            infos = {"final_obs": self.count * 10, "_final_obs": done} if done.any() else {}
            observations = np.where(done, 0, self.count % 3)
            return observations, np.zeros(2), done, np.zeros(2, bool), infos

    envs = vector.FrameStack(Native(), 2)
    envs.reset()
    envs.step(np.array([0, 0]))
    _, _, done, _, infos = envs.step(np.array([0, 0]))
    assert done.tolist() == [False, True]
    assert infos["final_obs"][0] is None
    assert infos["final_obs"][1].tolist() == [2, 30]


def test_a_wrong_memory_action_changes_nothing():
    _, envs = pair("discrete", AutoresetMode.NEXT_STEP, stop=0)
    before, _ = envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"must be in 0\.\.2, actual: 3 \(environment 2\)"):
        envs.step(np.array([[0, 0], [0, 1], [0, 3], [0, 0]]))
    after, *_ = envs.step(np.zeros((NUM_ENVS, 2), int))
    assert np.array_equal(after[:, 1], before[:, 2])


def test_results_are_copies():
    _, envs = pair("box_vector", AutoresetMode.NEXT_STEP, stop=0)
    observations, infos = envs.reset(seed=0)
    observations[:] = 9
    infos["slot_ages"][:] = 9
    observations, _, _, _, infos = envs.step(np.zeros((NUM_ENVS, 2), int))
    assert (observations != 9).all()
    assert (infos["slot_ages"] == [-1, 1, 0]).all()


def test_objects_are_copies_too():
    _, envs = pair("graph", AutoresetMode.NEXT_STEP, stop=0)
    observations, _ = envs.reset(seed=0)
    observations[2][0].nodes[:] = 9
    observations, *_ = envs.step(np.zeros((NUM_ENVS, 2), int))
    assert (observations[1][0].nodes != 9).all()


def test_a_second_memory_is_refused():
    _, envs = pair("discrete", AutoresetMode.NEXT_STEP)
    with pytest.raises(ValueError, match="has one already"):
        vector.FrameStack(envs, 2)
    inside, _ = pair("discrete", AutoresetMode.NEXT_STEP)
    with pytest.raises(ValueError, match="has one already"):
        vector.FrameStack(inside, 2)
