"""What acts on stacks and learns from them, whoever fills them: networks, heads, one update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from jax import Array

from adastack.deep.advantages import Outcomes, Paid, scaled_advantages
from adastack.deep.buffer import PADDING
from adastack.deep.capacity import check_capacity
from adastack.deep.distinct import Distinct, sizes_for, switch
from adastack.deep.exploration import weights_of
from adastack.deep.explorer import Explorer, Exploring, drawn_actions
from adastack.deep.habits import with_habit
from adastack.deep.heads import Categorical, Gaussian, Product, joined_actions
from adastack.deep.initial import bias_to_newest_slot, initial_params
from adastack.deep.inputs import Inputs
from adastack.deep.networks import (
    ActorCritic,
    act,
    over_distinct,
    policy_and_value,
    read_stacks,
)
from adastack.deep.networks.observations import check_net, spec_of
from adastack.deep.recurrent import cell_inputs, first_carry, stepped, unrolled
from adastack.deep.settings import PPOSettings
from adastack.deep.spaces import head_of
from adastack.deep.units import (
    Counted,
    Units,
    counted,
    in_returns,
    no_units,
    updated_units,
    with_bonus,
)
from adastack.deep.update import (
    Batch,
    Evaluation,
    Params,
    batch_of,
    optimiser,
    pieces_for,
    schedule_at,
    update,
)
from adastack.deep.waits import Decided
from adastack.deep.weighing import Weighed, rows_after, worths
from adastack.memory import get_rule
from adastack.process.events import LEARNING


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
        spec = spec_of(observation_space)
        check_net(settings.net, spec)
        check_capacity(spec, memory, stack_size, settings)
        self.inputs = Inputs(spec, observation_space, stack_size, settings)
        self.n_memory = get_rule(memory).actions(stack_size)
        self.repeats = settings.padding == "reset"
        """Whether first stacks repeat their observation instead of empty slots."""
        self.heads, self.n_actions = self._heads()
        first = self.heads.heads[0]
        deviations = first.size if isinstance(first, Gaussian) else 0
        self.net = ActorCritic(
            self.inputs.net_spec(), settings.net, self.heads.n_outputs - deviations, deviations,
            settings.critic, settings.shared, settings.hidden, settings.cell,
        )  # fmt: skip
        self._evicts = jnp.asarray(get_rule(memory).table(stack_size))
        self._weighs = settings.weighs_evictions and self.n_memory > 1
        self._distinct_sizes = sizes_for(spec, stack_size, settings)
        self._pieces = pieces_for(settings, stack_size)
        self.explorer = Explorer(self.inputs, self.heads, settings, self._evicts)
        self.act = jax.jit(self.sample)
        self.explore = jax.jit(self.explored)
        self.greedy = jax.jit(self.mode)
        self.value = jax.jit(self.value_of)
        self.learn = jax.jit(self.learned, donate_argnums=(0, 1))

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
        stack, critic_features = self.inputs.zeros()
        params = initial_params(self.net, stack, seed, self.settings.optimism, critic_features)
        params = bias_to_newest_slot(params, self.settings.patience, self.n_actions or 1)
        params = jax.tree.map(jnp.asarray, params)
        seen = self.inputs.first_stats()
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
        outputs, carry = self._outputs(params, leaves, filled, carry)
        return drawn_actions(self.heads, outputs, seed, step), carry

    def explored(
        self, params: Params, leaves: list[Array], exploring: Exploring, seed: Array,
        step: Array, filled: Array | None = None, carry: Any = None,
    ) -> tuple[Array, Array, Any]:  # fmt: skip
        """Actions for each stack while learning, and the held decisions behind them."""
        outputs, carry = self._outputs(params, leaves, filled, carry)
        chosen = self.explorer.choose(params, leaves, outputs, exploring, seed, step, filled)
        return *chosen, carry

    def mode(
        self, params: Params, leaves: list[Array], filled: Array | None = None, carry: Any = None
    ) -> tuple[Array, Any]:
        """(stacks, entries): the likeliest action for each stack; the carry as in `sample`."""
        outputs, carry = self._outputs(params, leaves, filled, carry)
        return joined_actions(self.heads.mode(outputs)), carry

    def _outputs(
        self, params: Params, leaves: list[Array], filled: Array | None, carry: Any
    ) -> tuple[Array, Any]:
        read = self.inputs.filled(leaves, filled)
        leaves = self.inputs.normalise(params, leaves)
        if not self.settings.recurrent:
            return act(self.net, params, self.inputs.nested(leaves), read), None
        inputs = self._cell_inputs(params, leaves, read)
        outputs, _, carry = stepped(self.net, params, inputs, carry)
        return outputs, carry

    def value_of(
        self, params: Params, stored: list[Array], filled: Array | None = None, carry: Any = None
    ) -> Array:
        """(stacks,): values; ``stored`` holds the leaves and, with a clock, the storage times."""
        read = self.inputs.filled(stored, filled)
        stored = self.inputs.normalise(params, stored)
        if not self.settings.recurrent:
            return self._net(params, stored, read)[1]
        return stepped(self.net, params, self._cell_inputs(params, stored, read), carry)[1]

    def _cell_inputs(self, params: Params, leaves: list[Array], filled: Array | None) -> Array:
        """What the cell is given of normalised stacks."""
        read = read_stacks(self.net, params, self.inputs.nested(leaves), filled)
        return cell_inputs(self.net, params, read)

    def _net(
        self, params: Params, stored: list[Array], filled: Array | None
    ) -> tuple[Array, Array]:
        critic_features = self.inputs.critic_features(params, stored)
        return policy_and_value(
            self.net, params, self.inputs.nested(stored), filled, critic_features
        )

    def _at_rows(self, params: Params, columns: list[Array], at: Any) -> tuple[Array, Array]:
        """Outputs and values of stacks that point to rows of a rollout, (rows, k).

        With a cell, of sequences of them: (steps, environments, k), the carry before the first, and
        (steps, environments), whether an episode begins.
        """
        rows, *sequence = at if self.settings.recurrent else (at,)
        rows = rows.reshape(-1, rows.shape[-1])
        filled = (rows != PADDING).sum(axis=1) if self.inputs.masked else None
        leaves = [column[rows] for column in columns]
        if not self.settings.recurrent:
            return self._net(params, leaves, filled)
        return unrolled(self.net, params, self._cell_inputs(params, leaves, filled), *sequence)

    def _at_distinct(
        self, params: Params, columns: list[Array], distinct: Distinct, rows: Array
    ) -> tuple[Array, Array]:
        """As `_at_rows` without a cell, where observations that come back are read once."""
        seen = self.inputs.nested([column[distinct.row][:, None] for column in columns])
        critic_features = self.inputs.critic_features(params, [columns[-1][rows]])
        return over_distinct(self.net, params, seen, distinct.which[rows], critic_features)

    def learned(
        self, params: Params, moments: Any, rollout: Rollout, seed: Array, index: Array,
        progress: Array,
    ) -> tuple[Params, Any, Array]:  # fmt: skip
        """One update from one rollout; observations are gathered where they are needed."""
        s, (adam, units) = self.settings, moments
        columns = self.inputs.normalise(params, rollout.columns)
        params, units, batch = self._to_learn_from(params, units, columns, rollout)
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2**31 - 1), index)
        schedule, real = schedule_at(s, progress), isinstance(self.heads.heads[0], Gaussian)
        if not real:
            schedule = with_bonus(schedule, units)

        def learn(distinct: Distinct | None = None) -> tuple[Params, Any, Array]:
            evaluate = self.evaluates(params, columns, distinct)
            return update(params["params"], adam, batch, key, schedule, evaluate, s, self._pieces)

        if self._distinct_sizes:
            weights, adam, learning = switch(rollout.columns[0], self._distinct_sizes, learn, learn)
        else:
            weights, adam, learning = learn()
        if real and s.gaussian_entropy:
            learning = learning.at[LEARNING.index("entropy")].divide(s.gaussian_entropy)
        seen = self.inputs.with_stats(params, rollout.columns, s.steps_per_update)
        return {**seen, "params": weights}, (adam, units), learning

    def _to_learn_from(
        self, params: Params, units: Units, columns: list[Array], rollout: Rollout
    ) -> tuple[Params, Units, Batch]:
        """The rollout as a batch; the critic and the units in which its values are now counted."""
        s = self.settings
        actions = rollout.action.reshape(s.steps_per_update, -1)
        at, evaluation, last = self._as_rolled_out(params, columns, rollout, actions)
        paid = Paid(rollout.reward, rollout.over)
        units, change = updated_units(s, units, *paid)
        params = change.of_critic(params)
        value, last, bootstrap = map(change.of_values, (evaluation.value, last, rollout.bootstrap))
        counts = counted(s, units, rollout.reward, rollout.decided)
        outcomes = self._outcomes(rollout._replace(bootstrap=bootstrap), value, last, counts)
        weighed, eviction_worth = None, None
        if self._weighs:
            assert evaluation.memory_log_probs is not None
            weighed, eviction_worth = self._weighed(
                params, columns, rollout, evaluation.memory_log_probs, counts,
                paid.dense_and_varied(units),
            )  # fmt: skip
        weight = self._weights(rollout, weighed)
        units, advantage, returns = scaled_advantages(
            s, self.heads, units, outcomes, paid, weight, eviction_worth
        )
        batch = batch_of(at, actions, evaluation.log_prob, advantage, returns, weight)
        return params, units, batch._replace(weighed=weighed)

    def evaluates(
        self, params: Params, columns: list[Array], distinct: Distinct | None
    ) -> Callable[[Params, Any, Array], Evaluation]:
        """(weights, rows, actions) -> how the network sees them, by distinct ones if known."""
        fixed = {name: part for name, part in params.items() if name != "params"}

        def evaluate(weights: Params, at: Any, action: Array) -> Evaluation:
            all_params = {**fixed, "params": weights}
            if distinct is None:
                return self._evaluation(*self._at_rows(all_params, columns, at), action)
            return self._evaluation(*self._at_distinct(all_params, columns, distinct, at), action)

        return evaluate

    def _weighed(
        self, params: Params, columns: list[Array], rollout: Rollout, log_probs: Array,
        counts: Counted, applies: Array,
    ) -> tuple[Weighed, Array]:  # fmt: skip
        """What each memory action is worth, and (steps, environments): that of those taken.

        Where a habit evicts, the next value is that of the habit, so that what was taken adds
        nothing to it. Where an episode is over, nothing is left to remember.
        """
        slots = rollout.slots[:-1].reshape(-1, self.stack_size)
        newest = rollout.slots[1:, :, -1].reshape(-1)
        filled = (slots != PADDING).sum(axis=1)

        def value_after(evicts: Array) -> Array:
            return self._at_rows(params, columns, rows_after(slots, newest, evicts[filled]))[1]

        # One after the other: all at once would hold as many copies of the observations.
        values = jax.lax.cond(
            applies,
            lambda: jax.lax.map(value_after, self._evicts).T,
            lambda: jnp.zeros_like(log_probs),
        )
        waited = counts.decided
        discount = counts.gamma if waited is None else waited.discount.reshape(-1, 1)
        worth = discount * worths(values, log_probs)
        worth = jnp.where(rollout.over.reshape(-1, 1), 0.0, worth)
        taken = rollout.action[..., -1].reshape(-1, 1).astype(jnp.int32)
        of_taken = jnp.take_along_axis(worth, taken, axis=1).reshape(rollout.over.shape)
        if self.explorer.keeps_rare:
            of_taken = jnp.where(with_habit(self.settings.n_envs), 0.0, of_taken)
        everywhere = jnp.broadcast_to(applies, len(worth))
        return Weighed(in_returns(worth), log_probs, everywhere), of_taken

    def _weights(self, rollout: Rollout, weighed: Weighed | None) -> Array | None:
        """(steps, environments, heads): how much each step counts, if not all alike."""
        s = self.settings
        weight = weights_of(s, rollout.decision, rollout.decided, len(self.heads.heads))
        if weight is None or not self.explorer.keeps_rare:
            return weight
        # A memory action by habit was not the policy's own, and can only be weighed.
        own = ~with_habit(s.n_envs)
        return weight.at[..., -1].multiply(own if weighed is None else own | weighed.applies[0])

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
        found = Evaluation(log_probs, self._entropies(outputs), value)
        if not self._weighs:
            return found
        return found._replace(memory_log_probs=jax.nn.log_softmax(self.heads.split(outputs)[-1]))

    def _entropies(self, outputs: Array) -> Array:
        factors = [
            self.settings.gaussian_entropy if isinstance(head, Gaussian) else 1.0
            for head in self.heads.heads
        ]
        return self.heads.entropies(outputs) * jnp.asarray(factors)

    def _outcomes(self, rollout: Rollout, value: Array, last: Array, counts: Counted) -> Outcomes:
        over, before, after = rollout.over, None, None
        if self.settings.critic:
            before = value.reshape(over.shape)
            following = jnp.concatenate([before[1:], last[None]])
            after = jnp.where(over, rollout.bootstrap, following)
        terminated = over if self.settings.limits_end else rollout.terminated
        reward, decided, gamma = counts
        return Outcomes(reward, decided, before, after, terminated, over, gamma)

    def _parts(self, action: Array) -> list[Array]:
        if self.n_actions:
            return [action]
        return [action[:, :-1], action[:, -1:]]
