"""A policy written to a folder and read back acts as before, and reading runs nothing."""

import json
import pickle

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch
from gymnasium import spaces
from sb3_contrib import QRDQN, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import adastack  # noqa: F401
from adastack.files import DamagedFileError, write_json
from adastack.integrations.sb3 import (
    HybridActorCriticPolicy,
    KeptLstmPolicy,
    StackCnn,
    StackTransformer,
    VecAdaptiveStack,
    VecStack,
    export_policy,
    load_policy,
    paper_policy,
)
from adastack.integrations.sb3.describe import space_from_json, space_to_json
from adastack.schemas import sealed
from spaces import RandomEnv

IMAGE = spaces.Box(0, 255, (12, 10, 3), np.uint8)
PICTURES = spaces.Dict({"view": IMAGE, "speed": spaces.Box(-np.inf, 1, (2,), np.float32)})


def maze(n_envs=4, stack_size=2, **kwargs):
    bare = make_vec_env("adastack/PassiveTMaze-v0", n_envs, env_kwargs={"length": 4})
    return VecAdaptiveStack(bare, stack_size, padding_type="empty", **kwargs)


def pictures(action=None, **kwargs):
    return VecAdaptiveStack(DummyVecEnv([lambda: RandomEnv(PICTURES, action)] * 2), 2, **kwargs)


BOX = spaces.Box(-1, 2, (2,), np.float32)


def scored():
    return pictures(BOX, action_form="scores")


def cnn(**settings):
    """Settings with a network for images; fresh ones, for SB3 writes into them."""
    extractor = {
        "features_extractor_class": StackCnn,
        "features_extractor_kwargs": {"stack_size": 2},
    }
    return {"policy_kwargs": extractor, **settings}


