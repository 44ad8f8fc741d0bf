from collections import Counter
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.memory.regret import regrets
from adastack.tasks import active_tmaze, passive_tmaze, xormaze
from adastack.tasks.environment import FiniteTaskEnv, FiniteTaskVectorEnv
from adastack.wrappers import AdaptiveStack, FrameStack, RecordMemory, vector

KEEP_CUE = 1


def holds(memory, cue):
    """Whether a list of labels contains a multiset of cues."""
    return not Counter(c for c in cue if c >= 0) - Counter(memory)


@given(
    st.lists(st.integers(-2, 3), min_size=1, max_size=5),
    st.lists(st.integers(-1, 3), min_size=1, max_size=3),
    st.integers(0, 4),
    st.booleans(),
)
@settings(max_examples=500, deadline=None)
def test_regrets_equal_their_definition(labels, cue, slot, over):
    slot %= len(labels)
    memory, current = labels[:-1], labels[-1]
    kept = labels[:slot] + labels[slot + 1 :]
    found = regrets(np.array([labels]), np.array([slot]), np.array([cue]), np.array([over]))
    assert found.memory[0] == (not holds(memory, cue))
    assert found.passive[0] == (holds(memory, cue) and not holds(kept, cue) and not over)
    needed = cue.count(current)
    lacked = current >= 0 and memory.count(current) < needed
    stored = kept.count(current) > memory.count(current)
    assert found.active[0] == (lacked and not stored and not over)


def play(env, policy, steps, seed=0):
    observation, _ = env.reset(seed=seed)
    for _ in range(steps):
        observation, _, terminated, truncated, _ = env.step(policy(observation))
        if terminated or truncated:
            observation, _ = env.reset()
    return env


def remember_cue(observation):
    """The perfect player of the Passive-TMaze with two slots, keeping red (2) or green (3)."""
    memory, current = observation
    action = 0 if 2 in (memory, current) else 2
    return [action, 0 if current in (2, 3) else KEEP_CUE]


def forget_cue(observation):
    return [0, 1]


def test_a_perfect_player_regrets_only_the_first_step_of_each_episode():
    env = AdaptiveStack(FiniteTaskEnv(passive_tmaze(length=5)), 2, padding_type="empty")
    env = play(RecordMemory(env, optimal_value=0.99**4), remember_cue, 100)
    assert len(env.episodes) == 20
    for episode in env.episodes:
        assert episode["length"] == 5
        assert episode["success"]
        assert episode["return"] == 1
        assert episode["discounted_return"] == pytest.approx(0.99**4)
        assert episode["reward_regret"] == pytest.approx(0)
        assert episode["memory_regret"] == pytest.approx(1 / 5)
        assert episode["memory_regret_after"] == 0
        assert episode["active_regret"] == episode["passive_regret"] == 0
    (window,) = env.windows
    assert window["attempts"] == window["successes"] == window["reward"] == 20
    assert window["memory_regret"] == pytest.approx(0.2)
    assert window["evictions"] == [20, 80]


def test_a_player_that_never_stores_has_one_active_regret_an_episode():
    env = AdaptiveStack(FiniteTaskEnv(passive_tmaze(length=5)), 2, padding_type="empty")
    env = play(RecordMemory(env), forget_cue, 100)
    (window,) = env.windows
    assert window["memory_regret"] == 1
    assert window["memory_regret_after"] == pytest.approx(4 / 5)  # The last step counts no more.
    assert window["active_regret"] == 20
    assert window["passive_regret"] == 0
    assert np.isnan(window["reward_regret"])


def test_a_frame_stack_that_is_too_short_loses_the_cue_once_an_episode():
    env = FrameStack(FiniteTaskEnv(passive_tmaze(length=5)), 3, padding_type="empty")
    (window,) = play(RecordMemory(env), lambda observation: 0, 100).windows
    assert window["active_regret"] == 0
    assert window["passive_regret"] == 20
    assert window["memory_regret"] == pytest.approx(3 / 5)
    assert window["memory_regret_after"] == pytest.approx(2 / 5)


