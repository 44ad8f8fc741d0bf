"""What acts on stacks and learns from them, whoever fills them: networks, heads, one update."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from jax import Array

from adastack.deep.buffer import PADDING
from adastack.deep.capacity import check_capacity
from adastack.deep.exploration import (
    Held,
    decisions,
    first_noise,
    hashed,
    noise,
    once,
    renewed,
    situation_of_numbers,
    situation_of_symbols,
)
from adastack.deep.gae import generalised_advantages, monte_carlo_returns
from adastack.deep.heads import Categorical, Gaussian, Product
from adastack.deep.initial import bias_to_newest_slot, initial_params
from adastack.deep.network_table import NETWORKS
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
from adastack.deep.update import Batch, Evaluation, Params, optimiser, scaled, schedule_at, update
from adastack.memory import get_rule
from adastack.process.events import LEARNING

UNIT_DEVIATIONS = math.sqrt(12)
"""The width of a uniform distribution, in standard deviations."""


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
    decision: Any
    """(steps, environments, heads): which held decision each step belongs to."""


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
        self.holds = settings.hold_noise > 1
        self.n_memory = get_rule(memory).actions(stack_size)
        self.repeats = settings.padding == "reset"
        # Where first stacks repeat their observation, there are no empty slots.
        reads_all = self.repeats or settings.read_empty
        self.masked = NETWORKS[settings.net].sequence and not reads_all
        self.heads, self.n_actions = self._heads()
        first = self.heads.heads[0]
        deviations = first.size if isinstance(first, Gaussian) else 0
        self.net = ActorCritic(
            self._net_spec(), settings.net, self.heads.n_outputs - deviations, deviations,
            settings.critic, settings.shared, settings.hidden,
        )  # fmt: skip
        # A Gaussian's noise is not held: its action moves on by itself.
        self.longest = jnp.asarray(
            [1 if isinstance(head, Gaussian) else settings.hold_noise for head in self.heads.heads],
            jnp.float32,
        )
        self.act = jax.jit(self.sample)
        self.explore = jax.jit(self.explored)
        self.renew = jax.jit(self.renewed)
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
        return params, (optimiser(self.settings).init(params["params"]), jnp.zeros(2))

    def split(self, joined: Any) -> tuple[Any, Any]:
        """What `act` gave as the environment's action, one row each, and the memory action."""
        if self.n_actions:
            pair = joined[:, 0].astype(np.int32)
            return (pair % self.n_actions)[:, None], pair // self.n_actions
        return joined[:, :-1], joined[:, -1].astype(np.int32)

    def sample(
        self, params: Params, leaves: list[Array], seed: Array, step: Array,
        filled: Array | None = None,
    ) -> Array:  # fmt: skip
        """(stacks, entries): actions drawn for each stack; seed and step say which draws.

        Here as below, ``filled`` is how many slots of each stack are; if None, all are but those of
        the oldest that show what empty slots do.
        """
        key = jax.random.fold_in(jax.random.key(seed), step)
        drawn = self.heads.sample(self._outputs(params, leaves, filled), key)
        return jnp.concatenate(drawn, axis=1).astype(jnp.float32)

    def explored(
        self, params: Params, leaves: list[Array], held: Held, seed: Array,
        step: Array, filled: Array | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Actions drawn for each stack while learning, and the held decisions behind them."""
        if not self.holds:
            joined = self.sample(params, leaves, seed, step, filled)
            return joined, jnp.zeros((len(joined), len(self.heads.heads)), jnp.uint32)
        outputs, drawn, decided = self._outputs(params, leaves, filled), [], []
        for i, (head, part) in enumerate(
            zip(self.heads.heads, self.heads.split(outputs), strict=True)
        ):
            situation = self._situation(params, leaves, held.seed[:, i])
            drawn.append(head.sample_with(part, noise(held.seed[:, i], situation, head.n_noise)))
            decided.append(decisions(held.seed[:, i], situation))
        joined = jnp.concatenate(drawn, axis=1).astype(jnp.float32)
        return joined, jnp.stack(decided, axis=1)

    def renewed(self, held: Held, over: Array, seed: Array, step: Array) -> Held:
        """The noise after a step."""
        if not self.holds:
            return held
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2**31 - 2), step)
        return renewed(held, over, key, self.longest)

    def first_noise(self, n_envs: int, seed: int, update: int) -> Held:
        """Noise to begin with."""
        shape = (n_envs, len(self.heads.heads)) if self.holds else (n_envs, 0)
        rng = np.random.default_rng([seed, 4, update])
        return first_noise(jnp.asarray(rng.integers(2**32, size=shape, dtype=np.uint32)))

    def _situation(self, params: Params, leaves: list[Array], seed: Array) -> Array:
        """(stacks,): what tells stacks apart in a period of exploration."""
        found = []
        for i, (leaf, kind) in enumerate(zip(leaves, leaves_in(self.spec), strict=True)):
            if kind.kind == "onehot":
                found.append(situation_of_symbols(leaf))
                continue
            numbers = leaf.reshape(*leaf.shape[:2], -1).astype(jnp.float32)
            if str(i) in self._units:
                numbers = normalised(params["seen"][str(i)], numbers)
            elif kind.scale != 1.0:  # Whole numbers, scaled to 0..1: about as wide as they can be.
                numbers = (numbers * kind.scale - 0.5) * UNIT_DEVIATIONS
            found.append(situation_of_numbers(numbers, seed))
        return hashed(*found)

    def mode(self, params: Params, leaves: list[Array], filled: Array | None = None) -> Array:
        """(stacks, entries): the likeliest action for each stack."""
        likeliest = self.heads.mode(self._outputs(params, leaves, filled))
        return jnp.concatenate(likeliest, axis=1).astype(jnp.float32)

    def _outputs(self, params: Params, leaves: list[Array], filled: Array | None) -> Array:
        slots = nested(self.spec, self._normalised(params, leaves))
        return act(self.net, params, slots, self._filled(leaves, filled))

    def value_of(self, params: Params, leaves: list[Array], filled: Array | None = None) -> Array:
        """(stacks,): what the critic says."""
        read = self._filled(leaves, filled)
        return self._net(params, self._normalised(params, leaves), read)[1]

    def _filled(self, leaves: list[Array], filled: Array | None) -> Array | None:
        """How many slots of each stack are read; all, if None."""
        if not self.masked or filled is not None:
            return filled if self.masked else None
        shows_nothing = jnp.ones(leaves[0].shape[:2], bool)
        for leaf, (_, _, empty) in zip(leaves, self.columns, strict=True):
            shows_nothing &= (leaf == empty).reshape(*leaf.shape[:2], -1).all(axis=-1)
        empty_slots = jnp.cumprod(shows_nothing, axis=1).sum(axis=1)
        return jnp.maximum(self.stack_size - empty_slots, 1)

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

    def _net(
        self, params: Params, leaves: list[Array], filled: Array | None
    ) -> tuple[Array, Array]:
        return policy_and_value(self.net, params, nested(self.spec, leaves), filled)

    def _at_rows(self, params: Params, columns: list[Array], rows: Array) -> tuple[Array, Array]:
        """Outputs and values of stacks that point to rows of a rollout."""
        filled = (rows != PADDING).sum(axis=1) if self.masked else None
        return self._net(params, [column[rows] for column in columns], filled)

    def learned(
        self, params: Params, moments: Any, rollout: Rollout, seed: Array, index: Array,
        progress: Array,
    ) -> tuple[Params, Any, Array]:  # fmt: skip
        """One update from one rollout; observations are gathered where they are needed."""
        s, slots = self.settings, rollout.slots
        columns = self._normalised(params, rollout.columns)

        def evaluate(weights: Params, rows: Array, action: Array) -> Evaluation:
            outputs, value = self._at_rows({"params": weights}, columns, rows)
            log_probs = self.heads.log_probs(outputs, self._parts(action))
            return Evaluation(log_probs, self._entropies(outputs), value)

        rows = slots[:-1].reshape(-1, slots.shape[-1])
        actions = rollout.action.reshape(len(rows), -1)
        evaluation = evaluate(params["params"], rows, actions)
        last = self._at_rows(params, columns, slots[-1])[1]
        advantage, returns = self._advantages(rollout, evaluation.value, last)
        weight = once(rollout.decision) if s.count_once and self.holds else None
        scale, advantage = scaled(s, moments[1], advantage, rollout, weight)
        batch = Batch(
            rows, actions, evaluation.log_prob, advantage.reshape(-1), returns.reshape(-1),
            None if weight is None else weight.reshape(len(rows), -1),
        )  # fmt: skip
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2**31 - 1), index)
        weights, adam, learning = update(
            params["params"], moments[0], batch, key, schedule_at(s, progress), evaluate, s
        )
        if isinstance(self.heads.heads[0], Gaussian) and s.gaussian_entropy:
            learning = learning.at[LEARNING.index("entropy")].divide(s.gaussian_entropy)
        return {**self._with_stats(params, rollout), "params": weights}, (adam, scale), learning

    def _entropies(self, outputs: Array) -> Array:
        factors = [
            self.settings.gaussian_entropy if isinstance(head, Gaussian) else 1.0
            for head in self.heads.heads
        ]
        return self.heads.entropies(outputs) * jnp.asarray(factors)

    def _advantages(self, rollout: Rollout, value: Array, last: Array) -> tuple[Array, Array]:
        s = self.settings
        if not s.critic:
            returns = monte_carlo_returns(rollout.reward, rollout.over, s.gamma)
            return returns, returns
        value = value.reshape(rollout.reward.shape)
        following = jnp.concatenate([value[1:], last[None]])
        advantage = generalised_advantages(
            rollout.reward, value, jnp.where(rollout.over, rollout.bootstrap, following),
            rollout.over if s.limits_end else rollout.terminated, rollout.over, s.gamma,
            s.gae_lambda,
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
