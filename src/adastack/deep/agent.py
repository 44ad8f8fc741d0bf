"""What acts on stacks and learns from them, whoever fills them: networks, heads, one update."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from jax import Array

from adastack.deep.capacity import check_capacity
from adastack.deep.gae import generalised_advantages, monte_carlo_returns
from adastack.deep.heads import Categorical, Gaussian, Product
from adastack.deep.initial import bias_to_newest_slot, initial_params
from adastack.deep.networks import ActorCritic, act, policy_and_value
from adastack.deep.networks.observations import (
    Leaf,
    Spec,
    check_net,
    leaves_in,
    one_hot,
    respecified,
    spec_of,
)
from adastack.deep.normalise import RunningStats, no_stats, normalised, updated_stats
from adastack.deep.settings import PPOSettings
from adastack.deep.spaces import columns_of, head_of, nested
from adastack.deep.update import Batch, Evaluation, Params, optimiser, schedule_at, update
from adastack.memory import get_rule


class Rollout(NamedTuple):
    """Steps to learn from, time on the first axis; each observation is stored once."""

    columns: list[Any]
    """The observations, one per row: the empty slot, what the stacks held at first, what came."""
    slots: Any
    """(steps + 1, environments, k): the rows that the stacks point to before each step."""
    action: Any
    """(steps, environments, entries): what the heads gave."""
    reward: Any
    terminated: Any
    over: Any
    bootstrap: Any
    """The value of what a time limit cut off; 0 elsewhere."""


class StackAgent:
    """The networks and compiled functions that all seeds of a run share.

    Parameters are the network's weights (``"params"``) and, if observations are normalised, what
    has been seen of them (``"seen"``).
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        memory: str,
        stack_size: int,
        settings: PPOSettings,
    ) -> None:
        self.settings, self.memory, self.stack_size = settings, memory, stack_size
        self.observation_space, self.action_space = observation_space, action_space
        self.spec = spec_of(observation_space)
        check_net(settings.net, self.spec)
        check_capacity(self.spec, memory, stack_size, settings)
        self.columns = columns_of(self.spec, observation_space)
        self._units = self._columns_in_units() if settings.normalize_observation else {}
        self.n_memory = get_rule(memory).actions(stack_size)
        self.repeats = settings.padding == "reset"
        self.heads, self.n_actions = self._heads()
        first = self.heads.heads[0]
        deviations = first.size if isinstance(first, Gaussian) else 0
        self.net = ActorCritic(
            self._net_spec(), settings.net, self.heads.n_outputs - deviations, deviations,
            settings.critic, settings.shared, settings.hidden,
        )  # fmt: skip
        self.act = jax.jit(self.sample)
        self.greedy = jax.jit(self.mode)
        self.value = jax.jit(self.value_of)
        self.learn = jax.jit(self.learned, donate_argnums=(0, 1))

    def _columns_in_units(self) -> dict[str, Leaf]:
        """The columns that are normalised: real numbers, and symbols once they are one-hot."""
        leaves = zip(leaves_in(self.spec), self.columns, strict=True)
        return {
            str(i): leaf
            for i, (leaf, (_, dtype, _)) in enumerate(leaves)
            if leaf.kind == "onehot" or (leaf.kind == "box" and np.issubdtype(dtype, np.floating))
        }

    def _net_spec(self) -> Spec:
        """What the network is given: what is normalised comes as plain numbers."""
        leaves: list[Leaf] = leaves_in(self.spec)
        for name in self._units:
            leaves[int(name)] = Leaf("box", (self._n_inputs(name),))
        return respecified(self.spec, leaves)

    def _n_entries(self, name: str) -> int:
        leaf = self._units[name]
        return sum(leaf.shape) if leaf.kind == "onehot" else math.prod(leaf.shape)

    def _n_inputs(self, name: str) -> int:
        return self._n_entries(name) * (1 if self._units[name].kind == "onehot" else 2)

    def _heads(self) -> tuple[Product, int]:
        """The heads, and the number of actions if there is one head for all pairs."""
        head = head_of(self.action_space)
        if self.settings.action_form == "factored":
            return Product((head, Categorical((self.n_memory,)))), 0
        if not isinstance(head, Categorical) or len(head.sizes) > 1:
            raise TypeError(f"action_form 'flat' expects Discrete, actual: {self.action_space}")
        return Product((Categorical((head.sizes[0] * self.n_memory,)),)), head.sizes[0]

    def init(self, seed: int) -> tuple[Params, Any]:
        """Fresh parameters and moments."""
        rows = [
            np.zeros((1, self.stack_size, self._n_inputs(str(i))), np.float32)
            if str(i) in self._units
            else np.zeros((1, self.stack_size, *shape), dtype)
            for i, (shape, dtype, _) in enumerate(self.columns)
        ]
        params = initial_params(self.net, nested(self.spec, rows), seed, self.settings.optimism)
        params = bias_to_newest_slot(params, self.settings.patience, self.n_actions or 1)
        params = jax.tree.map(jnp.asarray, params)
        if self._units:
            params["seen"] = {name: no_stats((self._n_entries(name),)) for name in self._units}
        return params, optimiser(self.settings).init(params["params"])

    def split(self, joined: Any) -> tuple[Any, Any]:
        """What `act` gave as the environment's action, one row each, and the memory action."""
        if self.n_actions:
            pair = joined[:, 0].astype(np.int32)
            return (pair % self.n_actions)[:, None], pair // self.n_actions
        return joined[:, :-1], joined[:, -1].astype(np.int32)

    def sample(self, params: Params, leaves: list[Array], seed: Array, step: Array) -> Array:
        """(stacks, entries): actions drawn for each stack; seed and step say which draws."""
        key = jax.random.fold_in(jax.random.key(seed), step)
        drawn = self.heads.sample(self._outputs(params, leaves), key)
        return jnp.concatenate(drawn, axis=1).astype(jnp.float32)

    def mode(self, params: Params, leaves: list[Array]) -> Array:
        """(stacks, entries): the likeliest action for each stack."""
        likeliest = self.heads.mode(self._outputs(params, leaves))
        return jnp.concatenate(likeliest, axis=1).astype(jnp.float32)

    def _outputs(self, params: Params, leaves: list[Array]) -> Array:
        return act(self.net, params, nested(self.spec, self._normalised(params, leaves)))

    def value_of(self, params: Params, leaves: list[Array]) -> Array:
        """(stacks,): what the critic says."""
        return self._net(params, self._normalised(params, leaves))[1]

    def _normalised(self, params: Params, leaves: list[Array]) -> list[Array]:
        return [
            self._in_units(str(i), params["seen"][str(i)], leaf) if str(i) in self._units else leaf
            for i, leaf in enumerate(leaves)
        ]

    def _in_units(self, name: str, seen: RunningStats, leaf: Array) -> Array:
        """A normalised column. Zeros may mean "hidden": they stay zero, and a flag tells."""
        numbers = self._numbers(name, leaf)
        if self._units[name].kind == "onehot":
            return normalised(seen, numbers)
        there = numbers != 0
        return jnp.concatenate([jnp.where(there, normalised(seen, numbers), 0.0), there], axis=-1)

    def _numbers(self, name: str, leaf: Array) -> Array:
        """A column to normalise, flat."""
        shape = self.columns[int(name)][0]
        flat = leaf.reshape(*leaf.shape[: leaf.ndim - len(shape)], -1)
        unit = self._units[name]
        return one_hot(flat, unit.shape) if unit.kind == "onehot" else flat

    def _net(self, params: Params, leaves: list[Array]) -> tuple[Array, Array]:
        return policy_and_value(self.net, params, nested(self.spec, leaves))

    def learned(
        self, params: Params, moments: Any, rollout: Rollout, seed: Array, index: Array,
        progress: Array,
    ) -> tuple[Params, Any, Array]:  # fmt: skip
        """One update from one rollout; observations are gathered where they are needed."""
        s, slots = self.settings, rollout.slots
        columns = self._normalised(params, rollout.columns)

        def evaluate(weights: Params, rows: Array, action: Array) -> Evaluation:
            outputs, value = self._net({"params": weights}, [column[rows] for column in columns])
            entropies = self.heads.entropies(outputs)
            memory = entropies[1] if len(entropies) > 1 else jnp.zeros_like(value)
            log_prob = self.heads.log_prob(outputs, self._parts(action))
            return Evaluation(log_prob, entropies[0], memory, value)

        rows = slots[:-1].reshape(-1, slots.shape[-1])
        actions = rollout.action.reshape(len(rows), -1)
        evaluation = evaluate(params["params"], rows, actions)
        last = self._net(params, [column[slots[-1]] for column in columns])[1]
        advantage, returns = self._advantages(rollout, evaluation.value, last)
        batch = Batch(
            rows, actions, evaluation.log_prob, advantage.reshape(-1), returns.reshape(-1)
        )
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2**31 - 1), index)
        weights, moments, loss = update(
            params["params"], moments, batch, key, schedule_at(s, progress), evaluate, s
        )
        return {**self._with_stats(params, rollout), "params": weights}, moments, loss

    def _advantages(self, rollout: Rollout, value: Array, last: Array) -> tuple[Array, Array]:
        s = self.settings
        if not s.critic:
            returns = monte_carlo_returns(rollout.reward, rollout.over, s.gamma)
            return returns, returns
        value = value.reshape(rollout.reward.shape)
        following = jnp.concatenate([value[1:], last[None]])
        advantage = generalised_advantages(
            rollout.reward, value, jnp.where(rollout.over, rollout.bootstrap, following),
            rollout.terminated, rollout.over, s.gamma, s.gae_lambda,
        )  # fmt: skip
        return advantage, advantage + value

    def _with_stats(self, params: Params, rollout: Rollout) -> Params:
        """The parameters, with what the rollout has seen."""
        if "seen" not in params:
            return params
        n_new = rollout.action.shape[0] * rollout.action.shape[1]
        seen = {}
        for name, unit in self._units.items():
            rows = self._numbers(name, rollout.columns[int(name)][-n_new:])
            counts = jnp.ones_like(rows, bool) if unit.kind == "onehot" else rows != 0
            seen[name] = updated_stats(params["seen"][name], rows, counts)
        return {**params, "seen": seen}

    def _parts(self, action: Array) -> list[Array]:
        if self.n_actions:
            return [action]
        return [action[:, :-1], action[:, -1:]]
