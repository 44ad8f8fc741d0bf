"""How the observations of a rollout become the network's inputs.

Observations are stored as columns, one array for each part of the observation. Columns of real
numbers and of symbols may be normalised by running statistics, which are part of the parameters:
``params["seen"]``, by the column's number.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from jax import Array

from adastack.deep.clock import CLOCK, N_CRITIC_FEATURES, STORED_AT, clock_features
from adastack.deep.habits import surprisal_of_numbers, surprisal_of_symbols
from adastack.deep.network_table import NETWORKS
from adastack.deep.networks.observations import Leaf, Spec, leaves_in, one_hot, respecified
from adastack.deep.normalise import RunningStats, no_stats, normalised, updated_stats
from adastack.deep.settings import PPOSettings
from adastack.deep.spaces import columns_of, nested
from adastack.deep.update import Params

UNIT_DEVIATIONS = math.sqrt(12)
"""The width of a uniform distribution, in standard deviations."""


class Inputs:
    """The columns of an observation space, and what the network is given of them.

    Args:
        spec: What the space consists of.
        space: The observation space.
        stack_size: The number of slots, k.
        settings: The settings.
    """

    def __init__(
        self, spec: Spec, space: spaces.Space[Any], stack_size: int, settings: PPOSettings
    ) -> None:
        self.spec, self.stack_size = spec, stack_size
        self.columns = columns_of(spec, space)
        """Shape, dtype and padding of each part of an observation."""
        self.uses_clock = settings.uses_clock
        self.stored = [*self.columns, *([STORED_AT] if self.uses_clock else [])]
        """Shape, dtype and padding of what a rollout stores of each observation."""
        self._units = self._columns_in_units() if settings.normalize_observation else {}
        # Where first stacks repeat their observation, there are no empty slots.
        reads_all = settings.padding == "reset" or settings.read_empty
        self.masked = NETWORKS[settings.net].sequence and not reads_all

    def _columns_in_units(self) -> dict[str, Leaf]:
        """The columns that are normalised: real numbers, and symbols once they are one-hot."""
        leaves = zip(leaves_in(self.spec), self.columns, strict=True)
        return {
            str(i): leaf
            for i, (leaf, (_, dtype, _)) in enumerate(leaves)
            if leaf.kind == "onehot" or (leaf.kind == "box" and np.issubdtype(dtype, np.floating))
        }

    def net_spec(self) -> Spec:
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

    def zeros(self) -> tuple[Any, Any]:
        """A stack of zeros as the network is given it, and the critic's features beside it."""
        rows = [
            np.zeros((1, self.stack_size, self._n_inputs(str(i))), np.float32)
            if str(i) in self._units
            else np.zeros((1, self.stack_size, *shape), dtype)
            for i, (shape, dtype, _) in enumerate(self.columns)
        ]
        critic_features = np.zeros((1, self.stack_size, N_CRITIC_FEATURES), np.float32)
        return self.nested(rows), critic_features if self.uses_clock else None

    def nested(self, stored: list[Any]) -> Any:
        """Columns, nested as the network expects them."""
        return nested(self.spec, stored[: len(self.columns)])

    def critic_features(self, params: Params, stored: list[Array]) -> Array | None:
        """What the critic is given of stacks beside the observations; None without a clock."""
        return clock_features(params["seen"][CLOCK], stored[-1]) if self.uses_clock else None

    def filled(self, leaves: list[Array], filled: Array | None) -> Array | None:
        """How many slots of each stack are read; all, if None.

        Args:
            leaves: What the stacks show.
            filled: How many slots are filled; if None, all but the oldest that look empty.
        """
        if not self.masked or filled is not None:
            return filled if self.masked else None
        shows_nothing = jnp.ones(leaves[0].shape[:2], bool)
        for leaf, (_, _, empty) in zip(leaves[: len(self.columns)], self.columns, strict=True):
            shows_nothing &= (leaf == empty).reshape(*leaf.shape[:2], -1).all(axis=-1)
        empty_slots = jnp.cumprod(shows_nothing, axis=1).sum(axis=1)
        return jnp.maximum(self.stack_size - empty_slots, 1)

    # Units.

    def first_stats(self) -> dict[str, RunningStats]:
        """The running statistics before anything has been seen."""
        seen = {name: no_stats((self._n_entries(name),)) for name in self._units}
        if self.uses_clock:
            seen[CLOCK] = no_stats(())
        return seen

    def with_stats(self, params: Params, columns: list[Array], n_new: int) -> Params:
        """The parameters, with what a rollout has seen: the last ``n_new`` rows of its columns."""
        if "seen" not in params:
            return params
        seen = {}
        if self.uses_clock:
            stored_at = columns[-1][-n_new:]
            every = jnp.ones_like(stored_at, bool)
            seen[CLOCK] = updated_stats(params["seen"][CLOCK], stored_at, every)
        for name, unit in self._units.items():
            rows = self._numbers(name, columns[int(name)][-n_new:])
            counts = jnp.ones_like(rows, bool) if unit.kind == "onehot" else rows != 0
            seen[name] = updated_stats(params["seen"][name], rows, counts)
        return {**params, "seen": seen}

    def normalise(self, params: Params, stored: list[Array]) -> list[Array]:
        """The columns, of which some are normalised."""
        return [
            self._in_units(str(i), params["seen"][str(i)], leaf) if str(i) in self._units else leaf
            for i, leaf in enumerate(stored)
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

    def deviations(self, params: Params, index: int, leaf: Array) -> Array:
        """(stacks, k, entries): a column of numbers, scaled to a deviation of about one."""
        numbers = leaf.reshape(*leaf.shape[:2], -1).astype(jnp.float32)
        if str(index) in self._units:
            return normalised(params["seen"][str(index)], numbers)
        scale = leaves_in(self.spec)[index].scale
        if scale != 1.0:  # Integers, scaled to 0..1: about as wide as they can be.
            return (numbers * scale - 0.5) * UNIT_DEVIATIONS
        return numbers

    @property
    def knows_rarity(self) -> bool:
        """Whether it is known of some column how rare its entries are."""
        return bool(self._units)

    def surprisal(self, params: Params, leaves: list[Array]) -> Array:
        """(stacks, k): how rare the observation in each slot is, in nats; needs a clock.

        Only columns that are normalised count: of the others nothing is known.
        """
        total, found = params["seen"][CLOCK].number, jnp.zeros(leaves[0].shape[:2])
        for name, unit in self._units.items():
            seen, numbers = params["seen"][name], self._numbers(name, leaves[int(name)])
            if unit.kind == "onehot":
                found += surprisal_of_symbols(seen, numbers)
            else:
                found += surprisal_of_numbers(seen, numbers, total)
        return found
