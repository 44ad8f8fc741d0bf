"""Every cell of the table of algorithms, actions and observations is trained for a few steps."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import sb3_contrib
import stable_baselines3
import torch
from gymnasium import spaces
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv

from adastack.integrations.sb3 import (
    HybridActorCriticPolicy,
    KeptLstmPolicy,
    StackCnn,
    StackMlp,
    VecAdaptiveStack,
    action_form_for,
)
from adastack.integrations.sb3.actions import LIBRARIES
from adastack.integrations.support import SUPPORT
from spaces import RandomEnv

K = 2
IMAGE = spaces.Box(0, 255, (10, 12, 3), np.uint8)
ACTIONS = {
    "Discrete": spaces.Discrete(3),
    "MultiDiscrete": spaces.MultiDiscrete([2, 3]),
    "MultiBinary": spaces.MultiBinary(2),
    "Box": spaces.Box(-2, 2, (2,), np.float32),
}
OBSERVATIONS = {
    "vector": spaces.Box(-1, 1, (3,), np.float32),
    "symbol": spaces.Discrete(4),
    "image": IMAGE,
    "Dict": spaces.Dict({"view": IMAGE, "speed": spaces.Box(-1, 1, (2,), np.float32)}),
}
MASKS = {"Discrete": [1, 1, 0], "MultiDiscrete": [1, 0, 1, 1, 0], "MultiBinary": [1, 1, 1, 0]}
ON_POLICY = {"n_steps": 8, "batch_size": 16}
OFF_POLICY = {"buffer_size": 100, "learning_starts": 4, "train_freq": 8, "batch_size": 8}
SETTINGS = {
    "PPO": {**ON_POLICY, "n_epochs": 1},
    "A2C": {"n_steps": 8},
    "TRPO": {**ON_POLICY, "n_critic_updates": 1, "cg_max_steps": 2},
    "RecurrentPPO": {**ON_POLICY, "n_epochs": 1},
    "MaskablePPO": {**ON_POLICY, "n_epochs": 1},
    **dict.fromkeys(("DQN", "QRDQN", "SAC", "TD3", "DDPG", "TQC"), OFF_POLICY),
}


class MaskedEnv(RandomEnv):
    """An environment that forbids some actions, and says so when one is taken."""

    def action_masks(self):
        return np.array(MASKS[type(self.action_space).__name__], bool)


def make(action, observation):
    kind = MaskedEnv if action in MASKS else RandomEnv
    return kind(OBSERVATIONS[observation], ACTIONS[action], stop=0.1)


def cells():
    """All of them; the quick ones have each action and each observation of an algorithm once."""
    for row in SUPPORT:
        if row.library in LIBRARIES:
            for i, (action, form) in enumerate(row.forms.items()):
                for j, observation in enumerate(row.observations):
                    marks = [pytest.mark.slow] if i and j else []
                    yield pytest.param(row.algorithm, action, form, observation, marks=marks)


def policy_for(algorithm, form, observation):
    """The policy a user would name, with a network that reads the stack where there are images."""
    if algorithm == "RecurrentPPO":
        return KeptLstmPolicy, {"stack_size": K}
    net = StackCnn if observation in ("image", "Dict") else StackMlp
    kwargs = {
        "features_extractor_class": net,
        "features_extractor_kwargs": {"stack_size": K},
    }
    if form == "hybrid":
        return HybridActorCriticPolicy, kwargs
    return "MultiInputPolicy" if observation == "Dict" else "MlpPolicy", kwargs


@pytest.mark.parametrize(("algorithm", "action", "form", "observation"), list(cells()))
def test_a_cell_of_the_table_trains(algorithm, action, form, observation):
    kind = getattr(stable_baselines3, algorithm, None) or getattr(sb3_contrib, algorithm)
    assert action_form_for(kind, ACTIONS[action]) == form
    bare = DummyVecEnv([lambda: make(action, observation)] * 2)
    venv = VecAdaptiveStack(bare, K, padding_type="empty", action_form=form)
    policy, kwargs = policy_for(algorithm, form, observation)
    model = kind(policy, venv, policy_kwargs=kwargs, seed=0, **SETTINGS[algorithm])
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(16)
    moved = [
        not torch.equal(old, new)
        for old, new in zip(before, model.policy.parameters(), strict=True)
    ]
    assert any(moved)
    received = np.array(bare.envs[0].received)
    assert all(part in ACTIONS[action] for part in received)
    if algorithm == "MaskablePPO":
        assert_masks_held(action, received)
    evaluate_policy(model, venv, n_eval_episodes=2, warn=False)


def assert_masks_held(action, received):
    sizes = {"Discrete": [3], "MultiDiscrete": [2, 3], "MultiBinary": [2, 2]}[action]
    masks = np.split(np.array(MASKS[action], bool), np.cumsum(sizes)[:-1])
    for column, mask in zip(received.reshape(len(received), -1).T, masks, strict=True):
        assert mask[column].all()


@pytest.mark.parametrize(
    ("algorithm", "space", "message"),
    [
        ("DQN", ACTIONS["Box"], "DQN expects Discrete actions, actual: Box"),
        ("SAC", ACTIONS["Discrete"], "SAC expects Box actions, actual: Discrete"),
        ("MaskablePPO", ACTIONS["Box"], "MaskablePPO expects Discrete or MultiDiscrete or"),
        ("PPO", spaces.Dict({"a": spaces.Discrete(2)}), "PPO expects Discrete or"),
        ("HER", ACTIONS["Box"], "expected an algorithm of"),
    ],
)
def test_an_algorithm_that_cannot_take_the_actions_is_one_clear_error(algorithm, space, message):
    with pytest.raises(ValueError, match=message) as caught:
        action_form_for(algorithm, space)
    assert "\n" not in str(caught.value)


def test_sb3_itself_refuses_a_form_that_does_not_fit():
    venv = VecAdaptiveStack(
        DummyVecEnv([lambda: make("Discrete", "vector")]), K, action_form="factored"
    )
    with pytest.raises(AssertionError, match=r"only supports .*Discrete.* was provided"):
        stable_baselines3.DQN("MlpPolicy", venv)