SMALL = {"n_steps": 8, "batch_size": 8}
CASES = {
    "PPO": lambda: (PPO, "MlpPolicy", maze, SMALL),
    "net_arch": lambda: (
        PPO,
        "MlpPolicy",
        maze,
        {**SMALL, "policy_kwargs": {"net_arch": [8], "activation_fn": torch.nn.ReLU}},
    ),
    "transformer": lambda: (
        PPO,
        "MlpPolicy",
        maze,
        {**SMALL, "policy_kwargs": paper_policy(StackTransformer, 2)},
    ),
    "A2C hybrid": lambda: (
        A2C,
        HybridActorCriticPolicy,
        lambda: pictures(BOX, action_form="hybrid"),
        {"policy_kwargs": paper_policy(StackCnn, 2)},
    ),
    "DQN": lambda: (DQN, "MlpPolicy", maze, {"buffer_size": 10}),
    "QRDQN": lambda: (QRDQN, "MlpPolicy", maze, {"buffer_size": 10}),
    "SAC": lambda: (SAC, "MultiInputPolicy", scored, cnn(buffer_size=10)),
    "TD3": lambda: (TD3, "MultiInputPolicy", scored, cnn(buffer_size=10)),
    "sde": lambda: (
        PPO,
        "MultiInputPolicy",
        scored,
        cnn(use_sde=True, **SMALL),
    ),
    "RecurrentPPO": lambda: (
        RecurrentPPO,
        KeptLstmPolicy,
        maze,
        {**SMALL, "policy_kwargs": {"stack_size": 2}},
    ),
    "element": lambda: (
        PPO,
        "MlpPolicy",
        lambda: VecStack(
            DummyVecEnv([lambda: RandomEnv(BOX)]),
            3,
            rule="push_skip",
            padding_type=np.ones(2, np.float32),
        ),
        SMALL,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_policy_comes_back_as_it_was(name, tmp_path, monkeypatch):
    algorithm, policy, make, kwargs = CASES[name]()
    model = algorithm(policy, make(), seed=3, **kwargs)
    result = export_policy(tmp_path / "policy", model, make(), task="a test", episodes=3)
    assert result["episodes"] == 3

    def forbidden(*args, **kwargs):
        raise AssertionError("reading a policy must not unpickle")

    monkeypatch.setattr(pickle, "loads", forbidden)
    monkeypatch.setattr(pickle, "load", forbidden)
    monkeypatch.setattr(torch, "load", forbidden)
    loaded = load_policy(tmp_path / "policy", make())
    venv = loaded.wrap(make().venv)
    assert venv.observation_space == model.observation_space
    assert venv.action_space == model.action_space
    observations = venv.reset()
    expected, _ = model.predict(observations, deterministic=True)
    actions, _ = loaded.policy.predict(observations, deterministic=True)
    assert np.array_equal(actions, expected)
    assert evaluate_policy(loaded.policy, venv, 2, warn=False)


def test_the_card_tells_task_settings_result_and_shows_the_picture(tmp_path):
    model = PPO("MlpPolicy", maze(), n_steps=16, batch_size=16, learning_rate=0.002)
    result = export_policy(tmp_path / "p", model, maze(), task="T-maze of length 4", episodes=40)
    assert result["success"] == pytest.approx((result["mean_return"] + 1) / 2)
    card = (tmp_path / "p" / "README.md").read_text()
    for part in (
        "T-maze of length 4",
        "PPO, MlpPolicy",
        "stack_size 2",
        "| learning_rate | 0.002 |",
    ):
        assert part in card
    assert f"success {result['success']:g}" in card
    assert "](memory.png)" in card
    assert (tmp_path / "p" / "memory.png").read_bytes().startswith(b"\x89PNG")
    assert {file.name for file in (tmp_path / "p").iterdir()} == {
        "README.md",
        "memory.png",
        "policy.json",
        "policy.safetensors",
    }
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


@pytest.fixture
def folder(tmp_path):
    model = PPO("MlpPolicy", maze(), **SMALL)
    export_policy(tmp_path / "policy", model, maze(), task="T-maze", episodes=2)
    return tmp_path / "policy"


@pytest.mark.parametrize(
    ("venv", "message"),
    [
        (lambda: maze(stack_size=3), "expected stack_size 2, which the policy was trained with"),
        (lambda: maze(action_form="factored"), "expected action_form 'flat', which the policy"),
        (lambda: maze().venv, "expected environments with a memory of stack_size 2, actual: none"),
        (
            lambda: VecAdaptiveStack(make_vec_env("CartPole-v1"), 2, padding_type="empty"),
            "expected environments with observation_space",
        ),
    ],
)
def test_another_memory_than_the_trained_one_is_refused(folder, venv, message):
    with pytest.raises(ValueError, match=message) as caught:
        load_policy(folder, venv())
    assert "\n" not in str(caught.value)


def test_damage_is_found(folder):
    weights = folder / "policy.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(DamagedFileError, match="does not match its checksum"):
        load_policy(folder)
    weights.write_bytes(content)
    settings = folder / "policy.json"
    text = settings.read_text()
    for old, new in (('"policy": "MlpPolicy"', '"policy": "os.system"'), ('"n": 8', '"n": 9')):
        settings.write_text(text.replace(old, new))
        with pytest.raises(DamagedFileError, match="does not match its checksum"):
            load_policy(folder)
        # Also with a checksum that is right.
        body = json.loads(text.replace(old, new))
        del body["checksum"]
        write_json(settings, sealed(body))
        with pytest.raises(DamagedFileError, match="cannot be rebuilt"):
            load_policy(folder)
    body = json.loads(text)
    for wrong in ({}, {**body, "checksum": None}, {**body, "weights": None}):
        write_json(settings, wrong)
        with pytest.raises(DamagedFileError):
            load_policy(folder)
    del body["checksum"]
    for wrong in (body, sealed({**body, "weights": None}), sealed({**body, "format": "1"})):
        write_json(settings, wrong)
        with pytest.raises(DamagedFileError):
            load_policy(folder)
    settings.unlink()
    with pytest.raises(DamagedFileError, match=r"expected a folder with a policy\.json"):
        load_policy(folder)


@pytest.mark.parametrize(
    ("forge", "at_once"),
    [
        (lambda memory: memory.pop("padding_type"), True),
        (lambda memory: memory.update(stack_size=0), True),
        (lambda memory: memory.update(rule=3), True),
        (lambda memory: memory.update(more=1), True),
        (lambda memory: memory.update(padding_type=[]), False),
        (lambda memory: memory.update(padding_type=[None]), False),
        (lambda memory: memory.update(padding_type={}), False),
        (lambda memory: memory.update(action_form="odd"), False),
    ],
)
def test_a_forged_memory_is_refused(folder, forge, at_once):
    body = json.loads((folder / "policy.json").read_text())
    del body["checksum"]
    forge(body["memory"])
    write_json(folder / "policy.json", sealed(body))
    if at_once:
        with pytest.raises(DamagedFileError, match=r"memory|padding_type|stack_size|rule"):
            load_policy(folder)
    else:
        loaded = load_policy(folder)
        with pytest.raises(ValueError, match=r"\S"):
            loaded.wrap(maze().venv)


class OwnPolicy(ActorCriticPolicy):
    """A policy of a user's own."""


class OwnPPO(PPO):
    """An algorithm of a user's own."""


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: PPO(OwnPolicy, maze(), **SMALL), "a policy of your own cannot be rebuilt"),
        (lambda: OwnPPO("MlpPolicy", maze(), **SMALL), "expected an algorithm of"),
        (lambda: PPO("MlpPolicy", maze().venv, **SMALL), "trained over VecStack"),
        (lambda: PPO("MlpPolicy", VecNormalize(maze(), norm_obs=False), **SMALL), "VecNormalize"),
        (
            lambda: PPO(
                "MlpPolicy", maze(), policy_kwargs={"activation_fn": torch.nn.Hardtanh}, **SMALL
            ),
            "classes of",
        ),
    ],
)
def test_what_cannot_be_exported_leaves_nothing(model, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        export_policy(tmp_path / "policy", model(), maze(), task="T-maze", episodes=1)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(folder):
    model = PPO("MlpPolicy", maze(), **SMALL)
    with pytest.raises(ValueError, match="already exists"):
        export_policy(folder, model, maze(), task="T-maze", episodes=1)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(0, 255, (3, 4, 5), np.uint8),
        spaces.Box(np.float32([-1, -np.inf]), np.float32([0.1, np.inf])),
        spaces.Box(0, 1, (), np.float64),
        spaces.Discrete(4, start=-1),
        spaces.MultiDiscrete([[2, 3]], start=[[0, 1]]),
        spaces.MultiBinary((2, 3)),
        PICTURES,
    ],
)
def test_spaces_come_back_as_they_were(space):
    assert space_from_json(space_to_json(space)) == space
