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
from adastack.deep.recurrent import begun_where
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
    agent: StackAgent, params: Params, stacks: Any, greedy: bool, rng: np.random.Generator,
    state: Any = None, begins: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Actions and memory actions of some weights for a batch of stacks of observations.

    Args:
        agent: The agent.
        params: Its weights.
        stacks: The stacks.
        greedy: Take the likeliest actions, or draw them.
        rng: Where they are drawn from.
        state: With a cell, what it has carried so far; None where all episodes begin.
        begins: (batch,): where an episode begins whatever the state says.

    Returns:
        Actions, memory actions, and with a cell its state after the step, else None.
    """
    leaves = leaves_of(agent.inputs.spec, agent.observation_space, stacks)
    carry = _carry(agent, len(leaves[0]), state, begins)
    if greedy:
        joined, carry = agent.greedy(params, leaves, carry=carry)
    else:
        draws = rng.integers(2**31, size=2).astype(np.int32)
        joined, carry = agent.act(params, leaves, *draws, carry=carry)
    action, memory_action = agent.split(np.asarray(joined))
    state = None if carry is None else np.asarray(carry)
    return env_action(agent.action_space, action), np.asarray(memory_action), state


def _carry(agent: StackAgent, n: int, state: Any, begins: Any) -> Any:
    first = agent.first_carry(n)
    if first is None or state is None:
        return first
    if np.shape(state) != first.shape:
        raise ValueError(f"expected a state of shape {first.shape}, actual: {np.shape(state)}")
    carry = jnp.asarray(state, first.dtype)
    if begins is None:
        return carry
    return begun_where(jnp.broadcast_to(jnp.asarray(begins, bool), n), carry)


def stack_act(agent: StackAgent, params: Params, env: Any) -> Act:
    """The likeliest actions of some weights, in an environment with the agent's spaces.

    Raises:
        ValueError: If the environment has other spaces.
    """
    check_spaces(
        (agent.observation_space, agent.action_space), (env.observation_space, env.action_space)
    )
    return StackAct(agent, params)


class StackAct:
    """An `Act` of a network; `begin` begins an episode where a cell carries a state."""

    def __init__(self, agent: StackAgent, params: Params) -> None:
        self._agent, self._params = agent, params
        # Where first stacks repeat their observation, so do the environment's own empty slots.
        self._padding = [] if agent.repeats else [empty for _, _, empty in agent.inputs.columns]
        self.begin()

    def begin(self) -> None:
        """Begins an episode."""
        self._carry = self._agent.first_carry(1)

    def __call__(self, stack: Any, ages: Any) -> tuple[Any, int]:
        """The action and the memory action for the next step of the episode."""
        agent, padding = self._agent, self._padding
        shown = leaves_of(agent.inputs.spec, agent.observation_space, stack)
        leaves = [leaf.copy() for leaf in shown]
        held, filled = np.asarray(ages) >= 0, None
        # A finite task's empty slots carry a symbol of their own: no ages come with them.
        if len(held):
            for leaf, empty in zip(leaves, padding, strict=bool(padding)):
                leaf[~held] = empty
            filled = np.array([held.sum()], np.int32)
        rows = [leaf[None] for leaf in leaves]
        joined, self._carry = agent.greedy(self._params, rows, filled, self._carry)
        action, memory_action = agent.split(np.asarray(joined))
        chosen: Any = env_action(agent.action_space, action)[0]
        return chosen, int(memory_action[0])
