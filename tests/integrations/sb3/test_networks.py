"""The networks have the paper's sizes and read every slot; hybrid log-probabilities are exact."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch
from gymnasium import spaces
from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.type_aliases import RNNStates
from scipy import stats
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.preprocessing import preprocess_obs
from stable_baselines3.common.vec_env import DummyVecEnv

from adastack.integrations.sb3 import (
    HybridActorCriticPolicy,
    KeptLstmPolicy,
    StackCnn,
    StackLstm,
    StackMlp,
    StackTransformer,
    VecAdaptiveStack,
    paper_policy,
)
from adastack.wrappers import AdaptiveStack
from spaces import RandomEnv

NETS = [StackMlp, StackLstm, StackTransformer]
K = 3
IMAGE = spaces.Box(0, 255, (12, 10, 2), np.uint8)
SINGLE = {
    "vector": spaces.Box(-1, 1, (4,), np.float32),
    "matrix": spaces.Box(-1, 1, (2, 3), np.float32),
    "discrete": spaces.Discrete(5),
    "image": IMAGE,
    "large_image": spaces.Box(0, 255, (40, 44, 3), np.uint8),
    "dict": spaces.Dict({"view": IMAGE, "speed": spaces.Box(-1, 1, (3,), np.float32)}),
}
SLOT_SIZE = {"vector": 4, "matrix": 6, "discrete": 5, "image": 240}


def stacked(name, batch=6):
    """Stacks of random observations as VecStack shows them, and their space."""
    venv = VecAdaptiveStack(DummyVecEnv([lambda: RandomEnv(SINGLE[name], stop=0)] * batch), K)
    venv.seed(0)
    venv.reset()
    venv.action_space.seed(0)
    for _ in range(6):
        observations, *_ = venv.step(np.array([venv.action_space.sample() for _ in range(batch)]))
    return venv.observation_space, tensors(observations)


def tensors(observations):
    if isinstance(observations, dict):
        return {key: torch.as_tensor(value) for key, value in observations.items()}
    return torch.as_tensor(observations)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("net", [*NETS, StackCnn])
def test_every_network_reads_every_observation(net, name):
    if net is StackCnn and name in ("vector", "matrix", "discrete"):
        return
    space, observations = stacked(name)
    torch.manual_seed(0)
    features = net(space, K)(preprocess_obs(observations, space))
    assert features.shape == (6, 128)
    assert not torch.allclose(features[0], features[1])


@pytest.mark.parametrize("name", SLOT_SIZE)
def test_the_sizes_are_the_paper_s(name):
    space, _ = stacked(name)
    n, h = SLOT_SIZE[name], 128
    assert count(StackMlp(space, K)) == (K * n + 1) * h + 2 * (h + 1) * h
    if name != "image":
        embedding = (n + 1) * h
        assert count(StackLstm(space, K)) == embedding + 4 * h * (2 * h + 2)
        layer = 4 * h * (h + 1) + (h + 1) * 256 + (256 + 1) * h + 4 * h
        assert count(StackTransformer(space, K)) == embedding + K * h + 2 * layer + 2 * h


@pytest.mark.parametrize("net", NETS)
def test_every_slot_is_read_and_their_order_matters(net):
    space = spaces.Box(-1, 1, (K * 4,), np.float32)
    torch.manual_seed(1)
    module = net(space, K)
    observations = torch.randn(2, K * 4, requires_grad=True)
    module(observations).square().sum().backward()
    assert (observations.grad.reshape(2, K, 4).abs().amax(dim=2) > 1e-6).all()
    turned = observations.reshape(2, K, 4).flip(1).reshape(2, -1)
    assert not torch.allclose(module(turned), module(observations), atol=1e-4)


@pytest.mark.parametrize("net", NETS)
def test_slots_on_an_axis_of_their_own_are_read_alike(net):
    """The single wrappers stack on a leading axis, VecStack joins: the same network either way."""
    torch.manual_seed(2)
    joined = net(spaces.Box(-1, 1, (K * 4,), np.float32), K)
    apart = net(spaces.Box(-1, 1, (K, 4), np.float32), K)
    apart.load_state_dict(joined.state_dict())
    slots = torch.randn(5, K, 4)
    assert torch.equal(apart(slots), joined(slots.reshape(5, -1)))


def test_images_are_encoded_one_slot_at_a_time_with_shared_weights():
    space, observations = stacked("image")
    encoder = StackCnn(space, K).encoder
    images = observations.float() / 255
    encoded = encoder(images)
    turned = encoder(torch.cat([images[:, 4:], images[:, :2], images[:, 2:4]], dim=1))
    assert torch.allclose(turned, encoded[:, [2, 0, 1]], atol=1e-6)


def test_the_lstm_is_a_recurrence_over_the_slots():
    torch.manual_seed(3)
    net = StackLstm(spaces.Box(-1, 1, (K * 4,), np.float32), K)
    slots = torch.randn(5, K, 4)
    cell = torch.nn.LSTMCell(128, 128)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(cell, name).data = getattr(net.lstm, f"{name}_l0").data
    hidden = carried = torch.zeros(5, 128)
    for slot in range(K):
        hidden, carried = cell(net.embed(slots[:, slot]), (hidden, carried))
    assert torch.allclose(net(slots.reshape(5, -1)), hidden, atol=1e-6)


@pytest.mark.parametrize(
    ("net", "space", "message"),
    [
        (StackCnn, spaces.Box(-1, 1, (6,), np.float32), "StackCnn expects an image"),
        (StackLstm, spaces.Box(-1, 1, (7,), np.float32), "expected a stack of 3 observations"),
        (StackCnn, spaces.Box(0, 255, (4, 20, 20), np.uint8), "expected a stack of 3 observations"),
        (StackMlp, spaces.Text(4), "expected observations of Box"),
    ],
)
def test_a_misfit_is_one_clear_error(net, space, message):
    with pytest.raises(ValueError, match=message):
        net(space, K)


@pytest.mark.parametrize("space", ["vector", "image", "dict"])
def test_another_number_of_slots_than_the_environments_have_is_refused(space):
    venv = VecAdaptiveStack(DummyVecEnv([lambda: RandomEnv(SINGLE[space])]), 4)
    StackMlp(venv.observation_space, 4)
    with pytest.raises(ValueError, match=r"expected stack_size 4.*actual: 2"):
        StackMlp(venv.observation_space, 2)


@pytest.mark.parametrize("net", NETS)
def test_networks_work_over_single_wrappers(net):
    env = AdaptiveStack(RandomEnv(SINGLE["vector"]), K)
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=8, policy_kwargs=paper_policy(net, K))
    model.learn(8)
    assert count(model.policy) == 2 * count(net(env.observation_space, K)) + 129 * 7


def hybrid(algorithm=PPO, n_envs=4, **kwargs):
    venv = VecAdaptiveStack(make_vec_env("Pendulum-v1", n_envs), K, action_form="hybrid")
    return algorithm(HybridActorCriticPolicy, venv, n_steps=8, seed=0, **kwargs)


def scipy_log_prob(policy, observations, actions):
    """Log-probabilities of hybrid actions from the network's outputs, by scipy."""
    with torch.no_grad():
        latent = policy.mlp_extractor.forward_actor(policy.extract_features(observations))
        outputs = policy.action_net(latent).double().numpy()
    deviations = np.exp(policy.log_std.detach().double().numpy())
    means, logits = outputs[:, :-K], outputs[:, -K:]
    normal = stats.norm.logpdf(actions[:, :-1], means, deviations).sum(axis=1)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return normal + np.log(chances[np.arange(len(actions)), actions[:, -1].astype(int)]), chances


