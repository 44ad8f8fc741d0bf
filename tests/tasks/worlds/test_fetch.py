import copy
import pickle
import threading

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium_robotics.envs.fetch.reach import MujocoFetchReachEnv
from stable_baselines3.common.env_checker import check_env as check_sb3_env

from adastack.tasks.worlds.fetch.attempt import GOAL
from adastack.tasks.worlds.fetch.environment import FetchReachEnv
from adastack.tasks.worlds.fetch.vector import FetchReachVectorEnv
from adastack.wrappers import AdaptiveStack, RecordMemory


class Reference:
    """The task, written over the package's own environment."""

    def __init__(self, goal_period=50, visible_steps=2):
        self.env = MujocoFetchReachEnv(reward_type="dense")
        self.period, self.visible = goal_period, visible_steps

    def reset(self, seed):
        seen, _ = self.env.reset(seed=seed)
        self.clock = 0
        return self.masked(seen)

    def step(self, action):
        seen, reward, _, _, info = self.env.step(action)
        self.clock += 1
        over = self.clock == self.period
        if over:
            self.env.goal, self.clock = self.env._sample_goal(), 0
            seen["desired_goal"] = self.env.goal
        return self.masked(seen), reward, over, bool(info["is_success"])

    def masked(self, seen):
        shown = seen["desired_goal"] if self.clock < self.visible else np.zeros(3)
        numbers = [*seen["observation"][:5], *np.zeros(5), *shown]
        return np.array(numbers, np.float32)


def actions_for(count, seed=0, shape=()):
    """Random pushes; some are held for a while, some are far too strong."""
    rng = np.random.default_rng(seed)
    wild = rng.uniform(-1, 1, (count, *shape, 4)).astype(np.float32)
    held = np.repeat(wild[::10], 10, axis=0)[:count]
    return np.where(rng.random((count, *shape, 1)) < 0.5, wild, 3 * held).astype(np.float32)


@pytest.mark.parametrize(("period", "visible"), [(50, 2), (7, 3)])
def test_steps_are_those_of_the_package_bit_for_bit(period, visible):
    theirs, ours = Reference(period, visible), FetchReachEnv(period, visible)
    assert (ours.reset(seed=4)[0] == theirs.reset(4)).all()
    for action in actions_for(120):
        expected, reward, over, close = theirs.step(action)
        seen, got, terminated, truncated, info = ours.step(action)
        assert (seen == expected).all()
        assert got == reward
        assert not terminated
        assert not truncated
        assert info["attempt_over"] == over
        assert info["is_success"] == close
        assert info["success"] == (over and close)
        data = ours.attempt.arm.data
        assert (data.qpos == theirs.env.data.qpos).all()
        assert (data.qvel == theirs.env.data.qvel).all()
        assert (ours.attempt.goal == theirs.env.goal).all()
    assert (ours.reset()[0] == theirs.reset(None)).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_vector_form_is_the_same_bit_for_bit(threads):
    n = 3
    envs = FetchReachVectorEnv(n, goal_period=9, visible_steps=2, threads=threads)
    singles = [FetchReachEnv(goal_period=9, visible_steps=2) for _ in range(n)]
    observations, infos = envs.reset(seed=7)
    for i, env in enumerate(singles):
        assert (env.reset(seed=7 + i)[0] == observations[i]).all()
    for actions in actions_for(40, 1, (n,)):
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        assert not (terminated | truncated).any()
        for i, env in enumerate(singles):
            seen, reward, _, _, info = env.step(actions[i])
            assert (observations[i] == seen).all()
            assert rewards[i] == reward
            for name, value in info.items():
                assert (infos[name][i] == value).all(), name
                assert infos[f"_{name}"].all()
    envs.close()


def test_the_goal_is_seen_only_at_first_and_changes_for_ever():
    env = FetchReachEnv(goal_period=6, visible_steps=2)
    seen, info = env.reset(seed=0)
    goals, still = [seen[GOAL]], np.zeros(4, np.float32)
    assert (info["cue"].tolist(), info["shown"]) == ([0], 0)
    for step in range(1, 25):
        seen, _, _, _, info = env.step(still)
        number, since = divmod(step, 6)
        assert info["cue"].tolist() == [number]
        assert info["shown"] == (number if since < 2 else -1)
        assert bool(seen[GOAL].any()) == (since < 2)
        assert (seen[5:10] == 0).all()
        if since == 0:
            goals.append(seen[GOAL])
    centre = env.attempt.arm.shared.gripper
    assert len({tuple(goal) for goal in goals}) == 5
    assert all((np.abs(goal - centre) <= 0.15 + 1e-6).all() for goal in goals)


def test_an_agent_that_sees_the_goal_reaches_it():
    env = FetchReachEnv()
    env.reset(seed=1)
    successes = []
    for _ in range(150):
        away = env.attempt.goal - env.attempt.arm.gripper
        *_, info = env.step(np.append(np.clip(10 * away, -1, 1), 0))
        if info["attempt_over"]:
            successes.append(info["success"])
    assert successes == [True, True, True]


