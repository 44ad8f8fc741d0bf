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
from adastack.deep.clock import CLOCK, N_CRITIC_FEATURES, STORED_AT, clock_features
from adastack.deep.exploration import (
    Held,
    decisions,
    first_noise,
    hashed,
    looks_back,
    noise,
    periods,
    renewed,
    situation_of_numbers,
    situation_of_symbols,
    weights_of,
    with_density,
)
from adastack.deep.gae import (
    decision_advantages,
    decision_returns,
    generalised_advantages,
    monte_carlo_returns,
)
from adastack.deep.heads import Categorical, Gaussian, Product
from adastack.deep.initial import bias_to_newest_slot, initial_params
from adastack.deep.network_table import NETWORKS
from adastack.deep.networks import ActorCritic, act, policy_and_value, read_stacks
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
from adastack.deep.recurrent import cell_inputs, first_carry, stepped, unrolled
from adastack.deep.settings import PPOSettings
from adastack.deep.spaces import columns_of, head_of, nested
from adastack.deep.units import counted, no_units, scaled, updated_units, with_bonus
from adastack.deep.update import Batch, Evaluation, Params, optimiser, schedule_at, update
from adastack.deep.waits import Decided, Wait, no_wait, standing, waited
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
    decided: Decided | None = None
    """What each step decided, if a wait is one decision."""
    carry: Any = None
    """What a cell carried when the rollout began; see `adastack.deep.recurrent`."""


class Exploring(NamedTuple):
    """How the environments explore: noise that is held, and choices that stand."""

    held: Held
    wait: Wait | None
    """None, unless a wait is one decision."""