def test_hybrid_log_probabilities_and_entropies_are_exact():
    policy = hybrid(batch_size=8).policy
    torch.manual_seed(5)
    for parameter in policy.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    observations = torch.randn(64, 9)
    with torch.no_grad():
        actions, _, log_probs = policy(observations)
    expected, chances = scipy_log_prob(policy, observations, actions.double().numpy())
    assert np.allclose(log_probs.numpy(), expected, atol=1e-4)
    _, again, entropies = policy.evaluate_actions(observations, actions)
    assert torch.allclose(again, log_probs)
    deviation = np.exp(policy.log_std.item())
    wanted = stats.norm(scale=deviation).entropy() + stats.entropy(chances, axis=1)
    assert np.allclose(entropies.detach().numpy(), wanted, atol=1e-4)


def test_hybrid_samples_follow_their_distribution():
    policy = hybrid(batch_size=8).policy
    torch.manual_seed(6)
    policy.action_net.bias.data = torch.tensor([0.7, 0.0, 1.0, -1.0])
    policy.action_net.weight.data *= 0
    actions = policy(torch.zeros(20_000, 9))[0].detach().numpy()
    slots = np.bincount(actions[:, 1].astype(int), minlength=K)
    chances = np.exp([0, 1, -1]) / np.exp([0, 1, -1]).sum()
    assert stats.chisquare(slots, 20_000 * chances).pvalue > 1e-4
    assert stats.kstest(actions[:, 0], stats.norm(0.7, 1).cdf).pvalue > 1e-4
    mode = policy(torch.zeros(1, 9), deterministic=True)[0]
    assert mode.detach().numpy() == pytest.approx(np.array([[0.7, 1.0]]))


