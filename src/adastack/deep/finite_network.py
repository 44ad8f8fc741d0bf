"""The network of a finite task, evaluated on agent states: by table or row by row.

A finite task has a finite number of agent states. Where these are few, the network is evaluated
once on all of them, and steps look their rows up. A sequence network shares the work among stacks
that begin alike; see `adastack.deep.networks.prefixes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from adastack.deep.heads import Categorical, Product
from adastack.deep.network_table import NETWORKS
from adastack.deep.networks import ActorCritic, act, over_prefixes, policy_and_value
from adastack.deep.networks.observations import Leaf, check_net
from adastack.deep.networks.prefixes import Prefixes, prefixes_of
from adastack.deep.networks.visited import FEWEST, Part, Visited
from adastack.deep.settings import PPOSettings
from adastack.deep.update import Evaluate, Evaluation, Params
from adastack.process.induced import Induced
from adastack.process.policy import split_actions

T = TypeVar("T")
Tabulated = tuple[Array, Array]
"""Outputs and values of all agent states."""


class FiniteNetwork:
    """The network and the heads of a finite task; pure functions of the parameters.

    Args:
        induced: The task with its memory.
        settings: The settings.
        stacks: (agent states, k): what each stack holds, on the device.
    """

    def __init__(self, induced: Induced, settings: PPOSettings, stacks: Array) -> None:
        self.induced, self.settings, self.stacks = induced, settings, stacks
        self.n_actions, self.n_memory = induced.task.n_actions, induced.n_memory_actions
        self.masked = NETWORKS[settings.net].sequence and not settings.read_empty
        self.prefixes = self._prefixes()
        self.tabulated = self._tabulated()
        self.visited = self._visited()
        self.heads = heads_for(self.n_actions, self.n_memory, settings.action_form)
        spec = Leaf("onehot", (induced.task.n_observations + 1,))
        check_net(settings.net, spec)
        self.net = ActorCritic(
            spec,
            settings.net,
            self.heads.n_outputs,
            critic=settings.critic,
            shared=settings.shared,
            hidden=settings.hidden,
            cell=settings.cell,
        )

    def _prefixes(self) -> Prefixes | None:
        """What a sequence network reads instead of all stacks, if that is worth its while."""
        s, network = self.settings, NETWORKS[self.settings.net]
        if not network.sequence or s.tables is False:
            return None
        stacks, empty = self.induced.stacks, self.induced.task.empty
        rows = stacks.size if s.tables else s.batch_size * self.induced.stack_size
        found = prefixes_of(stacks, empty, s.read_empty, rows)
        worth = found is not None and (s.tables or network.load().tokens(found) <= rows)
        return found if worth else None

    def _tabulated(self) -> bool:
        """Whether the network is evaluated on all agent states at once."""
        if self.settings.tables is not None:
            return self.settings.tables
        if NETWORKS[self.settings.net].sequence:
            return self.prefixes is not None
        return self.induced.n_agent_states <= self.settings.batch_size

    def _visited(self) -> Visited | None:
        """What finds the prefixes that a rollout visited, if reading those alone saves time."""
        if self.prefixes is None or self.settings.recurrent or len(self.prefixes) < FEWEST:
            return None
        return Visited(self.prefixes) if NETWORKS[self.settings.net].reads_parts else None

    def _filled(self, stacks: Array) -> Array | None:
        """How many slots of each stack are read; all, if None."""
        if not self.masked:
            return None
        return jnp.maximum((stacks != self.induced.task.empty).sum(axis=1), 1)

    def outputs(self, params: Params, stacks: Array) -> Array:
        """(stacks, outputs): what the heads are given."""
        return act(self.net, params, stacks, self._filled(stacks))

    def output_table(self, params: Params) -> Array:
        """(agent states, outputs): what the heads are given in every agent state."""
        if self.prefixes is not None:
            return self.tabulate(params)[0]
        return self.outputs(params, self.stacks)

    def tabulate(self, params: Params) -> Tabulated:
        """Outputs and values of all agent states."""
        if self.prefixes is None:
            return self._of(params, self.stacks)
        return over_prefixes(self.net, params, self.prefixes)

    def _of(self, params: Params, stacks: Array) -> tuple[Array, Array]:
        """Outputs and values of stacks, every row by itself."""
        return policy_and_value(self.net, params, stacks, self._filled(stacks))

    def values(self, params: Params, table: Tabulated | None, agent: Array) -> Array:
        """The values of agent states of any shape, from ``table`` if it is there already."""
        if self.tabulated:
            return (self.tabulate(params) if table is None else table)[1][agent]
        flat = self.stacks[agent.reshape(-1)]
        return self._of(params, flat)[1].reshape(agent.shape)

    def evaluate(self, params: Params, agent: Array, joint: Array) -> Evaluation:
        """Log-probabilities, entropies and values at agent states, with or without a table."""
        return self.evaluate_from(params, None, agent, joint)

    def evaluate_from(
        self, params: Params, table: Tabulated | None, agent: Array, joint: Array
    ) -> Evaluation:
        """As `evaluate`, from ``table`` if it is there already."""
        return self._evaluation(self._rows(params, table, agent), joint)

    def learn_from(self, agent: Array, learn: Callable[[Evaluate], T]) -> T:
        """Calls ``learn`` with an `evaluate` that is right for these agent states.

        It reads little more than their stacks, if that saves time.
        """
        if self.visited is None:
            return learn(self.evaluate)

        def of_part(part: Part) -> T:
            def evaluate(params: Params, agent: Array, joint: Array) -> Evaluation:
                rows = self._row(*over_prefixes(self.net, params, part))
                return self._evaluation(_look_up(rows, part.row[agent]), joint)

            return learn(evaluate)

        return self.visited.switch(agent, of_part)

    def evaluate_plainly(self, params: Params, agent: Array, joint: Array) -> Evaluation:
        """What `evaluate` gives, by the definition of the network: row by row, slot by slot."""
        stacks = self.stacks[agent]
        found: Any = self.net.apply(params, stacks, self._filled(stacks))
        outputs, value = found
        return self.evaluation(outputs, value, joint)

    def evaluation(self, outputs: Array, value: Array, joint: Array) -> Evaluation:
        """Log-probabilities, entropies and values where the network's answers are known."""
        return self._evaluation(self._row(outputs, value), joint)

    def _rows(self, params: Params, table: Tabulated | None, agent: Array) -> Array:
        """What `_row` gives, at agent states."""
        if not self.tabulated:
            return self._row(*self._of(params, self.stacks[agent]))
        return _look_up(self._row(*(self.tabulate(params) if table is None else table)), agent)

    def _row(self, outputs: Array, value: Array) -> Array:
        """(rows, options + heads + 1): log-probabilities of the options, entropies, the value."""
        options = [jax.nn.log_softmax(part) for part in self.heads.split(outputs)]
        return jnp.concatenate([*options, self.heads.entropies(outputs), value[:, None]], axis=1)

    def _evaluation(self, rows: Array, joint: Array) -> Evaluation:
        """What rows as `_row` gives them say about joint actions."""
        chosen = [joint] if len(self.heads.heads) == 1 else split_actions(joint, self.n_actions)
        log_probs, begin = [], 0
        for head, option in zip(self.heads.heads, chosen, strict=True):
            part = rows[:, begin : begin + head.n_outputs]
            log_probs.append(jnp.sum(part * jax.nn.one_hot(option, head.n_outputs), axis=1))
            begin += head.n_outputs
        entropies = rows[:, begin:-1]
        return Evaluation(jnp.stack(log_probs, axis=1), entropies, rows[:, -1])


def _look_up(rows: Array, at: Array) -> Array:
    """A product with one-hot rows looks up on the way there and sums up on the way back."""
    return jax.nn.one_hot(at, len(rows)) @ rows


def heads_for(n_actions: int, n_memory: int, form: str) -> Product:
    """The heads of a task with numbered actions."""
    if form == "flat":
        return Product((Categorical((n_actions * n_memory,)),))
    return Product((Categorical((n_actions,)), Categorical((n_memory,))))
