"""sb3-contrib's RecurrentPPO on a T-maze; its LSTM comes before the layers."""

from __future__ import annotations

from collections.abc import Callable

import torch
from sb3_contrib import RecurrentPPO
from stable_baselines3.common.env_util import make_vec_env
from tmaze import TMaze
from worker import LAYERS, N_STEPS, Case, serve


def make(case: Case) -> Callable[[int], object]:
    """A model that goes on with its training at each turn."""
    torch.set_num_threads(1)
    model = RecurrentPPO(
        "MlpLstmPolicy", make_vec_env(TMaze, case.n_envs), n_steps=N_STEPS,
        batch_size=case.batch_size, n_epochs=case.n_epochs, device="cpu",
        policy_kwargs={"net_arch": list(LAYERS), "lstm_hidden_size": LAYERS[-1]},
    )  # fmt: skip
    return lambda updates: model.learn(updates * case.steps_per_update, reset_num_timesteps=False)


serve(make)
