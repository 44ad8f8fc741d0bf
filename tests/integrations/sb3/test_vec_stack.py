"""VecStack must do what the single wrappers do inside a DummyVecEnv, and what SB3's stack does."""

import copy

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from gymnasium import spaces
from stable_baselines3.common.preprocessing import is_image_space
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecFrameStack,
    VecMonitor,
    VecTransposeImage,
)

from adastack.integrations.sb3 import HybridBox, VecAdaptiveStack, VecStack
from adastack.wrappers import MemoryStack
from spaces import ACTION_SPACES, RandomEnv, equal

NUM_ENVS = 4
K = 3

OBSERVATIONS = {
    "vector": spaces.Box(-1, 1, (3,), np.float32),
    "scalar": spaces.Box(0, 1, (), np.float64),
    "matrix": spaces.Box(-1, 1, (2, 3), np.float32),
    "image_last": spaces.Box(0, 255, (9, 8, 2), np.uint8),
    "image_first": spaces.Box(0, 255, (2, 9, 8), np.uint8),
    "discrete": spaces.Discrete(5),
    "multi_discrete": spaces.MultiDiscrete([3, 4]),
    "multi_binary": spaces.MultiBinary(3),
    "dict": spaces.Dict(
        {
            "image": spaces.Box(0, 255, (9, 8, 2), np.uint8),
            "vector": spaces.Box(0, 1, (2,), np.float32),
            "symbol": spaces.Discrete(4),
        }
    ),
}


def environments(observation="vector", action=None, stop=0.25):
    action = action or spaces.Discrete(3)

    def make():
        return RandomEnv(copy.deepcopy(OBSERVATIONS[observation]), copy.deepcopy(action), stop)

    return [make] * NUM_ENVS


def as_sb3(space, stack):
    """A stack of the single wrapper (k, ...) in SB3's form, by another road than the package's."""
    if isinstance(space, spaces.Dict):
        return {key: as_sb3(part, stack[key]) for key, part in space.spaces.items()}
    slots = list(stack)
    if is_image_space(space) and space.shape[-1] == 2:
        slots = [np.moveaxis(slot, -1, 0) for slot in slots]
    join = np.concatenate if len(space.shape) in (1, 3) else np.stack
    return join(slots, axis=0)


def each(batch):
    """A batch as a list of observations."""
    if not isinstance(batch, dict):
        return list(batch)
    return [dict(zip(batch, values, strict=True)) for values in zip(*batch.values(), strict=True)]


def assert_same_stacks(batch, space, expected):
    for stack, single in zip(each(batch), each(expected), strict=True):
        assert equal(stack, as_sb3(space, single))


def assert_same_steps(inside, outside, space, steps=60):
    """Steps both; ``inside`` has a memory in every environment, ``outside`` one around them."""
    inside.seed(3)
    outside.seed(3)
    outside.action_space.seed(0)
    assert_same_stacks(outside.reset(), space, inside.reset())
    assert equal(tuple(outside.reset_infos), tuple(inside.reset_infos))
    finished = 0
    for _ in range(steps):
        actions = np.stack([outside.action_space.sample() for _ in range(NUM_ENVS)])
        expected, rewards, dones, expected_infos = inside.step(actions)
        observations, found_rewards, found_dones, infos = outside.step(actions)
        assert equal(found_rewards, rewards)
        assert equal(found_dones, dones)
        assert_same_stacks(observations, space, expected)
        for wanted, info in zip(expected_infos, infos, strict=True):
            if "terminal_observation" in wanted:
                last = as_sb3(space, wanted.pop("terminal_observation"))
                assert equal(info.pop("terminal_observation"), last)
                finished += 1
            assert equal(info, wanted)
        assert equal(tuple(outside.reset_infos), tuple(inside.reset_infos))
    assert finished > NUM_ENVS


def pair(observation="vector", action=None, form="factored", vec=DummyVecEnv, **kwargs):
    """The same environments, wrapped inside and wrapped outside."""
    makers = environments(observation, action)
    inside = vec([lambda: MemoryStack(makers[0](), K, action_form=form, **kwargs)] * NUM_ENVS)
    return inside, VecStack(vec(makers), K, action_form=form, **kwargs)


@pytest.mark.parametrize("padding_type", ["reset", "zero", "empty"])
@pytest.mark.parametrize("name", OBSERVATIONS)
def test_outside_equals_inside_for_every_observation(name, padding_type):
    inside, outside = pair(name, padding_type=padding_type)
    assert_same_steps(inside, outside, OBSERVATIONS[name])


@pytest.mark.parametrize("rule", ["adaptive", "frame", "push_skip"])
@pytest.mark.parametrize(
    ("action", "form"),
    [
        ("discrete", "factored"),
        ("discrete", "flat"),
        ("multi_discrete", "factored"),
        ("multi_binary", "factored"),
        ("box", "scores"),
    ],
)
def test_outside_equals_inside_for_every_action_and_rule(action, form, rule):
    inside, outside = pair(action=ACTION_SPACES[action], form=form, rule=rule)
    assert outside.action_space == inside.action_space
    assert_same_steps(inside, outside, OBSERVATIONS["vector"])


