"""RLlib's PPO, new API stack, over environments with a memory; runs in an environment of its own.

`make test-rllib` makes that environment: RLlib wants an older Gymnasium than the other tests.
"""

import doctest
import importlib
import logging
import re
import runpy
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import ray
import torch
from gymnasium import spaces
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns

from adastack.integrations.rllib import flatten, make_env, register
from adastack.integrations.support import SUPPORT
from spaces import RandomEnv

ROOT = Path(__file__).parents[3]
ACTIONS = {
    "Discrete": spaces.Discrete(3),
    "MultiDiscrete": spaces.MultiDiscrete([2, 3]),
    "MultiBinary": spaces.MultiBinary(2),
    "Box": spaces.Box(-1, 1, (2,), np.float32),
}
IMAGE = spaces.Box(0, 255, (6, 5, 3), np.uint8)
OBSERVATIONS = {
    "vector": spaces.Box(-1, 1, (3,), np.float32),
    "symbol": spaces.Discrete(4),
    "image": IMAGE,
    "Dict": spaces.Dict({"view": IMAGE, "speed": spaces.Box(-1, 1, (2,), np.float32)}),
}


@pytest.fixture(scope="module", autouse=True)
def _cluster():
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    yield
    ray.shutdown()


def ppo(env_config, n_envs, **training):
    """PPO in one process, with a tiny network."""
    return (
        PPOConfig()
        .environment(register(), env_config=env_config)
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=n_envs,
            rollout_fragment_length="auto",
            env_to_module_connector=flatten,
        )
        .learners(num_learners=0)
        .rl_module(model_config={"fcnet_hiddens": [64, 64]})
        .training(**training)
        .debugging(seed=1, log_level="ERROR")
        .build_algo()
    )


def cells():
    for row in SUPPORT:
        if row.library == "RLlib":
            for action, form in row.forms.items():
                for observation in row.observations:
                    yield action, form, observation


@pytest.mark.parametrize(("action", "form", "observation"), list(cells()))
def test_a_cell_of_the_table_trains(action, form, observation):
    def source():
        return RandomEnv(OBSERVATIONS[observation], ACTIONS[action], stop=0.1)

    algo = ppo(
        {"env": source, "stack_size": 2},
        2,
        train_batch_size_per_learner=32,
        minibatch_size=32,
        num_epochs=1,
    )
    space = algo.env_runner.env.unwrapped.single_action_space
    assert isinstance(space, spaces.Tuple if form == "pair" else spaces.MultiDiscrete)
    before = weights(algo)
    algo.train()
    assert any(not np.array_equal(old, new) for old, new in zip(before, weights(algo), strict=True))
    algo.stop()


def weights(algo):
    return [np.array(value) for value in algo.get_module().get_state().values()]


class Steered(gym.ActionWrapper):
    """The maze with a number for an action: up if it is positive, else down."""

    def __init__(self, env):
        super().__init__(env)
        self.action_space = spaces.Box(-1, 1, (1,), np.float32)

    def action(self, action):
        return 0 if action[0] > 0 else 2


def maze():
    return gym.make("adastack/PassiveTMaze-v0", length=5)


def steered():
    return Steered(maze())


def success(algo, episodes=100):
    """The success of the likeliest actions, evaluated in one environment."""
    env = make_env(algo.config.env_config)
    module = algo.get_module()
    distribution = module.get_inference_action_dist_cls()
    right = 0
    for seed in range(episodes):
        observation, _ = env.reset(seed=seed)
        done = False
        while not done:
            row = one_hot(observation)
            outputs = module.forward_inference({Columns.OBS: row})
            chosen = distribution.from_logits(outputs[Columns.ACTION_DIST_INPUTS])
            action = chosen.to_deterministic().sample()
            observation, reward, terminated, truncated, _ = env.step(as_action(action))
            done = terminated or truncated
        right += reward > 0
    return right / episodes


def one_hot(symbols):
    return torch.eye(5)[torch.as_tensor(symbols)].reshape(1, -1)


def as_action(action):
    """One action out of a batch of one: a tuple for pairs, a row for several choices."""
    if isinstance(action, tuple):
        return tuple(part[0].numpy() for part in action)
    return action[0].numpy()


def train(source, rule, updates):
    """The success of PPO after some updates."""
    algo = ppo(
        {"env": source, "stack_size": 2, "rule": rule, "padding_type": "empty"},
        32,
        lr=3e-3,
        train_batch_size_per_learner=1280,
        minibatch_size=320,
        num_epochs=8,
        entropy_coeff=0.03 if source is maze else 0.01,
        lambda_=1.0,
        vf_loss_coeff=0.5,
        grad_clip=0.5,
    )
    for _ in range(updates):
        algo.train()
    reached = success(algo)
    algo.stop()
    return reached


@pytest.mark.parametrize(("source", "updates"), [(maze, 12), (steered, 24)])
def test_kept_observations_solve_the_probe_and_the_last_ones_do_not(source, updates):
    assert train(source, "adaptive", updates) >= 0.95
    assert 0.35 < train(source, "frame", updates) < 0.65


def test_the_environment_of_a_config():
    env = make_env({"env": "Pendulum-v1", "stack_size": 3, "padding_type": "zero"})
    assert env.action_space[1] == spaces.Discrete(3)
    assert env.observation_space.shape == (3, 3)
    env = make_env({"env": maze, "stack_size": 2, "rule": "frame"})
    assert env.action_space == spaces.Discrete(4)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"env": "CartPole-v1"}, "env_config expects 'stack_size'"),
        ({"stack_size": 2}, "env_config expects 'env'"),
        ({"env": "CartPole-v1", "stack_size": 2, "k": 2}, "env_config expects env, env_kwargs"),
        ({"env": "CartPole-v1", "stack_size": 0}, "stack_size must be at least 1"),
    ],
)
def test_bad_configs_are_one_clear_error(config, message):
    with pytest.raises(ValueError, match=message):
        make_env(config)


def test_the_example_runs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rllib_ppo.py", "--updates", "6"])
    runpy.run_path(str(ROOT / "examples" / "rllib_ppo.py"), run_name="__main__")
    assert "update 6: success while learning 0." in capsys.readouterr().out


def test_the_code_on_the_page_runs():
    page = (ROOT / "docs" / "integrations.md").read_text()
    (code,) = re.findall(r"```python rllib\n(.*?)```", page, re.S)
    found = {}
    exec(compile(code, "page", "exec"), found)
    space = make_env(found["config"].env_config).action_space
    assert space == spaces.Tuple((spaces.Box(-2, 2, (1,), np.float32), spaces.Discrete(3)))


def test_docstring_examples_hold():
    assert doctest.testmod(importlib.import_module("adastack.integrations.rllib")).failed == 0
