"""rejax's PPO on a T-maze with the same layers."""

from __future__ import annotations

from collections.abc import Callable

import jax
from jax_tmaze import TMaze
from rejax import PPO
from worker import LAYERS, N_STEPS, Case, serve


def make(case: Case) -> Callable[[int], object]:
    """An agent whose turns are one program, without the evaluations between them."""
    env = TMaze()
    agent = PPO.create(
        env=env, env_params=env.default_params, num_envs=case.n_envs, num_steps=N_STEPS,
        num_epochs=case.n_epochs, num_minibatches=case.steps_per_update // case.batch_size,
        agent_kwargs={"hidden_layer_sizes": LAYERS, "activation": "tanh"},
        learning_rate=3e-4, total_timesteps=10**8, eval_freq=10**8,
    )  # fmt: skip
    state = agent.init_state(jax.random.key(0))
    turn = jax.jit(
        lambda state: jax.lax.fori_loop(0, case.turn, lambda _, s: agent.train_iteration(s), state)
    )

    def train(updates: int) -> None:
        nonlocal state
        state = turn(state)
        jax.block_until_ready(state)

    return train


serve(make)