class After(NamedTuple):
    """What exploration has to know about a step, (environments, ...) each."""

    before: list[Any]
    """The stacks before it, a column each."""
    after: list[Any]
    """The stacks after it, before any reset."""
    reward: Any
    ended: Any
    """Whether an attempt ended."""
    over: Any
    """Whether an episode did."""
    terminated: Any


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
        self.stored = [*self.columns, *([STORED_AT] if settings.uses_clock else [])]
        """Shape, dtype and padding of what a rollout stores of each observation."""
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
            settings.critic, settings.shared, settings.hidden, settings.cell,
        )  # fmt: skip
        # A Gaussian's noise is not held: its action moves on by itself.
        holds = [not isinstance(head, Gaussian) for head in self.heads.heads]
        self.longest = periods(settings.hold_noise, settings.n_envs, holds)
        self.act = jax.jit(self.sample)
        self.explore = jax.jit(self.explored)
        self.go_on = jax.jit(self.gone_on)
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
        critic_features = np.zeros((1, self.stack_size, N_CRITIC_FEATURES), np.float32)
        params = initial_params(
            self.net, nested(self.spec, rows), seed, self.settings.optimism,
            critic_features if self.settings.uses_clock else None,
        )  # fmt: skip
        params = bias_to_newest_slot(params, self.settings.patience, self.n_actions or 1)
        params = jax.tree.map(jnp.asarray, params)
        seen = {name: no_stats((self._n_entries(name),)) for name in self._units}
        if self.settings.uses_clock:
            seen[CLOCK] = no_stats(())
        if seen:
            params["seen"] = seen
        return params, (optimiser(self.settings).init(params["params"]), no_units())

    def split(self, joined: Any) -> tuple[Any, Any]:
        """What `act` gave as the environment's action, one row each, and the memory action."""
        if self.n_actions:
            pair = joined[:, 0].astype(np.int32)
            return (pair % self.n_actions)[:, None], pair // self.n_actions
        return joined[:, :-1], joined[:, -1].astype(np.int32)

    def first_carry(self, n_envs: int) -> Any:
        """What a cell carries where episodes begin; None without a cell."""
        return first_carry(self.net, n_envs)

    def sample(
        self, params: Params, leaves: list[Array], seed: Array, step: Array,
        filled: Array | None = None, carry: Any = None,
    ) -> tuple[Array, Any]:  # fmt: skip
        """(stacks, entries): actions drawn for each stack; seed and step say which draws.

        Here as below, ``filled`` is how many slots of each stack are; if None, all are but those of
        the oldest that show what empty slots do. With a cell, ``carry`` is what it has carried so
        far; what it carries after the step comes second.
        """
        key = jax.random.fold_in(jax.random.key(seed), step)
        outputs, carry = self._outputs(params, leaves, filled, carry)
        drawn = self.heads.sample(outputs, key)
        return jnp.concatenate(drawn, axis=1).astype(jnp.float32), carry

    def explored(
        self, params: Params, leaves: list[Array], exploring: Exploring, seed: Array,
        step: Array, filled: Array | None = None, carry: Any = None,
    ) -> tuple[Array, Array, Any]:  # fmt: skip
        """Actions for each stack while learning, and the held decisions behind them."""
        held, wait = exploring
        joined, decision, carry = self._drawn(params, leaves, held, seed, step, filled, carry)
        return (joined if wait is None else standing(wait, joined)), decision, carry

    def _drawn(
        self, params: Params, leaves: list[Array], held: Held, seed: Array, step: Array,
        filled: Array | None, carry: Any,
    ) -> tuple[Array, Array, Any]:  # fmt: skip
        if not self.holds:
            joined, carry = self.sample(params, leaves, seed, step, filled, carry)
            return joined, jnp.zeros((len(joined), 0), jnp.uint32), carry
        drawn, decided = [], []
        outputs, carry = self._outputs(params, leaves, filled, carry)
        for i, (head, part) in enumerate(
            zip(self.heads.heads, self.heads.split(outputs), strict=True)
        ):
            of_head = held.seed[:, i]
            situation = self._situation(params, leaves, of_head)
            if i and self.settings.look_back and self.stack_size > 1:
                older = self._situation(params, [leaf[:, :-1] for leaf in leaves], of_head)
                situation = jnp.where(looks_back(held, i), older, situation)
            drawn.append(head.sample_with(part, noise(of_head, situation, head.n_noise)))
            decided.append(decisions(of_head, situation))
        joined = jnp.concatenate(drawn, axis=1).astype(jnp.float32)
        return joined, jnp.stack(decided, axis=1), carry

    def gone_on(
        self, exploring: Exploring, joined: Array, step: After, seed: Array, clock: Array
    ) -> tuple[Exploring, Decided | None]:
        """How exploration goes on after a step that did ``joined``, and what it decided."""
        held, wait = exploring
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2**31 - 2), clock)
        if self.holds:
            held = renewed(held, step.over, key, self.longest)
        if wait is None:
            return Exploring(held, None), None
        changed = step.ended | step.over | _differ(step.before, step.after)
        patience = jax.random.uniform(jax.random.fold_in(key, 1), changed.shape)
        wait, decided = waited(
            wait, joined, changed, step.terminated | ~step.over, step.reward, patience,
            self.settings.gamma,
        )  # fmt: skip
        return Exploring(held, wait), decided

    def with_density(self, exploring: Exploring, moments: Any) -> Exploring:
        """Exploration that knows whether rewards are dense, as of the last update."""
        if not (self.holds and self.settings.scale_reward):
            return exploring
        _, units = moments
        return exploring._replace(held=with_density(exploring.held, units.dense))

    def begin_exploring(self, n_envs: int, seed: int, update: int, longest: int = 0) -> Exploring:
        """Exploration as it begins; ``longest``: the longest wait so far that led anywhere."""
        shape = (n_envs, len(self.heads.heads)) if self.holds else (n_envs, 0)
        rng = np.random.default_rng([seed, 4, update])
        held = first_noise(jnp.asarray(rng.integers(2**32, size=shape, dtype=np.uint32)))
        if not self.settings.waits:
            return Exploring(held, None)
        entries = self.n_entries
        return Exploring(held, no_wait(jnp.zeros((n_envs, entries), jnp.float32), longest))

    @property
    def n_entries(self) -> int:
        """Numbers of an action with its memory action, as the heads give them."""
        return sum(_entries(head) for head in self.heads.heads)

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
            elif kind.scale != 1.0:  # Integers, scaled to 0..1: about as wide as they can be.
                numbers = (numbers * kind.scale - 0.5) * UNIT_DEVIATIONS
            found.append(situation_of_numbers(numbers, seed))
        return hashed(*found)

    def mode(
        self, params: Params, leaves: list[Array], filled: Array | None = None, carry: Any = None
    ) -> tuple[Array, Any]:
        """(stacks, entries): the likeliest action for each stack; the carry as in `sample`."""
        outputs, carry = self._outputs(params, leaves, filled, carry)
        return jnp.concatenate(self.heads.mode(outputs), axis=1).astype(jnp.float32), carry

    def _outputs(
        self, params: Params, leaves: list[Array], filled: Array | None, carry: Any
    ) -> tuple[Array, Any]:
        read = self._filled(leaves, filled)
        leaves = self._normalised(params, leaves)
        if not self.settings.recurrent:
            return act(self.net, params, nested(self.spec, leaves), read), None
        outputs, _, carry = stepped(self.net, params, self._inputs(params, leaves, read), carry)
        return outputs, carry

    def value_of(
        self, params: Params, stored: list[Array], filled: Array | None = None, carry: Any = None
    ) -> Array:
        """(stacks,): values; ``stored`` holds the leaves and, with a clock, the storage times."""
        read = self._filled(stored, filled)
        stored = self._normalised(params, stored)
        if not self.settings.recurrent:
            return self._net(params, stored, read)[1]
        return stepped(self.net, params, self._inputs(params, stored, read), carry)[1]

    def _inputs(self, params: Params, leaves: list[Array], filled: Array | None) -> Array:
        """What the cell is given of normalised stacks."""
        read = read_stacks(self.net, params, nested(self.spec, leaves), filled)
        return cell_inputs(self.net, params, read)

    def _filled(self, leaves: list[Array], filled: Array | None) -> Array | None:
        """How many slots of each stack are read; all, if None."""
        if not self.masked or filled is not None:
            return filled if self.masked else None
        shows_nothing = jnp.ones(leaves[0].shape[:2], bool)
        for leaf, (_, _, empty) in zip(leaves[: len(self.columns)], self.columns, strict=True):
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
        self, params: Params, stored: list[Array], filled: Array | None
    ) -> tuple[Array, Array]:
        critic_features, leaves = None, stored[: len(self.columns)]
        if self.settings.uses_clock:
            critic_features = clock_features(params["seen"][CLOCK], stored[-1])
        return policy_and_value(
            self.net, params, nested(self.spec, leaves), filled, critic_features
        )

    def _at_rows(self, params: Params, columns: list[Array], at: Any) -> tuple[Array, Array]:
        """Outputs and values of stacks that point to rows of a rollout, (rows, k).

        With a cell, of sequences of them: (steps, environments, k), the carry before the first, and
        (steps, environments), whether an episode begins.
        """
        rows, *sequence = at if self.settings.recurrent else (at,)
        rows = rows.reshape(-1, rows.shape[-1])
        filled = (rows != PADDING).sum(axis=1) if self.masked else None
        leaves = [column[rows] for column in columns]
        if not self.settings.recurrent:
            return self._net(params, leaves, filled)
        return unrolled(self.net, params, self._inputs(params, leaves, filled), *sequence)

    def learned(
        self, params: Params, moments: Any, rollout: Rollout, seed: Array, index: Array,
        progress: Array,
    ) -> tuple[Params, Any, Array]:  # fmt: skip
        """One update from one rollout; observations are gathered where they are needed."""
        s = self.settings
        columns = self._normalised(params, rollout.columns)
        fixed = {name: part for name, part in params.items() if name != "params"}

        def evaluate(weights: Params, at: Any, action: Array) -> Evaluation:
            weighed = {**fixed, "params": weights}
            return self._evaluation(*self._at_rows(weighed, columns, at), action)

        actions = rollout.action.reshape(s.steps_per_update, -1)
        at, evaluation, last = self._as_rolled_out(params, columns, rollout, actions)
        weight = weights_of(s, rollout.decision, rollout.decided, len(self.heads.heads))
        (adam, units), outcome = moments, rollout.over | (rollout.reward != 0)
        units, change = updated_units(s, units, rollout.reward, rollout.over)
        params = change.of_critic(params)
        value, last, bootstrap = map(change.of_values, (evaluation.value, last, rollout.bootstrap))
        reward, decided, gamma = counted(s, units, rollout.reward, rollout.decided)
        rollout = rollout._replace(reward=reward, decided=decided, bootstrap=bootstrap)
        advantage, returns = self._advantages(rollout, value, last, gamma)
        units, advantage = scaled(s, units, advantage, returns, outcome, weight)
        batch = Batch(
            at, actions, evaluation.log_prob, advantage.reshape(-1), returns.reshape(-1),
            None if weight is None else weight.reshape(len(actions), -1),
        )  # fmt: skip
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2**31 - 1), index)
        schedule, real = schedule_at(s, progress), isinstance(self.heads.heads[0], Gaussian)
        if not real:
            schedule = with_bonus(schedule, units)
        weights, adam, learning = update(params["params"], adam, batch, key, schedule, evaluate, s)
        if real and s.gaussian_entropy:
            learning = learning.at[LEARNING.index("entropy")].divide(s.gaussian_entropy)
        return {**self._with_stats(params, rollout), "params": weights}, (adam, units), learning

    def _as_rolled_out(
        self, params: Params, columns: list[Array], rollout: Rollout, actions: Array
    ) -> tuple[Any, Evaluation, Array]:
        """What `_at_rows` takes for all steps, their evaluation, and the values after the last."""
        slots, over, n = rollout.slots, rollout.over, len(actions)
        if not self.settings.recurrent:
            rows = slots[:-1].reshape(n, -1)
            evaluation = self._evaluation(*self._at_rows(params, columns, rows), actions)
            return rows, evaluation, self._at_rows(params, columns, slots[-1])[1]
        begins = jnp.concatenate([jnp.zeros_like(over[:1]), over])
        outputs, value = self._at_rows(params, columns, (slots, rollout.carry, begins))
        at = slots[:-1], rollout.carry, begins[:-1]
        return at, self._evaluation(outputs[:n], value[:n], actions), value[n:]

    def _evaluation(self, outputs: Array, value: Array, action: Array) -> Evaluation:
        log_probs = self.heads.log_probs(outputs, self._parts(action))
        return Evaluation(log_probs, self._entropies(outputs), value)

    def _entropies(self, outputs: Array) -> Array:
        factors = [
            self.settings.gaussian_entropy if isinstance(head, Gaussian) else 1.0
            for head in self.heads.heads
        ]
        return self.heads.entropies(outputs) * jnp.asarray(factors)

    def _advantages(
        self, rollout: Rollout, value: Array, last: Array, gamma: Array | float
    ) -> tuple[Array, Array]:
        s = self.settings
        if not s.critic:
            if rollout.decided is None:
                returns = monte_carlo_returns(rollout.reward, rollout.over, gamma)
            else:
                returns = decision_returns(rollout.decided, rollout.over)
            return returns, returns
        value = value.reshape(rollout.reward.shape)
        following = jnp.concatenate([value[1:], last[None]])
        rest = (
            value, jnp.where(rollout.over, rollout.bootstrap, following),
            rollout.over if s.limits_end else rollout.terminated, rollout.over,
        )  # fmt: skip
        if rollout.decided is None:
            advantage = generalised_advantages(rollout.reward, *rest, gamma, s.gae_lambda)
        else:
            advantage = decision_advantages(rollout.decided, *rest, s.gae_lambda)
        return advantage, advantage + value

    def _with_stats(self, params: Params, rollout: Rollout) -> Params:
        """The parameters, with what the rollout has seen."""
        if "seen" not in params:
            return params
        n_new = rollout.action.shape[0] * rollout.action.shape[1]
        seen = {}
        if self.settings.uses_clock:
            stored_at = rollout.columns[-1][-n_new:]
            every = jnp.ones_like(stored_at, bool)
            seen[CLOCK] = updated_stats(params["seen"][CLOCK], stored_at, every)
        for name, unit in self._units.items():
            rows = self._numbers(name, rollout.columns[int(name)][-n_new:])
            counts = jnp.ones_like(rows, bool) if unit.kind == "onehot" else rows != 0
            seen[name] = updated_stats(params["seen"][name], rows, counts)
        return {**params, "seen": seen}

    def _parts(self, action: Array) -> list[Array]:
        if self.n_actions:
            return [action]
        return [action[:, :-1], action[:, -1:]]


def _differ(before: list[Array], after: list[Array]) -> Array:
    """(environments,): whether stacks show something else."""
    differ = [
        (old != new).reshape(len(old), -1).any(axis=1)
        for old, new in zip(before, after, strict=True)
    ]
    return jnp.stack(differ).any(axis=0)


def _entries(head: Any) -> int:
    return len(head.sizes) if isinstance(head, Categorical) else int(head.size)
