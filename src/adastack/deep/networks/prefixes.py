"""The prefixes of stacks as a tree: what a sequence network computes for one serves all beyond it.

A network that reads slots one by one, or attends to earlier slots alone, says the same of a prefix
in whichever stack it comes. So all stacks of a task are read in one pass over their distinct
prefixes: 252 of them, instead of 16,128 slots, for frame stacks of 64 in a maze of 64.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Prefixes:
    """The distinct prefixes of some sequences, the shorter ones first."""

    symbol: Ints
    """(prefixes,): what each ends with."""
    parent: Ints
    """(prefixes,): the prefix that is one shorter; -1 if there is none."""
    depth: Ints
    """(prefixes,): how many symbols come before the last."""
    end: Ints
    """(sequences,): the prefix that is the whole sequence."""
    n_symbols: int

    def __len__(self) -> int:
        return len(self.symbol)

    @cached_property
    def widths(self) -> NDArray[np.intp]:
        """(levels,): how many prefixes have each length."""
        return np.bincount(self.depth)

    @cached_property
    def column(self) -> NDArray[np.intp]:
        """(prefixes,): the number of each among those of its length."""
        begins = np.cumsum(self.widths) - self.widths
        return np.arange(len(self)) - begins[self.depth]

    def by_level(self, values: Ints) -> Ints:
        """Values of the prefixes as (levels, columns), with zeros where a level is narrower."""
        levels = np.zeros((len(self.widths), int(self.widths.max())), np.int32)
        levels[self.depth, self.column] = values
        return levels

    @cached_property
    def sees(self) -> NDArray[np.bool_]:
        """(prefixes, prefixes): whether the second is the first or begins it."""
        seen = np.eye(len(self), dtype=bool)
        for prefix in np.flatnonzero(self.parent >= 0):
            seen[prefix] |= seen[self.parent[prefix]]
        return seen


def prefixes_of(stacks: Any, empty: int, read_empty: bool, most: int) -> Prefixes | None:
    """The prefixes of stacks of symbols; None if there are more than so many.

    Args:
        stacks: (stacks, k), empty slots first.
        empty: The symbol of an empty slot, the largest.
        read_empty: Whether empty slots are read like others, or left out.
        most: How many there may be.
    """
    stacks = np.asarray(stacks)
    n, k = stacks.shape
    filled = np.full(n, k) if read_empty else np.maximum((stacks != empty).sum(axis=1), 1)
    end = np.full(n, -1, np.int32)
    parts: list[tuple[NDArray[Any], ...]] = []
    total = 0
    for level in range(k):
        open_ = np.flatnonzero(filled > level)
        if not len(open_):
            break
        symbol = stacks[open_, k - filled[open_] + level]
        pairs = (end[open_].astype(np.int64) + 1) * (empty + 1) + symbol
        distinct, number = np.unique(pairs, return_inverse=True)
        parent, last = np.divmod(distinct, empty + 1)
        parts.append((last, parent - 1, np.full(len(distinct), level)))
        end[open_] = total + number
        total += len(distinct)
        if total > most:
            return None
    symbol, parent, depth = (
        np.concatenate(part).astype(np.int32) for part in zip(*parts, strict=True)
    )
    return Prefixes(symbol, parent, depth, end, empty + 1)
