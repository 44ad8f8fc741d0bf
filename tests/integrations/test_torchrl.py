"""The TorchRL transform must do what the Gymnasium wrapper does, and learn the probe."""

from copy import deepcopy

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("torchrl")

import torch
from gymnasium import spaces
from tensordict import TensorDict
from tensordict.nn import (
    CompositeDistribution,
    InteractionType,
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
    set_composite_lp_aggregate,
    set_interaction_type,
)
from torchrl.envs import GymWrapper, SerialEnv, TransformedEnv
from torchrl.envs.utils import check_env_specs
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import adastack  # noqa: F401
from adastack.integrations.support import SUPPORT
from adastack.integrations.torchrl import StackTransform, push
from adastack.wrappers import MemoryStack
from spaces import RandomEnv

K = 3
OBSERVATIONS = {
    "vector": spaces.Box(-1, 1, (4,), np.float32),
    "image": spaces.Box(0, 255, (5, 4, 3), np.uint8),
    "symbol": spaces.Discrete(5),
    "Dict": spaces.Dict(
        {"speed": spaces.Box(-1, 1, (2,), np.float32), "symbol": spaces.Discrete(3)}
    ),
}
KEYS = {"image": ["pixels"], "Dict": ["speed", "symbol"]}
ACTIONS = {
    "Discrete": spaces.Discrete(3),
    "MultiDiscrete": spaces.MultiDiscrete([2, 3]),
    "MultiBinary": spaces.MultiBinary(2),
    "Box": spaces.Box(-1, 1, (2,), np.float32),
}
(SUPPORTED,) = (row for row in SUPPORT if row.library == "TorchRL")


def bare(observation="vector", action="Discrete", stop=0.2):
    env = RandomEnv(deepcopy(OBSERVATIONS[observation]), deepcopy(ACTIONS[action]), stop)
    return GymWrapper(env, categorical_action_encoding=True)


@pytest.mark.parametrize("padding_type", ["reset", "zero"])
@pytest.mark.parametrize("rule", ["adaptive", "frame", "push_skip"])
@pytest.mark.parametrize("observation", SUPPORTED.observations)
@pytest.mark.parametrize("action", SUPPORTED.forms)
def test_specs_hold(observation, action, rule, padding_type):
    keys = KEYS.get(observation, ["observation"])
    transform = StackTransform(K, rule=rule, padding_type=padding_type, in_keys=keys)
    check_env_specs(TransformedEnv(bare(observation, action), transform), seed=0)


def test_inside_and_outside_of_a_batch():
    inside = SerialEnv(2, lambda: TransformedEnv(bare(), StackTransform(K)))
    outside = TransformedEnv(SerialEnv(2, bare), StackTransform(K))
    for env in (inside, outside):
        check_env_specs(env, seed=0)
        assert env.rollout(5, break_when_any_done=False)["observation"].shape == (2, 5, K, 4)


@pytest.mark.parametrize("rule", ["adaptive", "frame", "push_skip"])
@pytest.mark.parametrize("padding_type", ["reset", "zero"])
def test_steps_equal_those_of_the_wrapper(rule, padding_type):
    """The same environment and actions, episodes of different lengths and partial resets."""
    transform = StackTransform(K, rule=rule, padding_type=padding_type)
    envs = TransformedEnv(SerialEnv(3, bare), transform)
    envs.reset()
    seeds = record_seeds(envs)
    data = envs.rollout(80, break_when_any_done=False)
    assert data["next", "done"].sum() > 6
    for index, seed in enumerate(seeds):
        single = MemoryStack(
            RandomEnv(deepcopy(OBSERVATIONS["vector"]), ACTIONS["Discrete"], 0.2),
            K,
            rule=rule,
            padding_type=padding_type,
        )
        follow(single, seed, data[index])


def record_seeds(envs):
    """Seeds the environments anew, each with a seed that is known."""
    seeds = [101, 102, 103]
    for env, seed in zip(envs.base_env._envs, seeds, strict=True):
        env.set_seed(seed)
    return seeds


def follow(single, seed, data):
    """Plays the recorded actions in one Gymnasium environment and compares every step."""
    single.reset(seed=seed)  # TorchRL seeds an environment by a reset of its own
    observation, info = single.reset()
    for step in data:
        assert np.array_equal(step["observation"].numpy(), observation)
        assert np.array_equal(step["slot_ages"].numpy(), info["slot_ages"])
        action = int(step["action"])
        if "memory_action" in step.keys():  # noqa: SIM118
            action = [action, int(step["memory_action"])]
        observation, reward, terminated, truncated, info = single.step(action)
        assert np.array_equal(step["next", "observation"].numpy(), observation)
        assert np.array_equal(step["next", "slot_ages"].numpy(), info["slot_ages"])
        assert step["next", "reward"].item() == pytest.approx(reward)
        if terminated or truncated:
            observation, info = single.reset()


