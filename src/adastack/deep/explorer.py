"""Exploration over stacks: held noise and repeated choices."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

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
    with_density,
)
from adastack.deep.habits import copies, evicting_the_ordinary, with_habit
from adastack.deep.heads import Categorical, Product, joined_actions
from adastack.deep.inputs import Inputs
from adastack.deep.networks.observations import leaves_in
from adastack.deep.settings import PPOSettings
from adastack.deep.update import Params
from adastack.deep.waits import Decided, Wait, no_wait, standing, waited


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


class Explorer:
    """The choices of an agent while it learns; pure functions of an `Exploring`.

    Args:
        inputs: What the stacks show.
        heads: What chooses actions and memory actions.
        settings: The settings.
        evicts: (memory actions, slots filled + 1): the slot that each memory action evicts.
    """

    def __init__(
        self, inputs: Inputs, heads: Product, settings: PPOSettings, evicts: Array
    ) -> None:
        self.inputs, self.heads, self.settings = inputs, heads, settings
        self._evicts = evicts
        self.holds = settings.hold_noise > 1
        self.keeps_rare = settings.keeps_rare and inputs.knows_rarity
        """Whether some environments keep what is rare."""
        self._longest = periods(settings, heads.heads)
        self.go_on = jax.jit(self.gone_on)

    def begin(self, n_envs: int, seed: int, update: int, longest: int = 0) -> Exploring:
        """Exploration as it begins; ``longest``: the longest wait so far that led anywhere."""
        shape = (n_envs, len(self.heads.heads)) if self.holds else (n_envs, 0)
        rng = np.random.default_rng([seed, 4, update])
        held = first_noise(jnp.asarray(rng.integers(2**32, size=shape, dtype=np.uint32)))
        if not self.settings.waits:
            return Exploring(held, None)
        entries = sum(_entries(head) for head in self.heads.heads)
        return Exploring(held, no_wait(jnp.zeros((n_envs, entries), jnp.float32), longest))

    def with_density(self, exploring: Exploring, moments: Any) -> Exploring:
        """Exploration that knows whether rewards are dense, as of the last update."""
        if not (self.holds and self.settings.scale_reward):
            return exploring
        _, units = moments
        return exploring._replace(held=with_density(exploring.held, units.dense))

    def choose(
        self, params: Params, leaves: list[Array], outputs: Array, exploring: Exploring,
        seed: Array, step: Array, filled: Array | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Actions for each stack, and the held decisions behind them.

        Args:
            params: The parameters.
            leaves: What the stacks show.
            outputs: What the network gives the heads for them.
            exploring: How the environments explore.
            seed: Says with ``step`` which draws, if noise is not held.
            step: See ``seed``.
            filled: (stacks,): how many slots show an observation; all, if None.
        """
        held, wait = exploring
        joined, decision = self._drawn(params, leaves, outputs, held, seed, step)
        if self.keeps_rare:
            joined = self._by_habit(params, leaves, joined, filled)
        return (joined if wait is None else standing(wait, joined)), decision

    def _by_habit(
        self, params: Params, leaves: list[Array], joined: Array, filled: Array | None
    ) -> Array:
        """The actions, with memory actions by habit in the environments that have one."""
        k = self.inputs.stack_size
        n_filled = jnp.full(len(joined), k) if filled is None else filled
        empty = jnp.arange(k) < k - n_filled[:, None]
        flat = jnp.concatenate([leaf.reshape(*leaf.shape[:2], -1) for leaf in leaves], axis=-1)
        needless = empty | copies(flat)
        surprisal = jnp.where(needless, -jnp.inf, self.inputs.surprisal(params, leaves))
        memory = evicting_the_ordinary(surprisal, self._evicts[:, n_filled].T)
        chosen = jnp.where(with_habit(len(joined)), memory.astype(joined.dtype), joined[:, -1])
        return joined.at[:, -1].set(chosen)

    def _drawn(
        self, params: Params, leaves: list[Array], outputs: Array, held: Held, seed: Array,
        step: Array,
    ) -> tuple[Array, Array]:  # fmt: skip
        if not self.holds:
            joined = drawn_actions(self.heads, outputs, seed, step)
            return joined, jnp.zeros((len(joined), 0), jnp.uint32)
        drawn, decided = [], []
        for i, (head, part) in enumerate(
            zip(self.heads.heads, self.heads.split(outputs), strict=True)
        ):
            of_head = held.seed[:, i]
            situation = self._situation(params, leaves, of_head)
            if i and self.settings.look_back and self.inputs.stack_size > 1:
                older = self._situation(params, [leaf[:, :-1] for leaf in leaves], of_head)
                situation = jnp.where(looks_back(held, i), older, situation)
            drawn.append(head.sample_with(part, noise(of_head, situation, head.n_noise)))
            decided.append(decisions(of_head, situation))
        return joined_actions(drawn), jnp.stack(decided, axis=1)

    def _situation(self, params: Params, leaves: list[Array], seed: Array) -> Array:
        """(stacks,): what tells stacks apart in a period of exploration."""
        found, kinds = [], leaves_in(self.inputs.spec)
        for i, (leaf, kind) in enumerate(zip(leaves, kinds, strict=True)):
            if kind.kind == "onehot":
                found.append(situation_of_symbols(leaf))
            else:
                numbers = self.inputs.deviations(params, i, leaf)
                found.append(situation_of_numbers(numbers, seed))
        return hashed(*found)

    def gone_on(
        self, exploring: Exploring, joined: Array, step: After, seed: Array, clock: Array
    ) -> tuple[Exploring, Decided | None]:
        """How exploration goes on after a step that did ``joined``, and what it decided."""
        held, wait = exploring
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2**31 - 2), clock)
        if self.holds:
            held = renewed(held, step.over, key, self._longest)
        if wait is None:
            return Exploring(held, None), None
        changed = step.ended | step.over | _differ(step.before, step.after)
        patience = jax.random.uniform(jax.random.fold_in(key, 1), changed.shape)
        wait, decided = waited(
            wait, joined, changed, step.terminated | ~step.over, step.reward, patience,
            self.settings.gamma,
        )  # fmt: skip
        return Exploring(held, wait), decided


def drawn_actions(heads: Product, outputs: Array, seed: Array, step: Array) -> Array:
    """(stacks, entries): actions drawn for each stack; seed and step say which draws."""
    key = jax.random.fold_in(jax.random.key(seed), step)
    return joined_actions(heads.sample(outputs, key))


def _differ(before: list[Array], after: list[Array]) -> Array:
    """(environments,): whether stacks show something else."""
    differ = [
        (old != new).reshape(len(old), -1).any(axis=1)
        for old, new in zip(before, after, strict=True)
    ]
    return jnp.stack(differ).any(axis=0)


def _entries(head: Any) -> int:
    """Numbers of an action, as the head gives it."""
    return len(head.sizes) if isinstance(head, Categorical) else int(head.size)
