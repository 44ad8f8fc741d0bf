"""One cue, blanks, one decision: two kept observations solve it, the last two do not."""

from functools import partial

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from sb3_contrib import QRDQN, TRPO, MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv

import adastack  # noqa: F401
from adastack.integrations.sb3 import (
    HybridActorCriticPolicy,
    KeptLstmPolicy,
    StackLstm,
    StackTransformer,
    VecStack,
    paper_policy,
)
from adastack.wrappers import AdaptiveStack

K = 2
SHORT, LONG = 3, 5
"""Lengths of the maze: a probe of each kind of action, and the whole list of algorithms."""


class Steered(gym.ActionWrapper):
    """The maze with a number for an action: up if it is positive, else down."""

    def __init__(self, env):
        super().__init__(env)
        self.action_space = gym.spaces.Box(-1, 1, (1,), np.float32)

    def action(self, action):
        return 0 if action[0] > 0 else 2


class Masked(gym.Wrapper):
    """The maze with left and right forbidden."""

    def action_masks(self):
        return np.array([True, False, True, False])


def maze(length=LONG):
    return gym.make("adastack/PassiveTMaze-v0", length=length)


def steered(length):
    return Steered(maze(length))


def masked(length):
    return Masked(maze(length))


def stacked(make, rule, n_envs, form):
    return VecStack(
        DummyVecEnv([make] * n_envs), K, rule=rule, padding_type="empty", action_form=form
    )


def success(model, make, rule, form):
    venv = stacked(make, rule, 20, form)
    venv.seed(99)
    mean_return, _ = evaluate_policy(model, venv, 200, warn=False)
    return (mean_return + 1) / 2


POLICY_GRADIENT = {"n_steps": 20, "batch_size": 320, "gae_lambda": 1.0}
PPO_SETTINGS = {**POLICY_GRADIENT, "n_epochs": 8, "learning_rate": 3e-3, "ent_coef": 0.03}
SLOW_PPO = {**POLICY_GRADIENT, "n_epochs": 8, "learning_rate": 1e-3, "ent_coef": 0.03}
HYBRID = {**PPO_SETTINGS, "ent_coef": 0.01}
A2C_SETTINGS = {
    "n_steps": 10,
    "gae_lambda": 1.0,
    "learning_rate": 2e-3,
    "ent_coef": 0.01,
    "use_rms_prop": False,
}
Q_LEARNING = {
    "learning_rate": 2e-3,
    "buffer_size": 20_000,
    "learning_starts": 1000,
    "train_freq": 4,
    "gradient_steps": 2,
    "target_update_interval": 50,
    "exploration_fraction": 0.6,
    "exploration_final_eps": 0.1,
    "batch_size": 128,
}
TRPO_SETTINGS = {
    **POLICY_GRADIENT,
    "target_kl": 0.05,
    "learning_rate": 3e-3,
    "n_critic_updates": 10,
}
SAC_SETTINGS = {
    "learning_rate": 3e-3,
    "buffer_size": 20_000,
    "learning_starts": 1000,
    "train_freq": 4,
    "gradient_steps": 4,
    "batch_size": 128,
    "gamma": 0.95,
    "ent_coef": 0.05,
}
TD3_SETTINGS = {
    "learning_rate": 2e-3,
    "buffer_size": 20_000,
    "learning_starts": 8000,
    "train_freq": 4,
    "gradient_steps": 16,
    "batch_size": 512,
    "gamma": 0.95,
    "tau": 0.05,
    "policy_kwargs": {"net_arch": [64, 64]},
}


def case(name, algorithm, settings, steps, *, policy="MlpPolicy", make=maze, length=LONG, **more):
    """A learner: its name, what makes it, and how many steps it is given."""
    more = {"n_envs": 64, "form": "auto", "noise": 0, **more}
    slow = more.pop("slow", length == LONG)
    values = (algorithm, policy, partial(make, length), settings, steps, more)
    return pytest.param(*values, id=f"{name}-{length}", marks=[pytest.mark.slow] if slow else [])