def test_the_oracle_has_no_passive_regret_in_a_continual_maze():
    length = 5
    env = FrameStack(
        FiniteTaskEnv(passive_tmaze(length=length, continual=True)), length, padding_type="empty"
    )

    def oracle(observation):
        return 0 if 2 in observation else 2

    env = play(RecordMemory(env, optimal_rate=1 / length), oracle, 100)
    (window,) = env.windows
    assert window["attempts"] == window["successes"] == 20
    assert window["passive_regret"] == window["active_regret"] == 0
    # The one step on which the cue is seen and cannot be in memory yet; and that an old cue of the
    # same colour has been pushed out by then.
    assert window["memory_regret"] == pytest.approx(1 / length)
    assert window["reward_regret"] == pytest.approx(0)
    assert len(env.episodes) == 20


@pytest.mark.parametrize(("last_slot", "memory_regret"), [(0, 4 / 5), (1, 1), (2, 1)])
def test_two_cues_must_both_be_held_even_of_one_colour(last_slot, memory_regret):
    env = RecordMemory(AdaptiveStack(FiniteTaskEnv(xormaze()), 3, padding_type="empty"))
    colours = set()
    for seed in range(20):
        env.reset(seed=seed)
        *_, info = env.step([3, 0])  # centre to left: - blue left
        left = info["shown"]
        env.step([1, 1])  # back to the centre: - left blue
        *_, info = env.step([1, 2])  # to the right: - left right
        right = info["shown"]
        env.step([3, last_slot])  # back: slot 0 keeps both cues, 1 or 2 gives one up
        *_, info = env.step([0 if left != right else 2, 0])
        episode = info["memory"]
        assert episode["success"]
        assert episode["memory_regret"] == pytest.approx(memory_regret)
        # Two cues of one colour cannot be told apart: giving up either leaves one too few.
        lost = last_slot == 2 or (last_slot == 1 and left == right)
        assert episode["active_regret"] == lost
        assert episode["passive_regret"] == 0
        colours.add((left, right))
    assert len(colours) == 4


def test_without_cues_there_are_returns_but_no_regrets():
    env = play(RecordMemory(FrameStack(gym.make("CartPole-v1"), 2)), lambda o: 0, 100)
    (window,) = env.windows
    assert window["reward"] == 100
    assert np.isnan(window["memory_regret"])
    assert env.episodes[0]["return"] == env.episodes[0]["length"]


def test_success_is_unknown_until_the_environment_speaks_of_it():
    env = play(RecordMemory(FrameStack(gym.make("CartPole-v1"), 2)), lambda o: 0, 100)
    assert {episode["success"] for episode in env.episodes} == {None}
    assert np.isnan(env.windows[0]["successes"])
    told = RecordMemory(FrameStack(FiniteTaskEnv(passive_tmaze(length=3)), 2))
    lost = play(told, lambda observation: 0, 300)
    assert {episode["success"] for episode in lost.episodes} == {True, False}
    assert 0 < lost.windows[0]["successes"] < lost.windows[0]["attempts"]


@pytest.mark.parametrize("kind", ["single", "vector", "inside", "processes"])
def test_what_a_slot_shows_is_what_it_holds(kind):
    def regret(padding):
        def make():
            return AdaptiveStack(FiniteTaskEnv(passive_tmaze(length=4)), 3, padding_type=padding)

        if kind == "single":
            env = RecordMemory(make())
        elif kind == "vector":
            mazes = FiniteTaskVectorEnv(passive_tmaze(length=4), 1)
            env = vector.RecordMemory(vector.AdaptiveStack(mazes, 3, padding_type=padding))
        else:
            form = SyncVectorEnv if kind == "inside" else partial(AsyncVectorEnv, context="spawn")
            env = vector.RecordMemory(form([make]))
        env.reset(seed=0)
        for _ in range(4):  # Evicts what came before; what slot 0 showed at first stays.
            env.step([0, 1] if kind == "single" else [[0, 1]])
        (episode,) = env.episodes
        env.close()
        return episode["memory_regret"]

    assert [regret(padding) for padding in ("reset", "empty", "zero")] == [0, 3 / 4, 3 / 4]