def test_processes_and_wrappers_in_between():
    inside, outside = pair("dict", vec=lambda makers: SubprocVecEnv(makers, start_method="fork"))
    assert_same_steps(inside, outside, OBSERVATIONS["dict"], steps=25)
    inside.close()
    outside.close()
    outside = VecStack(VecMonitor(DummyVecEnv(environments())), K, action_form="factored")
    outside.seed(0)
    outside.reset()
    assert outside.reset_infos[0]["note"] == 1.5


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations_are_of_the_space_and_padding_may_be_an_element(name):
    element = OBSERVATIONS[name].sample()
    for padding_type in ("reset", "zero", "empty", element):
        venv = VecStack(DummyVecEnv(environments(name)), K, padding_type=padding_type)
        for observation in each(venv.reset()):
            assert observation in venv.observation_space
    if name != "dict":
        shown = each(venv.reset())[0]
        assert equal(shown, as_sb3(OBSERVATIONS[name], [element, element, last_slot(name, shown)]))


def last_slot(name, stack):
    """What the last slot of a stack shows, in the environment's own form."""
    space = OBSERVATIONS[name]
    slot = np.split(stack, K)[-1].reshape(space.shape if name != "image_last" else (2, 9, 8))
    return np.moveaxis(slot, 0, -1) if name == "image_last" else slot


@pytest.mark.parametrize("name", ["vector", "image_last", "image_first"])
def test_the_frame_rule_is_sb3_s_own_frame_stack(name):
    theirs = VecFrameStack(DummyVecEnv(environments(name)), K)
    if name == "image_last":
        theirs = VecTransposeImage(theirs)
    ours = VecStack(DummyVecEnv(environments(name)), K, rule="frame", padding_type="zero")
    assert ours.observation_space.shape == theirs.observation_space.shape
    assert ours.observation_space.dtype == theirs.observation_space.dtype
    theirs.seed(1)
    ours.seed(1)
    assert equal(ours.reset(), theirs.reset())
    for step in range(60):
        actions = np.full(NUM_ENVS, step % 3)
        expected, rewards, dones, expected_infos = theirs.step(actions)
        observations, found_rewards, found_dones, infos = ours.step(actions)
        assert equal(observations, np.ascontiguousarray(expected))
        assert equal(found_rewards, rewards)
        assert equal(found_dones, dones)
        for env in np.flatnonzero(dones):
            last = expected_infos[env]["terminal_observation"]
            assert np.array_equal(infos[env]["terminal_observation"], last)


def test_many_stacked_channels_are_still_an_image():
    """SB3 guesses that the smallest axis has the channels; here it would guess wrong."""
    venv = VecAdaptiveStack(DummyVecEnv(environments("image_last")), 8)
    assert venv.observation_space.shape == (16, 9, 8)
    assert is_image_space(venv.observation_space)
    from stable_baselines3 import PPO

    from adastack.integrations.sb3 import StackCnn, paper_policy

    model = PPO("CnnPolicy", venv, n_steps=4, batch_size=8, policy_kwargs=paper_policy(StackCnn, 8))
    assert model.observation_space.shape == (16, 9, 8)
    model.learn(16)


def test_results_are_copies():
    venv = VecAdaptiveStack(DummyVecEnv(environments()), K)
    first = venv.reset()
    kept = first.copy()
    second, *_ = venv.step(np.zeros(NUM_ENVS, int))
    kept_second = second.copy()
    venv.reset()
    assert equal(first, kept)
    assert equal(second, kept_second)
    second[:] = 9
    assert not (venv.step(np.zeros(NUM_ENVS, int))[0] == 9).any()


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("discrete", spaces.Discrete(9)),
        ("multi_discrete", spaces.MultiDiscrete([2, 3, 3])),
        ("multi_binary", spaces.MultiDiscrete([2, 2, 2, 3])),
    ],
)
def test_auto_chooses_the_form_that_learns(action, expected):
    venv = VecAdaptiveStack(DummyVecEnv(environments(action=ACTION_SPACES[action])), K)
    assert venv.action_space == expected
    venv = VecAdaptiveStack(DummyVecEnv(environments(action=ACTION_SPACES["box"])), K)
    assert isinstance(venv.action_space, HybridBox)


