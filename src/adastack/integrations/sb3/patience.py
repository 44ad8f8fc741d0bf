"""Patience: a fresh model that keeps what it holds, until it learns what else to keep."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from torch import nn

from adastack.integrations.sb3.vec_stack import find_stack
from adastack.memory import Rule
from adastack.wrappers.actions import ActionForm, Flat, Scores

Model = TypeVar("Model", bound=BaseAlgorithm)


def patient(model: Model, patience: float = 3.0) -> Model:
    """Makes a fresh model evict the newest slot at first, so that older observations stay.

    A cue can pay only if it is kept for the whole delay, which a policy that evicts slots at random
    hardly ever does. The bias is in the logits of the memory action and is learned like any other
    weight.

    Args:
        model: A model with a policy of logits (PPO, A2C, TRPO, MaskablePPO, RecurrentPPO) that has
            not learned yet, over environments with a memory.
        patience: How much likelier, as a logit, the newest slot is to be evicted than another.

    Returns:
        The same model.

    Raises:
        ValueError: If the environments have no memory that the model chooses about, or the model
            has no logits for it.

    Example:
        >>> from stable_baselines3 import PPO
        >>> from stable_baselines3.common.env_util import make_vec_env
        >>> from adastack.integrations.sb3 import VecAdaptiveStack, patient
        >>> model = patient(PPO("MlpPolicy", VecAdaptiveStack(make_vec_env("CartPole-v1"), 2)))
        >>> model.policy.action_net.bias.tolist()  # of (left, right) x (oldest, newest slot)
        [0.0, 0.0, 3.0, 3.0]
    """
    form, rule, stack_size = _memory_of(model)
    layer = getattr(model.policy, "action_net", None)
    if isinstance(form, Scores) or not isinstance(layer, nn.Linear):
        raise ValueError(
            f"patient expects a policy with logits for the slots, such as PPO's with another "
            f"action_form than 'scores', actual: {type(model).__name__}"
        )
    keeps = np.flatnonzero(rule.table(stack_size)[:, -1] == stack_size - 1)
    n_env = layer.out_features // form.n_memory if isinstance(form, Flat) else 1
    first = layer.out_features - form.n_memory * n_env
    rows = first + (keeps[:, None] * n_env + np.arange(n_env)).ravel()
    with torch.no_grad():
        layer.bias[torch.as_tensor(rows)] += patience
    return model


def _memory_of(model: BaseAlgorithm) -> tuple[ActionForm, Rule, int]:
    """The memory of a model's environments, around them or inside."""
    venv: Any = model.get_env()
    stack = None if venv is None else find_stack(venv)
    if stack is not None and not stack.rule.passive:
        return stack.action_form, stack.rule, stack.stack_size
    if stack is None and venv is not None and venv.has_attr("action_form"):
        names = ("action_form", "rule", "stack_size")
        form, rule, stack_size = (venv.get_attr(name, 0)[0] for name in names)
        if not rule.passive:
            return form, rule, stack_size
    raise ValueError(
        "patient expects environments with a memory whose slots are chosen, such as "
        "VecAdaptiveStack(venv, 2), actual: none"
    )