def test_a_memory_that_keeps_the_goal_has_no_regret_once_it_has_it():
    env = RecordMemory(AdaptiveStack(FetchReachEnv(goal_period=8), 2, padding_type="zero"))
    env.reset(seed=0)
    for _ in range(24):
        new_goal = env.unwrapped.attempt.clock == 0
        env.step((np.zeros(4, np.float32), 0 if new_goal else 1))
    assert [row["memory_regret"] for row in env.episodes] == [1 / 8] * 3
    assert {row["active_regret"] + row["passive_regret"] for row in env.episodes} == {0.0}


def test_some_arms_can_be_reset_alone():
    envs = FetchReachVectorEnv(3, threads=2)
    before, _ = envs.reset(seed=0)
    for actions in actions_for(5, 2, (3,)):
        moved = envs.step(actions)[0]
    mask = np.array([False, True, False])
    observations, infos = envs.reset(options={"reset_mask": mask})
    assert (observations[1, :3] == before[1, :3]).all()
    assert (observations[[0, 2]] == moved[[0, 2]]).all()
    assert (observations[1, GOAL] != before[1, GOAL]).all()
    assert infos["_cue"].tolist() == mask.tolist()
    envs.close()


def test_what_goes_wrong_in_a_thread_is_heard_of(monkeypatch):
    envs = FetchReachVectorEnv(2, threads=2)
    envs.reset(seed=0)

    def broken(shift):
        raise FloatingPointError(f"the arm is broken in {threading.current_thread().name}")

    monkeypatch.setattr(envs.attempts[1].arm, "move", broken)
    with pytest.raises(FloatingPointError, match="the arm is broken in fetch"):
        envs.step(np.zeros((2, 4), np.float32))
    envs.close()


def test_checkers_find_nothing():
    check_env(FetchReachEnv(), skip_render_check=True)
    check_sb3_env(FetchReachEnv())


def test_pictures_show_the_arm_the_goal_and_the_memory():
    env = FetchReachEnv(goal_period=9, render_mode="rgb_array")
    with pytest.raises(ResetNeeded, match="nothing to draw yet"):
        env.render()
    seen, _ = env.reset(seed=0)
    first = env.render()
    hidden = seen.copy()
    hidden[GOAL] = 0
    slots, ages = np.stack([seen, seen, hidden]), np.array([-1, 3, 0])
    drawn = env.render_with_memory(slots, ages, 1)
    assert (drawn[: len(first), : first.shape[1]] == first).all()
    forgotten = env.render_with_memory(np.stack([seen, hidden, hidden]), ages, 1)
    assert (forgotten != drawn).any()
    env.step([1, 1, 1, 0])
    assert (env.render() != first).any()
    envs = FetchReachVectorEnv(2, render_mode="rgb_array")
    envs.reset(seed=0)
    assert (envs.render()[0] == first).mean() > 0.99
    envs.close()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_by_itself_as_the_original_does(copied):
    env = FetchReachEnv(goal_period=10)
    env.reset(seed=3)
    for action in actions_for(17):
        env.step(action)
    again = copied(env)
    for action in actions_for(30, 1):
        ours, theirs = again.step(action), env.step(action)
        assert (ours[0] == theirs[0]).all()
        assert ours[1:] == theirs[1:]


@pytest.mark.parametrize("make", [FetchReachEnv, FetchReachVectorEnv])
def test_bad_options_are_refused(make):
    with pytest.raises(ValueError, match="goal_period must be an integer of at least 1"):
        make(goal_period=0)
    with pytest.raises(ValueError, match="visible_steps must be an integer of at least 1"):
        make(visible_steps=1.5)


def test_there_is_at_least_one_thread():
    with pytest.raises(ValueError, match="threads must be at least 1, actual: 0"):
        FetchReachVectorEnv(2, threads=0)


def test_bad_actions_are_refused_and_change_nothing():
    env = FetchReachEnv()
    with pytest.raises(ResetNeeded, match="no episode to step in"):
        env.step(np.zeros(4))
    env.reset(seed=0)
    before = env.attempt.arm.data.qpos.copy()
    with pytest.raises(ValueError, match=r"of shape \(4,\) as action, actual: shape \(3,\)"):
        env.step(np.zeros(3))
    with pytest.raises(ValueError, match="actual: not all finite"):
        env.step([np.nan, 0, 0, 0])
    assert (env.attempt.arm.data.qpos == before).all()
    envs = FetchReachVectorEnv(2)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"of shape \(2, 4\) as action, actual: shape \(4,\)"):
        envs.step(np.zeros(4))
    envs.close()


@pytest.mark.slow
def test_a_thousand_steps_are_those_of_the_registered_environment():
    gym.register_envs(__import__("gymnasium_robotics"))
    theirs = gym.make("FetchReachDense-v4", max_episode_steps=10**9)
    ours = FetchReachEnv(goal_period=10**6, visible_steps=10**6)
    expected, _ = theirs.reset(seed=11)
    seen, _ = ours.reset(seed=11)
    for action in actions_for(1000, 5):
        expected, reward, _, _, _ = theirs.step(action)
        seen, got, _, _, _ = ours.step(action)
        assert (seen[:5] == expected["observation"][:5].astype(np.float32)).all()
        assert (seen[GOAL] == expected["desired_goal"].astype(np.float32)).all()
        assert got == reward
