"""Adaptive stacking for Stable-Baselines3 and sb3-contrib.

Example:
    >>> from stable_baselines3 import PPO
    >>> from stable_baselines3.common.env_util import make_vec_env
    >>> from adastack.integrations.sb3 import VecAdaptiveStack
    >>> venv = VecAdaptiveStack(make_vec_env("CartPole-v1", n_envs=4), 2)
    >>> model = PPO("MlpPolicy", venv).learn(1000)  # doctest: +SKIP
"""

from adastack.extras import check_installed

check_installed("stable_baselines3", "sb3_contrib", "matplotlib", "safetensors", extra="sb3")

from adastack.integrations.sb3.actions import HybridBox, action_form_for
from adastack.integrations.sb3.callbacks import MemoryCallback, MlflowCallback, WandbCallback
from adastack.integrations.sb3.export import LoadedPolicy, export_policy, load_policy
from adastack.integrations.sb3.extractors import (
    StackCnn,
    StackLstm,
    StackMlp,
    StackTransformer,
    paper_policy,
)
from adastack.integrations.sb3.hybrid import HybridActorCriticPolicy
from adastack.integrations.sb3.patience import patient
from adastack.integrations.sb3.recurrent import KeptLstmPolicy
from adastack.integrations.sb3.vec_stack import VecAdaptiveStack, VecStack

__all__ = [
    "HybridActorCriticPolicy",
    "HybridBox",
    "KeptLstmPolicy",
    "LoadedPolicy",
    "MemoryCallback",
    "MlflowCallback",
    "StackCnn",
    "StackLstm",
    "StackMlp",
    "StackTransformer",
    "VecAdaptiveStack",
    "VecStack",
    "WandbCallback",
    "action_form_for",
    "export_policy",
    "load_policy",
    "paper_policy",
    "patient",
]
