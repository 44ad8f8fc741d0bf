"""What a network decides, as a policy over stacks that `adastack.process.evaluation` plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.heads import joint_log_probs
from adastack.deep.networks import ActorCritic, act
from adastack.process.stacks import Decide
from adastack.tasks.finite import Floats

LogChances = Callable[[Any, Array], Array]
"""(weights, stacks) -> log-probabilities of the joint actions."""


def log_chances(net: ActorCritic, n_actions: int, n_memory: int, form: str) -> LogChances:
    """The policy of any weights of a network, compiled once for all of them."""

    def compute(params: Any, stacks: Array) -> Array:
        return joint_log_probs(act(net, params, stacks), n_actions, n_memory, form)

    compiled: LogChances = jax.jit(compute)
    return compiled


def policy_of(log_chances: LogChances, params: Any, greedy: bool) -> Decide:
    """The policy of some weights: the likeliest joint action of each stack, or all chances."""

    def decide(stack: tuple[int, ...]) -> Floats:
        (row,) = np.asarray(log_chances(params, jnp.asarray([stack], jnp.int32)), np.float64)
        best: Floats = np.eye(len(row))[row.argmax()]
        chances: Floats = np.exp(row)
        return best if greedy else chances

    return decide
