"""The prefixes that a rollout visited: an update need not read the others.

A rollout of 128 steps meets some ninety of the 252 stacks of a frame stack of 64. How many it meets
is known only when it is over, and compiled code needs to know before; so an update is compiled for
a few numbers of prefixes, and the smallest that is enough is run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.networks.prefixes import Prefixes

T = TypeVar("T")
SHARES = (3 / 8, 1 / 2)
"""Of all prefixes, those for which an update is compiled, beside all: each takes ten seconds."""
FEWEST = 100
"""With fewer prefixes a run would have to be long to make up for compiling."""
LANES = 8


class Part(NamedTuple):
    """Some prefixes, shorter ones first, with all that begin them; as `Prefixes`, on the device."""

    symbol: Array
    depth: Array
    end: Array
    """(stacks of the part,): the prefix that is the whole stack."""
    sees: Array
    row: Array
    """(all stacks,): the number of each in the part; of no meaning for those outside."""


class Visited:
    """Chooses the prefixes of the stacks that a batch holds.

    Args:
        prefixes: The prefixes of all stacks.
    """

    def __init__(self, prefixes: Prefixes) -> None:
        self._all = prefixes
        reached = prefixes.sees[prefixes.end]
        self._reached = jnp.asarray(reached, jnp.float32)
        wanted = {-int(share * len(prefixes) // -LANES) * LANES for share in SHARES}
        self.sizes = [*sorted(size for size in wanted if size < len(prefixes)), len(prefixes)]

    def switch(self, stacks: Array, use: Callable[[Part], T]) -> T:
        """Calls ``use`` with a part that has the prefixes of all ``stacks``, and few others."""
        n_stacks = len(self._all.end)
        met = jnp.zeros(n_stacks, bool).at[stacks.reshape(-1)].set(True)
        needed = met.astype(jnp.float32) @ self._reached > 0
        smallest = jnp.searchsorted(jnp.asarray(self.sizes), needed.sum())
        by_need, by_stack = (jnp.argsort(~each, stable=True) for each in (needed, met))

        def branch(size: int) -> Callable[[], T]:
            return lambda: use(self._part(by_need, by_stack, size))

        found: T = jax.lax.switch(smallest, [branch(size) for size in self.sizes])
        return found

    def _part(self, by_need: Array, by_stack: Array, size: int) -> Part:
        """The first ``size`` prefixes; stacks are never more than the prefixes they need."""
        prefixes = self._all
        symbol, depth, end = (
            jnp.asarray(part) for part in (prefixes.symbol, prefixes.depth, prefixes.end)
        )
        chosen = jnp.sort(by_need[:size])
        place = jnp.zeros(len(prefixes), jnp.int32).at[chosen].set(np.arange(size))
        sees = jnp.asarray(prefixes.sees)[chosen][:, chosen]
        return Part(
            symbol[chosen], depth[chosen], place[end[by_stack[:size]]], sees, jnp.argsort(by_stack)
        )
