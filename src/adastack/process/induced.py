# ruff: noqa: ANN001, ANN202, SIM110 (the compiled functions have no annotations)
"""Induced: a finite task with a memory folded in, the paper's process M_k.

The distinct stacks an agent can hold are its *agent states*. A step of M_k is two table look-ups:
the task's outcome gives the next hidden state, and `Induced.push` gives the next agent state from
the present one, the memory action and the observation that follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from adastack.files import DamagedFileError
from adastack.memory import Rule, get_rule
from adastack.tasks.finite import FiniteTask, Ints

MAX_PAIRS = 5_000_000


class TooLargeError(ValueError):
    """A process M_k with more reachable pairs than the limit allows."""


@dataclass(frozen=True, eq=False)
class Induced:
    """The reachable part of M_k: pairs of hidden state and stack, and what a push does.

    Build one with `induce`.
    """

    task: FiniteTask
    rule: Rule
    stack_size: int
    stacks: Ints
    """(agent states, stack_size): the observations in each stack; ``task.empty`` marks no entry."""
    push: Ints
    """(agent states, memory actions, observations): the next agent state; -1 if never needed."""
    first: Ints
    """(observations,): the agent state after a reset; -1 if no attempt begins with it."""
    pair_state: Ints
    """(pairs,): the hidden state of each reachable pair."""
    pair_agent: Ints
    """(pairs,): the agent state of each reachable pair."""

    def check_pairs(self, state: Any, agent: Any) -> None:
        """Raises DamagedFileError if a hidden state and an agent state never come together."""
        pairs = self.pair_state.astype(np.int64) * self.n_agent_states + self.pair_agent
        asked = np.asarray(state, np.int64) * self.n_agent_states + np.asarray(agent)
        if not np.isin(asked, pairs).all():
            raise DamagedFileError("the checkpoint is damaged: a stack that cannot be held there")

    @property
    def n_agent_states(self) -> int:
        """The number of distinct stacks an agent can hold."""
        return len(self.stacks)

    @property
    def n_memory_actions(self) -> int:
        """The number of memory actions of the rule at this stack size."""
        return int(self.push.shape[1])

    @property
    def n_pairs(self) -> int:
        """The number of reachable (hidden state, stack) pairs."""
        return len(self.pair_state)

    @cached_property
    def _ids(self) -> dict[tuple[int, ...], int]:
        return {tuple(stack): index for index, stack in enumerate(self.stacks.tolist())}

    @cached_property
    def pair_ids(self) -> dict[tuple[int, int], int]:
        """The number of each reachable pair (hidden state, agent state)."""
        pairs = zip(self.pair_state.tolist(), self.pair_agent.tolist(), strict=True)
        return {pair: index for index, pair in enumerate(pairs)}

    def find(self, stack: tuple[int, ...] | NDArray[Any]) -> int:
        """The agent state with these slots; -1 if it cannot be reached."""
        return self._ids.get(tuple(int(symbol) for symbol in stack), -1)

    def label(self, agent_state: int) -> str:
        """The stack in words, oldest first: ``"red | grey"``."""
        names = (*self.task.observation_names, "-")
        return " | ".join(names[symbol] for symbol in self.stacks[agent_state])


def induce(
    task: FiniteTask,
    rule: str | Rule = "adaptive",
    stack_size: int = 2,
    *,
    max_pairs: int = MAX_PAIRS,
) -> Induced:
    """Enumerates the reachable part of M_k, whatever the agent does.

    Stacks begin empty (padding ``"empty"``). Time limits are ignored: what is reached here is what
    could be reached in unlimited time.

    Args:
        task: The task.
        rule: A memory rule or its name.
        stack_size: The number of slots, k.
        max_pairs: How many (hidden state, stack) pairs to hold at most.

    Raises:
        TooLargeError: If there are more than ``max_pairs`` reachable pairs.

    Example:
        >>> from adastack.process import induce
        >>> from adastack.tasks import passive_tmaze
        >>> induce(passive_tmaze(length=16), "adaptive", 2).n_agent_states
        10
    """
    rule = get_rule(rule)
    offsets, targets = _successors(task)
    found = _explore(
        task.observation,
        offsets,
        targets,
        task.start_states,
        rule.table(stack_size, hiding=True),
        task.empty,
        max_pairs,
    )
    overflow, stacks, push, first, keys = found
    if overflow:
        raise TooLargeError(
            f"{task.name} with {rule.name} memory of {stack_size} slots has more than "
            f"{max_pairs:,} reachable (state, stack) pairs: use a smaller stack_size, a shorter "
            f"task or a larger max_pairs"
        )
    pair_agent, pair_state = np.divmod(keys, task.n_states)
    return Induced(
        task,
        rule,
        int(stack_size),
        stacks,
        push,
        first,
        pair_state.astype(np.int32),
        pair_agent.astype(np.int32),
    )


def _successors(task: FiniteTask) -> tuple[NDArray[np.int64], Ints]:
    """The states that can follow each state, as offsets into one list of targets."""
    possible = task.probability > 0
    origin, action, outcome = np.nonzero(possible & ~task.ends)
    edges = origin * task.n_states + task.next_state[origin, action, outcome]
    if task.continual:
        ending = np.flatnonzero((possible & task.ends).any(axis=(1, 2)))
        respawns = ending[:, None] * task.n_states + task.start_states
        edges = np.concatenate([edges, respawns.ravel()])
    origin, target = np.divmod(np.unique(edges), task.n_states)
    offsets = np.searchsorted(origin, np.arange(task.n_states + 1))
    return offsets, target.astype(np.int32)


# The compiled part. Stacks and pairs are interned: each gets a number, found again through an
# open-addressing hash table (a place holds a number, or -1) that doubles before it is half full.
# Arrays are copied in loops: an assignment to a slice takes seconds to compile, for the message
# of an error that cannot happen.


@numba.njit(cache=True)
def _copy(source, target):  # type: ignore[no-untyped-def]
    """Writes an array to the beginning of a larger one."""
    flat_source, flat_target = source.reshape(-1), target.reshape(-1)
    for i in range(len(flat_source)):
        flat_target[i] = flat_source[i]


@numba.njit(cache=True)
def _hash_stack(stack):  # type: ignore[no-untyped-def]
    value = np.uint64(1469598103934665603)
    for symbol in stack:
        value = (value ^ np.uint64(symbol)) * np.uint64(1099511628211)
        value ^= value >> np.uint64(29)
    return value


@numba.njit(cache=True)
def _hash_key(key):  # type: ignore[no-untyped-def]
    value = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> np.uint64(32))


@numba.njit(cache=True)
def _same(a, b):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        if a[i] != b[i]:
            return False
    return True


@numba.njit(cache=True)
def _place_of_stack(stacks, table, stack):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(table) - 1)
    place = _hash_stack(stack) & mask
    while table[place] >= 0 and not _same(stacks[table[place]], stack):
        place = (place + np.uint64(1)) & mask
    return place


@numba.njit(cache=True)
def _place_of_key(keys, table, key):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(table) - 1)
    place = _hash_key(key) & mask
    while table[place] >= 0 and keys[table[place]] != key:
        place = (place + np.uint64(1)) & mask
    return place


@numba.njit(cache=True)
def _intern_stack(stacks, table, count, stack):  # type: ignore[no-untyped-def]
    """Returns the stacks and table, perhaps larger, and the stack's number."""
    place = _place_of_stack(stacks, table, stack)
    if table[place] >= 0:
        return stacks, table, table[place]
    if count == len(stacks):
        larger = np.empty((2 * count, len(stack)), np.int32)
        _copy(stacks, larger)
        stacks = larger
        table = np.full(4 * len(stacks), -1, np.int32)
        for old in range(count):
            table[_place_of_stack(stacks, table, stacks[old])] = old
        place = _place_of_stack(stacks, table, stack)
    _copy(stack, stacks[count])
    table[place] = count
    return stacks, table, count