def test_it_needs_a_memory():
    with pytest.raises(ValueError, match="expects an environment inside a memory wrapper"):
        RecordMemory(gym.make("CartPole-v1")).reset()


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(
    "task",
    [passive_tmaze(length=4, random_length=True), active_tmaze(length=2), xormaze(continual=True)],
    ids=lambda task: task.name,
)
def test_the_vector_recorder_counts_what_single_recorders_count(task, mode):
    num_envs, rounds = 3, 300

    def make():
        return AdaptiveStack(FiniteTaskEnv(task), 2, padding_type="empty")

    envs = vector.RecordMemory(SyncVectorEnv([make] * num_envs, autoreset_mode=mode))
    singles = [RecordMemory(make()) for _ in range(num_envs)]
    envs.action_space.seed(3)
    _, infos = envs.reset(seed=0)
    for index, env in enumerate(singles):
        env.reset(seed=index)
    resetting = np.zeros(num_envs, bool)
    for _ in range(rounds):
        actions = envs.action_space.sample()
        _, _, terminated, truncated, infos = envs.step(actions)
        done = terminated | truncated
        for index, env in enumerate(singles):
            if resetting[index]:
                env.reset()
                continue
            *_, info = env.step(actions[index])
            expected = info.get("memory")
            rows = infos.get("memory")
            actual = None if rows is None else rows[index]
            assert (expected is None) == (actual is None)
            if expected is not None:
                for name in set(expected) - {"step", "environment", "reward_regret"}:
                    assert actual[name] == expected[name], name
            if done[index] and mode == AutoresetMode.SAME_STEP:
                env.reset()
        if done.any() and mode == AutoresetMode.DISABLED:
            envs.reset(options={"reset_mask": done.copy()})
            for index in np.flatnonzero(done):
                singles[index].reset()
        resetting = done if mode == AutoresetMode.NEXT_STEP else np.zeros(num_envs, bool)
    assert len(envs.episodes) == sum(len(env.episodes) for env in singles) > 10
    if mode != AutoresetMode.NEXT_STEP:
        for name in ("reward", "attempts", "successes", "active_regret", "passive_regret"):
            total = sum(window[name] for env in singles for window in env.windows)
            assert sum(window[name] for window in envs.windows) == pytest.approx(total)


def test_the_fast_vector_environment_can_be_recorded():
    envs = vector.AdaptiveStack(
        FiniteTaskVectorEnv(passive_tmaze(length=5), 64), 2, padding_type="empty"
    )
    envs = vector.RecordMemory(envs)
    observations, _ = envs.reset(seed=0)
    for _ in range(300):
        observations, *_ = envs.step(np.array([remember_cue(o) for o in observations]))
    assert all(episode["success"] for episode in envs.episodes)
    assert sum(window["passive_regret"] for window in envs.windows) == 0
    assert len(envs.windows) == 3


def test_an_environment_that_says_nothing_of_a_cue_has_no_regret():
    class Silent(gym.Wrapper):
        def _hush(self, info):
            return {name: value for name, value in info.items() if name != "cue"}

        def reset(self, **kwargs):
            observation, info = self.env.reset(**kwargs)
            return observation, self._hush(info)

        def step(self, action):
            *rest, info = self.env.step(action)
            return (*rest, self._hush(info))

    def speaks():
        return FrameStack(FiniteTaskEnv(passive_tmaze(length=4)), 2)

    envs = vector.RecordMemory(SyncVectorEnv([speaks, lambda: FrameStack(Silent(speaks().env), 2)]))
    envs.reset(seed=0)
    for _ in range(100):
        envs.step(np.zeros(2, int))
    alone = play(RecordMemory(speaks()), lambda observation: 0, 80).episodes
    (window,) = envs.windows
    assert window["memory_regret"] == pytest.approx(alone[0]["memory_regret"] / 2)