def test_push_takes_the_named_slot_out_of_every_stack():
    generator = np.random.default_rng(0)
    stack = torch.zeros(2, 5, K, dtype=torch.int64)
    lists = [[[0] * K for _ in range(5)] for _ in range(2)]
    for step in range(1, 40):
        slot = generator.integers(K, size=(2, 5))
        stack = push(stack, torch.as_tensor(slot), torch.full((2, 5), step))
        for i in range(2):
            for j in range(5):
                lists[i][j] = [*lists[i][j][: slot[i, j]], *lists[i][j][slot[i, j] + 1 :], step]
        assert stack.tolist() == lists


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stack_size": 0}, "stack_size must be at least 1"),
        ({"stack_size": 2, "rule": "best"}, "expected a memory rule"),
        ({"stack_size": 2, "padding_type": "ones"}, "padding_type must be one of"),
    ],
)
def test_bad_arguments_are_one_clear_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        StackTransform(**arguments)


def test_a_second_memory_and_a_bad_memory_action_are_refused():
    env = TransformedEnv(bare(), StackTransform(K))
    data = env.rand_action(env.reset())
    data["memory_action"] = torch.tensor(K)
    with pytest.raises(ValueError, match=r"memory action must be in 0\.\.2, actual: 3"):
        env.step(data)
    with pytest.raises(ValueError, match="expected an environment without a memory"):
        check_env_specs(env.append_transform(StackTransform(2)))
    with pytest.raises(ValueError, match="in_keys must be observations of"):
        check_env_specs(TransformedEnv(bare(), StackTransform(K, in_keys=["pixels"])))
    with pytest.raises(TypeError, match="in a TransformedEnv"):
        StackTransform(K)(TensorDict())


def mazes(n_envs):
    """The probe, many at once: TorchRL resets those that are done."""
    envs = gym.make_vec(
        "adastack/PassiveTMaze-v0",
        num_envs=n_envs,
        vectorization_mode="vector_entry_point",
        autoreset_mode="Disabled",
        length=3,
    )
    return GymWrapper(envs, categorical_action_encoding=True)


def networks(heads):
    """An actor with one categorical for each choice, and a critic, over one-hot symbols."""

    def body(n_outputs, gain):
        layers = [torch.nn.Linear(n, m) for n, m in ((10, 64), (64, 64), (64, n_outputs))]
        for layer, scale in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
            torch.nn.init.orthogonal_(layer.weight, scale)
            torch.nn.init.zeros_(layer.bias)
        first, second, last = layers
        return torch.nn.Sequential(first, torch.nn.Tanh(), second, torch.nn.Tanh(), last)

    class Actor(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = body(sum(heads.values()), 0.01)

        def forward(self, symbols):
            return self.body(one_hot(symbols)).split(list(heads.values()), dim=-1)

    class Critic(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = body(1, 1.0)

        def forward(self, symbols):
            return self.body(one_hot(symbols))

    actor = ProbabilisticTensorDictSequential(
        TensorDictModule(Actor(), ["observation"], [("params", name, "logits") for name in heads]),
        ProbabilisticTensorDictModule(
            in_keys=["params"],
            out_keys=list(heads),
            distribution_class=CompositeDistribution,
            distribution_kwargs={
                "distribution_map": dict.fromkeys(heads, torch.distributions.Categorical)
            },
            default_interaction_type=InteractionType.RANDOM,
            return_log_prob=True,
        ),
    )
    return actor, TensorDictModule(Critic(), ["observation"], ["state_value"])


def one_hot(symbols):
    return torch.nn.functional.one_hot(symbols, 5).float().flatten(-2)


def train(rule, seed=0, updates=4, n_envs=64, n_steps=20):
    """PPO with TorchRL's own advantage and loss; returns the success of the greedy policy."""
    torch.manual_seed(seed)
    env = TransformedEnv(mazes(n_envs), StackTransform(2, rule=rule))
    env.set_seed(seed)
    heads = {"action": 4, "memory_action": 2} if rule == "adaptive" else {"action": 4}
    actor, critic = networks(heads)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.03, normalize_advantage=True)
    loss.set_keys(action=list(heads), sample_log_prob=[f"{name}_log_prob" for name in heads])
    advantage = GAE(gamma=0.99, lmbda=1.0, value_network=critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=3e-3)
    for _ in range(updates):
        with torch.no_grad():
            data = env.rollout(n_steps, actor, break_when_any_done=False)
        for _ in range(8):
            advantage(data)
            for batch in data.reshape(-1)[torch.randperm(data.numel())].split(320):
                losses = loss(batch)
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                total.sum().backward()
                torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
    with torch.no_grad(), set_interaction_type(InteractionType.DETERMINISTIC):
        data = env.rollout(40, actor, break_when_any_done=False)
    rewards = data["next", "reward"][data["next", "done"]]
    return (rewards > 0).float().mean().item()


@pytest.mark.slow
def test_kept_observations_solve_the_probe_and_the_last_ones_do_not():
    with set_composite_lp_aggregate(False):
        assert train("adaptive") >= 0.95
        assert 0.35 < train("frame") < 0.65
