"""memorax's PPO on a T-maze: the same layers, then the same cell."""

from __future__ import annotations

from collections.abc import Callable

import flax.linen as nn
import jax
import optax
from jax_tmaze import TMaze
from memorax.algorithms import PPO
from memorax.algorithms.ppo import PPOConfig
from memorax.networks import MLP, FeatureExtractor, Identity, Network, heads
from memorax.networks.sequence_models import RNN, SequenceModelWrapper
from worker import LAYERS, N_STEPS, Case, serve

CELLS = {"gru": nn.GRUCell, "lstm": nn.OptimizedLSTMCell}


def make(case: Case) -> Callable[[int], object]:
    """An agent whose turns are one program."""
    env = TMaze()

    def network(head: nn.Module) -> Network:
        cell = CELLS.get(case.cell)
        torso = SequenceModelWrapper(Identity()) if cell is None else RNN(cell=cell(LAYERS[-1]))
        layers = FeatureExtractor(observation_extractor=MLP(features=LAYERS, activation=nn.tanh))
        return Network(feature_extractor=layers, torso=torso, head=head)

    def optimiser() -> optax.GradientTransformation:
        return optax.chain(optax.clip_by_global_norm(0.5), optax.adam(3e-4, eps=1e-5))

    config = PPOConfig(
        name="ppo", num_envs=case.n_envs, num_eval_envs=1, num_steps=N_STEPS, gamma=0.99,
        gae_lambda=0.95, num_minibatches=case.steps_per_update // case.batch_size,
        update_epochs=case.n_epochs, normalize_advantage=True, clip_coef=0.2, clip_vloss=False,
        ent_coef=0.0, vf_coef=0.5,
    )  # fmt: skip
    agent = PPO(
        cfg=config, env=env, env_params=env.default_params,
        actor_network=network(heads.Categorical(action_dim=4)),
        critic_network=network(heads.VNetwork()),
        actor_optimizer=optimiser(), critic_optimizer=optimiser(),
    )  # fmt: skip
    key, state = agent.init(jax.random.key(0))

    def train(updates: int) -> None:
        nonlocal key, state
        key, state, _ = agent.train(key, state, updates * case.steps_per_update)
        jax.block_until_ready(state)

    return train


serve(make)
