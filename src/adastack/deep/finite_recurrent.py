"""Rollout and training over M_k for networks with a cell.

The inputs of the cell are a function of the stack alone, so they can be looked up by agent state.
The cell itself runs step by step in the rollout, and over whole sequences in the update.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from adastack.deep.finite import EnvState, FiniteTrainer, Learner, Steps
from adastack.deep.networks import read_prefixes, read_stacks
from adastack.deep.recurrent import cell_inputs, stepped, unrolled
from adastack.deep.update import Evaluation, Params

MOST_STATES = 2
"""Agent states per hidden unit up to which looking up is less work than the stack network."""


class RecurrentFiniteTrainer(FiniteTrainer):
    """PPO or GRPO on a finite task with a memory and a cell."""

    def _tabulated(self) -> bool:
        """Whether the stack network is evaluated on all agent states at once."""
        few = self.induced.n_agent_states <= MOST_STATES * self.settings.hidden
        return super()._tabulated() and (few or bool(self.settings.tables))

    def _roll_out(self, learner: Learner, keys: Array) -> tuple[None, EnvState, Steps]:
        found = jax.lax.map(lambda one: self.rollout(*one), (learner.params, learner.env, keys))
        env: EnvState = found[0]
        return None, env, found[1]

    def rollout(self, params: Params, env: EnvState, key: Array) -> tuple[EnvState, Steps]:
        """Steps of all environments of one seed."""
        table = self._input_table(params) if self.tabulated else None

        def inputs(agent: Array) -> Array:
            if table is None:
                return self._inputs_of(params, self.tables.stacks[agent])
            return table[:, agent]

        def rows(agent: Array, carry: Any) -> tuple[Array, Any]:
            outputs, _, carry = stepped(self.net, params, inputs(agent), carry)
            return self._policy_rows(outputs), carry

        def cut_off(agent: Array, carry: Any, cut: Array) -> Array:
            none = jnp.zeros(len(cut))
            if not self._bootstraps:
                return none

            def values() -> Array:
                found = stepped(self.net, params, inputs(agent), carry)[1]
                return jnp.where(cut, found, 0.0)

            found: Array = jax.lax.cond(cut.any(), values, lambda: none)
            return found

        return self._rollout(rows, env, key, cut_off)

    @property
    def _bootstraps(self) -> bool:
        """Whether there is a time limit that does not count as an end."""
        limit = self.task.time_limit is not None and not self.task.continual
        return limit and self.settings.critic and not self.settings.limits_end

    def _input_table(self, params: Params) -> Array:
        """(towers, agent states, n): what the cell is given of every agent state."""
        if self.prefixes is None:
            return self._inputs_of(params, self.tables.stacks)
        return cell_inputs(self.net, params, read_prefixes(self.net, params, self.prefixes))

    def _inputs_of(self, params: Params, stacks: Array) -> Array:
        read = read_stacks(self.net, params, stacks, self._filled(stacks))
        return cell_inputs(self.net, params, read)

    def _unrolled(self, params: Params, at: Any) -> tuple[Array, Array]:
        """Outputs and values of sequences: agent states, the carry before, where episodes begin."""
        agent, carry, begins = at
        agent = agent.reshape(-1)
        if self.tabulated:
            table = self._input_table(params)
            # As in `FiniteTrainer._rows`, a product that looks up.
            inputs = jnp.einsum("rs,psn->prn", jax.nn.one_hot(agent, table.shape[1]), table)
        else:
            inputs = self._inputs_of(params, self.tables.stacks[agent])
        return unrolled(self.net, params, inputs, carry, begins)

    def _as_rolled_out(
        self, params: Params, tables: Any, steps: Steps, last_agent: Array, carry: Any
    ) -> tuple[Any, Evaluation, Array]:
        over, n = self._episode_over(steps.over), steps.agent.size
        begins = jnp.concatenate([jnp.zeros_like(over[:1]), over])
        agents = jnp.concatenate([steps.agent, last_agent[None]])
        outputs, value = self._unrolled(params, (agents, carry, begins))
        rows = self._row(outputs[:n], value[:n])
        evaluation = self._evaluation(rows, steps.joint.reshape(-1))
        following = value.reshape(agents.shape)[1:]
        next_value = jnp.where(over, steps.bootstrap, following)
        return (steps.agent, carry, begins[:-1]), evaluation, next_value

    def evaluate(self, params: Params, agent: Any, joint: Array) -> Evaluation:
        """Log-probabilities, entropies and values of sequences; see `_unrolled`."""
        return self._evaluation(self._row(*self._unrolled(params, agent)), joint)