def test_the_hybrid_form_passes_numbers_on_and_gives_up_the_named_slot():
    makers = environments(action=spaces.Box(-2, 2, (2, 2), np.float32), stop=0)
    bare = DummyVecEnv(makers)
    venv = VecAdaptiveStack(bare, K, action_form="hybrid")
    assert isinstance(venv.action_space, HybridBox)
    assert venv.action_space.shape == (5,)
    venv.reset()
    venv.action_space.seed(0)
    slots = set()
    for _ in range(40):
        actions = np.stack([venv.action_space.sample() for _ in range(NUM_ENVS)])
        assert all(action in venv.action_space for action in actions)
        *_, infos = venv.step(actions)
        assert [info["evicted_slot"] for info in infos] == actions[:, -1].tolist()
        for env, action in zip(bare.envs, actions, strict=True):
            assert np.array_equal(env.received[-1], action[:-1].reshape(2, 2))
        slots |= set(actions[:, -1].tolist())
    assert slots == {0, 1, 2}
    assert np.array([0, 0, 0, 0, 0.5], np.float32) not in venv.action_space
    pickled = copy.deepcopy(venv.action_space)
    assert pickled.n_memory == K
    assert pickled == venv.action_space


def test_masks_speak_of_joint_actions():
    class Masked(RandomEnv):
        def action_masks(self):
            return np.array([True, False, True])

    def make():
        return DummyVecEnv([lambda: Masked(OBSERVATIONS["vector"])] * 2)

    flat = VecAdaptiveStack(make(), 2, action_form="flat")
    assert flat.env_method("action_masks")[1].tolist() == [True, False, True] * 2
    factored = VecAdaptiveStack(make(), 2, action_form="factored")
    assert factored.env_method("action_masks")[0].tolist() == [True, False, True, True, True]
    frame = VecStack(make(), 2, rule="frame")
    assert frame.env_method("action_masks")[0].tolist() == [True, False, True]


def test_pictures_show_the_memory():
    import adastack  # noqa: F401

    def make():
        return gym.make("adastack/PassiveTMaze-v0", length=5, render_mode="rgb_array")

    bare = DummyVecEnv([make, make])
    venv = VecAdaptiveStack(DummyVecEnv([make, make]), 2, padding_type="empty")
    bare.reset()
    venv.reset()
    assert venv.get_images()[0].size > bare.get_images()[0].size
    assert venv.render().ndim == 3


BOX = ACTION_SPACES["box"]


@pytest.mark.parametrize(
    ("observation", "action", "arguments", "message"),
    [
        ("vector", None, {"stack_size": 0}, "stack_size must be at least 1"),
        ("vector", None, {"stack_size": 2.0}, "stack_size must be an integer"),
        ("vector", None, {"stack_size": 2, "rule": "best"}, "expected a memory rule"),
        ("vector", None, {"stack_size": 2, "padding_type": "ones"}, "padding_type must be"),
        ("vector", None, {"stack_size": 2, "action_form": "pairs"}, "action_form must be one of"),
        ("vector", None, {"stack_size": 2, "action_form": "hybrid"}, "expects a Box action space"),
        ("vector", BOX, {"stack_size": 2, "action_form": "factored"}, "no Tuple actions"),
        ("vector", BOX, {"stack_size": 2, "action_form": "flat"}, "expects a Discrete"),
    ],
)
def test_bad_arguments_are_one_clear_error(observation, action, arguments, message):
    venv = DummyVecEnv(environments(observation, action))
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        VecStack(venv, **arguments)
    assert "\n" not in str(caught.value)


def test_a_second_memory_is_refused():
    with pytest.raises(ValueError, match=r"have one already \(adaptive, stack_size 3\); wrap"):
        VecStack(VecMonitor(VecAdaptiveStack(DummyVecEnv(environments()), K)), 2)
    inside, _ = pair(rule="push_skip")
    with pytest.raises(ValueError, match=r"have one already \(push_skip, stack_size 3\); wrap"):
        VecAdaptiveStack(inside, 2)


def test_a_bad_memory_action_changes_nothing():
    venv = VecAdaptiveStack(DummyVecEnv(environments()), K, action_form="factored")
    venv.seed(0)
    venv.reset()
    ages = venv.slot_ages
    with pytest.raises(ValueError, match=r"memory action must be in 0\.\.2, actual: 3"):
        venv.step(np.array([[0, 0], [0, 1], [0, 3], [0, 0]]))
    assert equal(venv.slot_ages, ages)
    hybrid = VecAdaptiveStack(DummyVecEnv(environments(action=BOX)), K, action_form="hybrid")
    hybrid.reset()
    with pytest.raises(ValueError, match="expects HybridActorCriticPolicy"):
        hybrid.step(np.full((NUM_ENVS, 3), 0.5, np.float32))


def test_observations_sb3_cannot_read_are_refused():
    def make():
        return RandomEnv(spaces.Dict({"a": spaces.Dict({"b": spaces.Discrete(2)})}))

    venv = DummyVecEnv(environments())
    venv.observation_space = make().observation_space
    with pytest.raises(ValueError, match="expected observations of Box, Discrete"):
        VecAdaptiveStack(venv, 2)