@pytest.mark.parametrize("algorithm", [PPO, A2C])
def test_hybrid_actions_keep_their_log_probability_through_the_buffer(algorithm):
    """With one epoch and no step taken yet, new and old log-probabilities must agree."""
    model = hybrid(algorithm, **({"batch_size": 32} if algorithm is PPO else {}))
    _, callback = model._setup_learn(32)
    model.collect_rollouts(model.env, callback, model.rollout_buffer, 8)
    data = next(model.rollout_buffer.get(32))
    assert set(data.actions[:, -1].tolist()) == {0.0, 1.0, 2.0}
    _, log_probs, _ = model.policy.evaluate_actions(data.observations, data.actions)
    assert torch.allclose(log_probs, data.old_log_prob, atol=1e-5)
    model.train()


def test_the_hybrid_policy_refuses_what_it_cannot_do():
    from sb3_contrib import TRPO

    with pytest.raises(ValueError, match="HybridActorCriticPolicy expects VecStack"):
        PPO(HybridActorCriticPolicy, "Pendulum-v1")
    with pytest.raises(ValueError, match="expects use_sde=False"):
        hybrid(batch_size=8, use_sde=True)
    with pytest.raises(TypeError, match="HybridActorCriticPolicy expects PPO or A2C"):
        hybrid(TRPO, batch_size=8).learn(32)


def kept_lstm():
    venv = VecAdaptiveStack(make_vec_env("CartPole-v1", 4), K)
    return RecurrentPPO(
        KeptLstmPolicy,
        venv,
        n_steps=16,
        batch_size=32,
        n_epochs=2,
        seed=0,
        policy_kwargs={"stack_size": K},
    )


def test_recurrence_over_what_was_kept_carries_no_state():
    policy = kept_lstm().policy
    observations = torch.randn(4, K * 4)
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        state = (torch.randn(1, 4, 128), torch.randn(1, 4, 128))
        starts = torch.randint(0, 2, (4,)).float()
        results.append(policy.predict_values(observations, state, starts))
        distribution, _ = policy.get_distribution(observations, state, starts)
        results.append(distribution.distribution.logits)
    assert torch.equal(results[0], results[2])
    assert torch.equal(results[1], results[3])


def test_recurrence_over_what_was_kept_is_the_stack_lstm():
    policy = kept_lstm().policy
    net = StackLstm(policy.observation_space, K)
    net.embed.load_state_dict(policy.pi_features_extractor.embed.state_dict())
    net.lstm.load_state_dict(policy.lstm_actor.state_dict())
    observations = torch.randn(7, K * 4)
    state = (torch.zeros(1, 7, 128), torch.zeros(1, 7, 128))
    distribution, _ = policy.get_distribution(observations, state, torch.zeros(7))
    logits = policy.action_net(net(observations))
    expected = logits - logits.logsumexp(dim=1, keepdim=True)
    assert torch.allclose(distribution.distribution.logits, expected, atol=1e-5)


def test_recurrence_trains_saves_and_loads(tmp_path):
    model = kept_lstm()
    before = model.policy.lstm_actor.weight_ih_l0.clone()
    model.learn(64)
    assert not torch.equal(before, model.policy.lstm_actor.weight_ih_l0)
    model.save(tmp_path / "model")
    again = RecurrentPPO.load(tmp_path / "model")
    observations = np.random.default_rng(0).normal(size=(4, K * 4)).astype(np.float32)
    assert np.array_equal(
        again.predict(observations, deterministic=True)[0],
        model.predict(observations, deterministic=True)[0],
    )
    states = RNNStates(*[(torch.zeros(1, 4, 128),) * 2] * 2)
    values, log_probs, entropy = model.policy.evaluate_actions(
        torch.as_tensor(observations), torch.zeros(4), states, torch.zeros(4)
    )
    assert values.shape == (4, 1)
    assert log_probs.shape == entropy.shape == (4,)
