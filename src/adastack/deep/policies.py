"""What networks have learned, as policies over stacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.agent import StackAgent
from adastack.deep.heads import joint_log_probs
from adastack.deep.spaces import check_spaces, env_action, leaves_of
from adastack.deep.update import Params
from adastack.process.policy import Act, StackPolicy, greedy_rows
from adastack.tasks.finite import Floats

LogProbabilities = Callable[[Any, Array], Array]
"""(weights, stacks) -> log-probabilities of the joint actions."""


def log_probabilities(
    outputs: Callable[[Any, Array], Array], n_actions: int, n_memory: int, form: str
) -> LogProbabilities:
    """The policy of any weights, compiled once for all of them.

    Args:
        outputs: (weights, stacks) -> what the heads are given.
        n_actions: The number of environment actions.
        n_memory: The number of memory actions.
        form: ``"factored"`` or ``"flat"``.
    """

    def compute(params: Any, stacks: Array) -> Array:
        return joint_log_probs(outputs(params, stacks), n_actions, n_memory, form)

    compiled: LogProbabilities = jax.jit(compute)
    return compiled


def stack_policy(log_probs: LogProbabilities, params: Params, greedy: bool) -> StackPolicy:
    """The policy of some weights: the likeliest joint action of each stack, or all chances."""

    def policy(stack: tuple[int, ...]) -> Floats:
        (row,) = np.asarray(log_probs(params, jnp.asarray([stack], jnp.int32)), np.float64)
        probabilities: Floats = np.exp(row)
        return greedy_rows(row) if greedy else probabilities

    return policy


def choose_actions(
    agent: StackAgent, params: Params, stacks: Any, greedy: bool, rng: np.random.Generator
) -> tuple[Any, Any]:
    """Actions and memory actions of some weights for a batch of stacks of observations."""
    leaves = leaves_of(agent.spec, agent.observation_space, stacks)
    if greedy:
        joined = agent.greedy(params, leaves)
    else:
        joined = agent.act(params, leaves, *rng.integers(2**31, size=2).astype(np.int32))
    action, memory_action = agent.split(np.asarray(joined))
    return env_action(agent.action_space, action), np.asarray(memory_action)


def stack_act(agent: StackAgent, params: Params, env: Any) -> Act:
    """The likeliest actions of some weights, in an environment with the agent's spaces.

    Raises:
        ValueError: If the environment has other spaces.
    """
    observations, actions = env.observation_space, env.action_space
    check_spaces((agent.observation_space, agent.action_space), (observations, actions))
    # Where first stacks repeat their observation, the environment's own empty slots do so too.
    padding = [] if agent.repeats else [empty for _, _, empty in agent.columns]

    def choose(stack: Any, ages: Any) -> tuple[Any, int]:
        leaves = [leaf.copy() for leaf in leaves_of(agent.spec, observations, stack)]
        held = np.asarray(ages) >= 0
        for leaf, empty in zip(leaves, padding, strict=bool(padding)):
            leaf[~held] = empty
        filled = np.array([held.sum()], np.int32)
        joined = np.asarray(agent.greedy(params, [leaf[None] for leaf in leaves], filled))
        action, memory_action = agent.split(joined)
        chosen: Any = env_action(actions, action)[0]
        return chosen, int(memory_action[0])

    return choose