@numba.njit(cache=True)
def _intern_key(keys, table, count, key):  # type: ignore[no-untyped-def]
    """Returns the keys and table, perhaps larger, and how many keys there are now."""
    place = _place_of_key(keys, table, key)
    if table[place] >= 0:
        return keys, table, count
    if count == len(keys):
        larger = np.empty(2 * count, np.int64)
        _copy(keys, larger)
        keys = larger
        table = np.full(4 * len(keys), -1, np.int32)
        for old in range(count):
            table[_place_of_key(keys, table, keys[old])] = old
        place = _place_of_key(keys, table, key)
    keys[count] = key
    table[place] = count
    return keys, table, count + 1


@numba.njit(cache=True)
def _pushed(stack, evict, action, symbol, empty):  # type: ignore[no-untyped-def]
    """The stack after one push, by the rule's table; slot k is the symbol, which stays out."""
    filled = 0
    for held in stack:
        filled += held != empty
    slot = evict[action, filled]
    after = np.empty_like(stack)
    for i in range(len(stack) - 1):
        after[i] = stack[i + (i >= slot)]
    after[-1] = symbol if slot < len(stack) else stack[-1]
    return after


@numba.njit(cache=True)
def _explore(  # type: ignore[no-untyped-def]
    observation, offsets, targets, starts, evict, empty, max_pairs
):
    """Breadth-first over pairs; a pair is the key ``agent_state * n_states + state``."""
    n_states, stack_size, n_memory = len(observation), evict.shape[1] - 1, evict.shape[0]
    stacks, stack_table, n_stacks = (
        np.empty((64, stack_size), np.int32),
        np.full(256, -1, np.int32),
        0,
    )
    keys, key_table, n_keys = np.empty(256, np.int64), np.full(1024, -1, np.int32), 0
    push = np.full((64, n_memory, empty), -1, np.int32)
    first = np.full(empty, -1, np.int32)
    for state in starts:
        symbol = observation[state]
        stack = np.full(stack_size, empty, np.int32)
        stack[-1] = symbol
        stacks, stack_table, agent = _intern_stack(stacks, stack_table, n_stacks, stack)
        n_stacks = max(n_stacks, agent + 1)
        first[symbol] = agent
        key = np.int64(agent) * n_states + state
        keys, key_table, n_keys = _intern_key(keys, key_table, n_keys, key)
    done = 0
    while done < n_keys and n_keys <= max_pairs:
        origin, state = keys[done] // n_states, keys[done] % n_states
        done += 1
        for action in range(n_memory):
            for after in targets[offsets[state] : offsets[state + 1]]:
                symbol = observation[after]
                agent = push[origin, action, symbol]
                if agent < 0:
                    stack = _pushed(stacks[origin], evict, action, symbol, empty)
                    stacks, stack_table, agent = _intern_stack(stacks, stack_table, n_stacks, stack)
                    n_stacks = max(n_stacks, agent + 1)
                    if len(push) < len(stacks):
                        larger = np.full((len(stacks), n_memory, empty), -1, np.int32)
                        _copy(push, larger)
                        push = larger
                    push[origin, action, symbol] = agent
                key = np.int64(agent) * n_states + after
                keys, key_table, n_keys = _intern_key(keys, key_table, n_keys, key)
    return n_keys > max_pairs, stacks[:n_stacks], push[:n_stacks], first, keys[:n_keys]
