import subprocess
import sys

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.env_checker import check_env as check_sb3_env

from adastack.tasks.functional import FunctionalTaskEnv
from adastack.tasks.functional_vector import FunctionalTaskVectorEnv
from adastack.tasks.worlds.popgym.pendulum import PositionOnlyPendulum
from adastack.wrappers import AdaptiveStack, RecordMemory, vector
from tasks.worlds.probe import GOAL, Counter

MODES = list(AutoresetMode)


class Pencil:
    """The counter, followed by hand for one agent; what it cannot know is the coin."""

    def __init__(self):
        self.count = self.clock = 0

    def step(self, action):
        self.count, self.clock = self.count + action, self.clock + 1
        terminated = self.count >= GOAL
        return self.count / 10, terminated, not terminated and self.clock >= 5


def episode(env, actions, seed):
    observation, info = env.reset(seed=seed)
    trace = [(observation.tolist(), info["cue"].tolist(), info["shown"])]
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        trace.append((observation.tolist(), round(reward, 6), terminated, truncated, info["shown"]))
    return trace


def test_one_agent_is_stepped_as_the_functions_say():
    env = FunctionalTaskEnv(Counter())
    trace = episode(env, [0, 1, 0, 1, 0], seed=1)
    coin = trace[0][1][0]
    assert trace[0] == ([0.0, coin], [coin], coin)
    assert trace[1:] == [
        ([0.0, -1.0], 0.0, False, False, -1),
        ([1.0, -1.0], 0.1, False, False, -1),
        ([1.0, -1.0], 0.1, False, False, -1),
        ([2.0, -1.0], 0.2, False, False, -1),
        ([2.0, -1.0], 0.2, False, True, -1),
    ]
    assert episode(env, [1, 1, 1], seed=1)[-1] == ([3.0, -1.0], 0.3, True, False, -1)


def test_the_same_seed_gives_the_same_episode_and_others_differ():
    coins = [episode(FunctionalTaskEnv(Counter()), [], seed)[0][1][0] for seed in range(20)]
    again = [episode(FunctionalTaskEnv(Counter()), [], seed)[0][1][0] for seed in range(20)]
    assert coins == again
    assert set(coins) == {0, 1}
    env = FunctionalTaskEnv(Counter())
    env.reset(seed=0)
    assert {int(env.reset()[1]["shown"]) for _ in range(20)} == {0, 1}


def test_checkers_find_nothing():
    check_env(FunctionalTaskEnv(Counter()), skip_render_check=True)
    check_sb3_env(FunctionalTaskEnv(Counter()))


@pytest.mark.parametrize("mode", MODES)
def test_many_agents_follow_the_pencil(mode):
    n, rng = 7, np.random.default_rng(0)
    envs = FunctionalTaskVectorEnv(Counter(), n, autoreset_mode=mode)
    observations, infos = envs.reset(seed=0)
    pencils, over = [Pencil() for _ in range(n)], np.zeros(n, bool)
    coins = infos["cue"][:, 0].copy()
    assert (observations[:, 1] == coins).all()
    for _ in range(40):
        if mode is AutoresetMode.DISABLED and over.any():
            kept = coins.copy()
            observations, infos = envs.reset(options={"reset_mask": over.copy()})
            assert (observations[over, 0] == 0).all()
            assert (infos["cue"][~over] == 0).all()
            coins = np.where(over, infos["cue"][:, 0], kept)
            for i in np.flatnonzero(over):
                pencils[i] = Pencil()
            over[:] = False
        actions = rng.integers(0, 2, n)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for i in range(n):
            if over[i]:  # only in NEXT_STEP: this step was a reset
                pencils[i], expected = Pencil(), (0.0, False, False)
                coins[i] = infos["cue"][i, 0]
            else:
                expected = pencils[i].step(int(actions[i]))
            assert (round(rewards[i], 6), terminated[i], truncated[i]) == expected
        done = terminated | truncated
        if mode is AutoresetMode.SAME_STEP:
            for i in np.flatnonzero(done):
                assert infos["final_obs"][i].tolist() == [pencils[i].count, -1]
                assert infos["final_info"]["success"][i] == terminated[i]
                assert infos["final_info"]["attempt_over"][i]
                assert infos["final_info"]["cue"][i, 0] == coins[i]
                assert not infos["success"][i]
                assert observations[i].tolist() == [0, infos["cue"][i, 0]]
                pencils[i], coins[i] = Pencil(), infos["cue"][i, 0]
            assert (infos.get("_final_obs", np.zeros(n, bool)) == done).all()
        else:
            assert (infos["attempt_over"] == done).all()
            over = done
        assert (infos["cue"][:, 0] == coins).all()
        assert [p.count for p in pencils] == observations[:, 0].tolist()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_memory_and_its_metrics_fit_on_top(mode):
    single = RecordMemory(AdaptiveStack(FunctionalTaskEnv(Counter()), 2, padding_type="zero"))
    single.reset(seed=0)
    for _ in range(2):
        single.step([1, 0])
    assert single.step([1, 0])[4]["memory"]["passive_regret"] == 1
    envs = FunctionalTaskVectorEnv(Counter(), 3, autoreset_mode=mode)
    envs = vector.RecordMemory(vector.AdaptiveStack(envs, 2, padding_type="zero"))
    envs.reset(seed=0)
    for _ in range(8):
        envs.step(np.tile([1, 1], (3, 1)))  # give up what is newest: the coin is never kept
    assert {row["memory_regret"] for row in envs.episodes} == {1.0}
    assert {row["active_regret"] for row in envs.episodes} == {1.0}


