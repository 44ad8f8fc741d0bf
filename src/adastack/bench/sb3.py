"""What a memory costs Stable-Baselines3: PPO with ours beside PPO with its own frame stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from adastack.bench.figure import Figure, interleaved, one_torch_thread
from adastack.extras import check_installed

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv

N_ENVS = 8
N_STEPS = 32
REPEATS = 61
STACK_SIZE = 4


def measure() -> list[Figure]:
    """The figure of the Stable-Baselines3 integration."""
    check_installed("stable_baselines3", extra="sb3")
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecFrameStack

    from adastack.integrations.sb3 import VecAdaptiveStack

    with one_torch_thread():
        times = interleaved(
            {
                "theirs": _training(VecFrameStack(make_vec_env("CartPole-v1", N_ENVS), STACK_SIZE)),
                "ours": _training(
                    VecAdaptiveStack(make_vec_env("CartPole-v1", N_ENVS), STACK_SIZE)
                ),
            },
            REPEATS,
        )
    return [
        Figure(
            f"SB3 PPO steps a second with VecAdaptiveStack({STACK_SIZE}) / with SB3's "
            f"VecFrameStack({STACK_SIZE}), CartPole, {N_ENVS} environments",
            times["theirs"] / times["ours"],
            "x",
            0.95,
        )
    ]


def _training(venv: VecEnv) -> Callable[[], object]:
    """One rollout and its update; a learning rate of 0 keeps both agents at the same play."""
    from stable_baselines3 import PPO

    model = PPO("MlpPolicy", venv, n_steps=N_STEPS, learning_rate=0.0, seed=0, device="cpu")
    return lambda: model.learn(N_ENVS * N_STEPS, reset_num_timesteps=False)