STEERED_BY_TD3 = {"make": steered, "n_envs": 16, "noise": 3.0, "form": "scores"}
HYBRID_POLICY = {"policy": HybridActorCriticPolicy, "make": steered, "form": "hybrid"}
CASES = [
    case("PPO", PPO, PPO_SETTINGS, 5_000, length=SHORT),
    case("PPO factored", PPO, PPO_SETTINGS, 6_500, form="factored", length=SHORT),
    case("PPO hybrid", PPO, HYBRID, 8_000, **HYBRID_POLICY, length=SHORT),
    case("DQN", DQN, Q_LEARNING, 5_000, n_envs=16, length=SHORT),
    case("MaskablePPO", MaskablePPO, PPO_SETTINGS, 6_500, make=masked, length=SHORT),
    case("PPO", PPO, PPO_SETTINGS, 12_000),
    case("PPO factored", PPO, PPO_SETTINGS, 20_000, form="factored"),
    case("PPO hybrid", PPO, HYBRID, 30_000, **HYBRID_POLICY),
    case("DQN", DQN, Q_LEARNING, 12_000, n_envs=16),
    case("QRDQN", QRDQN, {**Q_LEARNING, "policy_kwargs": {"n_quantiles": 10}}, 12_000, n_envs=16),
    case("TRPO", TRPO, TRPO_SETTINGS, 30_000),
    case("A2C", A2C, A2C_SETTINGS, 80_000),
    case("SAC", SAC, SAC_SETTINGS, 12_000, make=steered, n_envs=16, form="scores"),
    # Without noise this wide, an actor that once forgets never sees again what it could have kept.
    # In the longer maze its tanh is often at an end before the critic knows what to keep, and stays
    # there: two of nine seeds are not learned.
    case("TD3", TD3, TD3_SETTINGS, 16_000, length=SHORT, **STEERED_BY_TD3, slow=True),
    case("MaskablePPO", MaskablePPO, PPO_SETTINGS, 24_000, make=masked),
    case(
        "RecurrentPPO",
        RecurrentPPO,
        {**SLOW_PPO, "policy_kwargs": {"stack_size": K}},
        40_000,
        policy=KeptLstmPolicy,
    ),
    case("LSTM", PPO, {**SLOW_PPO, "policy_kwargs": paper_policy(StackLstm, K)}, 26_000),
    case(
        "Transformer", PPO, {**SLOW_PPO, "policy_kwargs": paper_policy(StackTransformer, K)}, 16_000
    ),
]


@pytest.mark.parametrize(("algorithm", "policy", "make", "settings", "steps", "more"), CASES)
def test_kept_observations_solve_the_probe_and_the_last_ones_do_not(
    algorithm, policy, make, settings, steps, more
):
    reached = {}
    for rule in ("adaptive", "frame"):
        form = "auto" if rule == "frame" else more["form"]
        if rule == "frame" and policy is HybridActorCriticPolicy:
            policy = "MlpPolicy"
        venv = stacked(make, rule, more["n_envs"], form)
        if more["noise"]:
            wide = np.full(venv.action_space.shape, more["noise"])
            settings = {**settings, "action_noise": NormalActionNoise(np.zeros_like(wide), wide)}
        model = algorithm(policy, venv, seed=1, **settings).learn(steps)
        reached[rule] = success(model, make, rule, form)
    assert reached["adaptive"] >= 0.95
    assert 0.4 < reached["frame"] < 0.6


@pytest.mark.slow
def test_plain_recurrence_carries_the_cue_in_its_state():
    """The baseline: no memory wrapper at all, an LSTM over the whole episode."""
    settings = {**SLOW_PPO, "policy_kwargs": {"lstm_hidden_size": 64, "net_arch": []}}
    model = RecurrentPPO("MlpLstmPolicy", DummyVecEnv([maze] * 64), seed=0, **settings)
    model.learn(40_000)
    venv = DummyVecEnv([maze] * 20)
    venv.seed(99)
    mean_return, _ = evaluate_policy(model, venv, 200, warn=False)
    assert (mean_return + 1) / 2 >= 0.95


def test_the_smallest_example_works():
    env = AdaptiveStack(gym.make("adastack/PassiveTMaze-v0"), stack_size=2)
    model = PPO("MlpPolicy", env, n_steps=64)
    model.learn(total_timesteps=128)
    assert model.num_timesteps == 128