def test_actions_from_a_box_are_numbers():
    env = FunctionalTaskEnv(PositionOnlyPendulum())
    check_env(env, skip_render_check=True)
    env.reset(seed=0)
    far, near = (env.step([torque])[0].tolist() for torque in (9, 2.0))
    assert far != near
    for action in ([0.0, 0.0], 0.0, [np.nan], ["left"]):
        with pytest.raises(ValueError, match=r"expected finite numbers of shape \(1,\) as action"):
            env.step(action)
    envs = FunctionalTaskVectorEnv(PositionOnlyPendulum(), 2)
    envs.reset(seed=0)
    seen, rewards, *_ = envs.step(envs.action_space.sample())
    assert seen.shape == (2, 2)
    assert (rewards < 1 / 200).all()
    with pytest.raises(ValueError, match=r"expected finite numbers of shape \(2, 1\) as action"):
        envs.step([0.0, 0.0])


def test_pictures_come_from_the_task():
    env = FunctionalTaskEnv(Counter(), render_mode="rgb_array")
    with pytest.raises(ResetNeeded, match="nothing to draw yet"):
        env.render()
    env.reset(seed=0)
    env.step(1)
    assert env.render().tolist() == [[[1, 1, 1]]]
    assert env.render_with_memory(np.zeros((2, 2)), [0, 1], 0).shape == (3, 1, 3)
    assert FunctionalTaskEnv(Counter()).render() is None
    envs = FunctionalTaskVectorEnv(Counter(), 2, render_mode="rgb_array")
    envs.reset(seed=0)
    envs.step([1, 0])
    assert [frame.max() for frame in envs.render()] == [1, 0]


def test_bad_input_is_refused_and_changes_nothing():
    env = FunctionalTaskEnv(Counter())
    with pytest.raises(ResetNeeded, match="no episode to step in"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"expected an action in 0\.\.1, actual: 2"):
        env.step(2)
    assert env.step(1)[0].tolist() == [1, -1]
    with pytest.raises(ValueError, match=r"expected a render_mode of \('rgb_array',\)"):
        FunctionalTaskEnv(Counter(), render_mode="human")
    with pytest.raises(ValueError, match="num_envs must be at least 1, actual: 0"):
        FunctionalTaskVectorEnv(Counter(), 0)
    envs = FunctionalTaskVectorEnv(Counter(1), 2, autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded, match="no episode has begun"):
        envs.step([0, 0])
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"actual: 3 in environment 1"):
        envs.step([0, 3])
    envs.step([0, 0])
    with pytest.raises(ResetNeeded, match="episode of environment 0 is over"):
        envs.step([0, 0])


def test_importing_the_tasks_does_not_import_what_only_some_need():
    heavy = ("jax", "minigrid", "mujoco", "gymnasium_robotics", "popgym", "torch")
    code = f"import sys, adastack.tasks; print([m for m in {heavy} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
