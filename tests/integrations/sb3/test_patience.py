"""A fresh model that keeps what it holds: the bias, and a delay that is learned with it."""

import runpy
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv

from adastack.integrations.sb3 import HybridActorCriticPolicy, VecStack, patient
from adastack.wrappers import AdaptiveStack

ORDINARY = Path(__file__).parents[3] / "examples" / "ordinary.py"


class Still(gym.Env):
    """Nothing happens."""

    observation_space = Box(-1, 1, (2,), np.float32)

    def __init__(self, action_space):
        self.action_space = action_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.zeros(2, np.float32), 0.0, False, False, {}


def newest_evicted(model, venv, draws=400):
    """How often a model evicts the newest slot."""
    torch.manual_seed(0)
    observation = np.repeat(venv.reset(), draws, axis=0)
    actions, _ = model.predict(observation, deterministic=False)
    form = venv.action_form if isinstance(venv, VecStack) else venv.get_attr("action_form")[0]
    return (form.split_batch(actions)[1] == 2).mean()


@pytest.mark.parametrize(
    ("space", "form", "policy"),
    [
        (Discrete(4), "flat", "MlpPolicy"),
        (Discrete(4), "factored", "MlpPolicy"),
        (MultiDiscrete([2, 5]), "factored", "MlpPolicy"),
        (Box(-1, 1, (2,), np.float32), "auto", HybridActorCriticPolicy),
    ],
    ids=["flat", "factored", "vector", "hybrid"],
)
def test_the_newest_slot_is_the_likeliest_to_be_evicted(space, form, policy):
    venv = VecStack(DummyVecEnv([lambda: Still(space)]), 3, action_form=form)
    model = PPO(policy, venv, seed=0)
    assert newest_evicted(model, venv) == pytest.approx(1 / 3, abs=0.1)
    assert patient(model, 2.0) is model
    expected = np.exp(2) / (np.exp(2) + 2)
    assert newest_evicted(model, venv) == pytest.approx(expected, abs=0.08)


def test_a_memory_inside_the_environments_is_found():
    venv = DummyVecEnv([lambda: AdaptiveStack(Still(Discrete(2)), 3)])
    model = patient(PPO("MlpPolicy", venv, seed=0))
    assert newest_evicted(model, venv) > 0.85


@pytest.mark.parametrize(
    ("algorithm", "make", "message"),
    [
        (PPO, lambda env: DummyVecEnv([env]), "expects environments with a memory"),
        (PPO, lambda env: VecStack(DummyVecEnv([env]), 2, rule="frame"), "slots are chosen"),
        (DQN, lambda env: VecStack(DummyVecEnv([env]), 2), "expects a policy with logits"),
    ],
    ids=["none", "frame", "values"],
)
def test_what_cannot_be_patient_is_refused(algorithm, make, message):
    model = algorithm("MlpPolicy", make(lambda: Still(Discrete(2))))
    with pytest.raises(ValueError, match=message):
        patient(model)


@pytest.mark.slow
def test_a_delay_of_thirty_is_learned_with_patience():
    delay = runpy.run_path(str(ORDINARY))["Delay"]
    venv = VecStack(make_vec_env(delay, n_envs=16, seed=0), 2, rule="adaptive_full")
    model = PPO(
        "MlpPolicy", venv, n_steps=100, batch_size=400, learning_rate=1e-3, gae_lambda=1.0,
        ent_coef=0.01, seed=0, device="cpu",
    )  # fmt: skip
    patient(model).learn(200_000)
    fresh = VecStack(make_vec_env(delay, n_envs=16, seed=99), 2, rule="adaptive_full")
    mean_return, _ = evaluate_policy(model, fresh, 200)
    assert (mean_return + 1) / 2 >= 0.95
