"""Training over M_k for networks with a cell.

The inputs of the cell are a function of the stack alone, so they can be looked up by agent state.
The cell itself runs step by step in the rollout, and over whole sequences in the update.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from adastack.deep.finite import FiniteTrainer, Learner
from adastack.deep.finite_envs import EnvState, Steps
from adastack.deep.finite_network import FiniteNetwork
from adastack.deep.networks import read_prefixes, read_stacks
from adastack.deep.recurrent import cell_inputs, stepped, unrolled
from adastack.deep.update import Evaluation, Params

MOST_STATES = 2
"""Agent states per hidden unit up to which looking up is less work than the stack network."""


class RecurrentFiniteNetwork(FiniteNetwork):
    """A stack network, evaluated by table or row by row, and a cell above it."""

    def _tabulated(self) -> bool:
        """Whether the stack network is evaluated on all agent states at once."""
        few = self.induced.n_agent_states <= MOST_STATES * self.settings.hidden
        return super()._tabulated() and (few or bool(self.settings.tables))

    def input_table(self, params: Params) -> Array:
        """(towers, agent states, n): what the cell is given of every agent state."""
        if self.prefixes is None:
            return self.inputs_of(params, self.stacks)
        return cell_inputs(self.net, params, read_prefixes(self.net, params, self.prefixes))

    def inputs_of(self, params: Params, stacks: Array) -> Array:
        """(towers, stacks, n): what the cell is given of stacks."""
        read = read_stacks(self.net, params, stacks, self._filled(stacks))
        return cell_inputs(self.net, params, read)

    def unrolled(self, params: Params, at: Any) -> tuple[Array, Array]:
        """Outputs and values of sequences: agent states, the carry before, where episodes begin."""
        agent, carry, begins = at
        agent = agent.reshape(-1)
        if self.tabulated:
            table = self.input_table(params)
            # As in `FiniteNetwork._rows`, a product that looks up.
            inputs = jnp.einsum("rs,psn->prn", jax.nn.one_hot(agent, table.shape[1]), table)
        else:
            inputs = self.inputs_of(params, self.stacks[agent])
        return unrolled(self.net, params, inputs, carry, begins)

    def evaluate(self, params: Params, agent: Any, joint: Array) -> Evaluation:
        """Log-probabilities, entropies and values of sequences; see `unrolled`."""
        return self.evaluation(*self.unrolled(params, agent), joint)


class RecurrentFiniteTrainer(FiniteTrainer):
    """PPO or GRPO on a finite task with a memory and a cell."""

    make_network = RecurrentFiniteNetwork
    network: RecurrentFiniteNetwork

    def rollouts(self, learner: Learner, keys: Array) -> tuple[None, EnvState, Steps]:
        """A rollout of every seed; no table serves the update."""
        found = jax.lax.map(lambda one: self.rollout(*one), (learner.params, learner.env, keys))
        env: EnvState = found[0]
        return None, env, found[1]

    def rollout(self, params: Params, env: EnvState, key: Array) -> tuple[EnvState, Steps]:
        """Steps of all environments of one seed."""
        network = self.network
        table = network.input_table(params) if network.tabulated else None

        def inputs(agent: Array) -> Array:
            if table is None:
                return network.inputs_of(params, network.stacks[agent])
            return table[:, agent]

        def rows(agent: Array, carry: Any) -> tuple[Array, Any]:
            outputs, _, carry = stepped(network.net, params, inputs(agent), carry)
            return self.envs.policy_rows(outputs), carry

        def cut_off(agent: Array, carry: Any, cut: Array) -> Array:
            none = jnp.zeros(len(cut))
            if not self._bootstraps:
                return none

            def values() -> Array:
                found = stepped(network.net, params, inputs(agent), carry)[1]
                return jnp.where(cut, found, 0.0)

            found: Array = jax.lax.cond(cut.any(), values, lambda: none)
            return found

        return self.envs.rollout(rows, env, key, cut_off)

    @property
    def _bootstraps(self) -> bool:
        """Whether there is a time limit that does not count as an end."""
        limit = self.task.time_limit is not None and not self.task.continual
        return limit and self.settings.critic and not self.settings.limits_end

    def _as_rolled_out(
        self, params: Params, table: Any, steps: Steps, last_agent: Array, carry: Any
    ) -> tuple[Any, Evaluation, Array]:
        over, n = self.envs.episode_over(steps.over), steps.agent.size
        begins = jnp.concatenate([jnp.zeros_like(over[:1]), over])
        agents = jnp.concatenate([steps.agent, last_agent[None]])
        outputs, value = self.network.unrolled(params, (agents, carry, begins))
        evaluation = self.network.evaluation(outputs[:n], value[:n], steps.joint.reshape(-1))
        following = value.reshape(agents.shape)[1:]
        next_value = jnp.where(over, steps.bootstrap, following)
        return (steps.agent, carry, begins[:-1]), evaluation, next_value
