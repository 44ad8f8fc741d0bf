"""Playing a learned policy on a finite task of any size, compiled.

A policy reads stacks, not hidden states, so it is tabulated over the stacks that turn up: a maze of
a million cells needs no more entries than a short one. The compiled loop stops when it meets a
stack it does not know, the table grows, and the loop goes on.
"""

# ruff: noqa: ANN001, ANN202
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from adastack.deep.tables import (
    ACTIVE_REGRET,
    MEMORY_REGRET,
    PASSIVE_REGRET,
    evicted_slots,
    regret_bits,
)
from adastack.memory import Rule
from adastack.tasks.finite import FiniteTask

Cues = tuple[NDArray[np.int32], NDArray[np.int32]]
"""The distinct cues of a task and which of them each state has: `cue_classes`."""
Policy = Callable[[NDArray[np.int32]], NDArray[np.float64]]
"""(stacks, k) -> (stacks, pairs): probabilities of the pairs of actions."""

STEPS_PER_STATE = 4
LEAST_STEPS = 1000


class Stacks:
    """The stacks that have turned up so far, with all that a step needs to know about them."""

    def __init__(
        self, task: FiniteTask, cues: Cues, rule: Rule, stack_size: int, policy: Policy
    ) -> None:
        self.task, self.policy = task, policy
        self.rule_table = rule.table(stack_size)
        self.classes, self.cue_class = cues
        self._ids: dict[tuple[int, ...], int] = {}
        n_memory = len(self.rule_table)
        pairs = n_memory * task.n_actions
        self.stacks = np.empty((0, stack_size), np.int32)
        self.push = np.empty((0, n_memory, task.n_observations), np.int32)
        self.cdf = np.empty((0, pairs))
        self.greedy = np.empty(0, np.int32)
        self.evicted = np.empty((0, n_memory), np.int32)
        self.regrets = np.empty((len(self.classes), 0, n_memory), np.uint8)
        self.first = np.full(task.n_observations, -1, np.int32)
        for symbol in np.unique(task.observation[task.start_states]):
            stack = np.full(stack_size, task.empty, np.int32)
            stack[-1] = symbol
            self.first[symbol] = self._intern(stack)

    def learn(self, agent: int, memory_action: int, symbol: int) -> None:
        """Fills in where a push leads."""
        stack = self.stacks[agent]
        kept = np.delete(stack, self.evicted[agent, memory_action])
        self.push[agent, memory_action, symbol] = self._intern(
            np.append(kept, symbol).astype(np.int32)
        )

    def _intern(self, stack: NDArray[np.int32]) -> int:
        key = tuple(stack.tolist())
        if key in self._ids:
            return self._ids[key]
        self._ids[key] = len(self.stacks)
        one = stack[None]
        evicted = evicted_slots(one, self.rule_table, self.task.empty)
        chances = self.policy(one)
        sure = chances.argmax(axis=1) if chances.max() == 1.0 else np.array([-1])
        cdf = np.cumsum(chances, axis=1)
        cdf[:, -1] = 1.0
        bits = regret_bits(one, evicted, self.classes, self.task)
        self.stacks = np.concatenate([self.stacks, one])
        self.push = np.concatenate([self.push, np.full((1, *self.push.shape[1:]), -1, np.int32)])
        self.cdf = np.concatenate([self.cdf, cdf])
        self.greedy = np.concatenate([self.greedy, sure.astype(np.int32)])
        self.evicted = np.concatenate([self.evicted, evicted])
        self.regrets = np.concatenate([self.regrets, bits], axis=1)
        return self._ids[key]


@dataclass(frozen=True)
class Played:
    """What happened in a number of attempts."""

    attempts: int
    steps: int
    successes: int
    reward: float
    """Summed over all steps."""
    returns: float
    """Undiscounted, summed over the attempts."""
    memory_regret: int
    active_regret: int
    passive_regret: int
    agent_states: int
    """Distinct stacks that were held."""
    kept_steps: NDArray[np.int64]
    """(observations,): steps for which each observation was kept, summed."""
    kept_count: NDArray[np.int64]
    """(observations,): how many were given up or held at the end of an attempt."""
    decision_count: NDArray[np.int64]
    """(observations,): how many were in memory when an attempt ended."""
    decision_age: NDArray[np.int64]
    """(observations,): their ages, summed."""


def play(
    task: FiniteTask,
    cues: Cues,
    rule: Rule,
    stack_size: int,
    policy: Policy,
    attempts: int,
    seed: int,
) -> Played:
    """Plays a number of attempts, or as many as end within a generous number of steps."""
    stacks = Stacks(task, cues, rule, stack_size, policy)
    n = task.n_observations
    counts = np.zeros((4, n), np.int64)
    place = np.array([-1, -1, 0, 0, attempts], np.int64)
    births = np.zeros(stack_size, np.int64)
    generator = np.array([seed], np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)
    sums, regretted = np.zeros(6), np.zeros(3, np.int64)
    limit = attempts * max(LEAST_STEPS, STEPS_PER_STATE * task.n_states)
    start_cdf, outcome_cdf = task.start_cdf, task.outcome_cdf
    seen = np.zeros(64, np.bool_)
    while True:
        if len(seen) < len(stacks.stacks):
            seen = np.concatenate([seen, np.zeros(2 * len(stacks.stacks), np.bool_)])
        agent, memory_action, symbol = _play(
            task.observation, task.next_state, outcome_cdf, task.reward, task.ends,
            task.start_states, start_cdf, task.time_limit or 0, task.continual,
            stacks.stacks, stacks.push, stacks.first, stacks.cdf, stacks.greedy, stacks.evicted,
            stacks.regrets, stacks.cue_class, task.empty, limit,
            place, births, generator, sums, regretted, counts, seen,
        )  # fmt: skip
        if agent < 0:
            break
        stacks.learn(agent, memory_action, symbol)
    return Played(
        int(sums[0]), int(sums[1]), int(sums[2]), float(sums[3]), float(sums[4]),
        int(regretted[0]), int(regretted[1]), int(regretted[2]), int(seen.sum()),
        counts[0], counts[1], counts[2], counts[3],
    )  # fmt: skip


@numba.njit(cache=True)
def _uniform(generator):  # type: ignore[no-untyped-def]
    """SplitMix64: the next number in [0, 1)."""
    generator[0] += np.uint64(0x9E3779B97F4A7C15)
    z = generator[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@numba.njit(cache=True)
def _draw(cdf, uniform):  # type: ignore[no-untyped-def]
    i = 0
    while i < len(cdf) - 1 and uniform >= cdf[i]:
        i += 1
    return i


@numba.njit(cache=True)
def _draw_start(start_cdf, generator):  # type: ignore[no-untyped-def]
    return np.searchsorted(start_cdf, _uniform(generator), side="right")


@numba.njit(cache=True)
def _forget(stack, births, slot, clock, empty, counts):  # type: ignore[no-untyped-def]
    """Counts for how long the observation in a slot was kept."""
    if stack[slot] != empty:
        counts[0, stack[slot]] += clock - births[slot]
        counts[1, stack[slot]] += 1


@numba.njit(cache=True)
def _decide(stack, births, clock, empty, counts):  # type: ignore[no-untyped-def]
    """Counts what was in memory, and how old, when an attempt ended."""
    for slot in range(len(stack) - 1):
        if stack[slot] != empty:
            counts[2, stack[slot]] += 1
            counts[3, stack[slot]] += clock - births[slot]


@numba.njit(cache=True)
def _play(  # type: ignore[no-untyped-def]
    observation, next_state, outcome_cdf, reward, ends, start_states, start_cdf, time_limit,
    continual, stacks, push, first, cdf, greedy, evicted, regrets, cue_class, empty, limit,
    place, births, generator, sums, regretted, counts, seen,
):  # fmt: skip
    """Plays on from ``place``: state, agent, clock, steps of the attempt, attempts to go.

    Returns the push that is not in the table yet, or -1 when all attempts are over. A step that
    meets an unknown push has not been counted and is taken again.
    """
    n_actions, n_outcomes, k = next_state.shape[1], next_state.shape[2], stacks.shape[1]
    state, agent, clock, age, to_go = place
    attempts, steps, successes, total, returns, running = sums
    bad_memory, bad_active, bad_passive = regretted
    missing = -1, -1, -1
    while to_go > 0 and steps < limit:
        if state < 0:
            state = np.int64(start_states[_draw_start(start_cdf, generator)])
            agent = np.int64(first[observation[state]])
            births[k - 1] = clock
        before = generator[0]
        joint = greedy[agent] if greedy[agent] >= 0 else _draw(cdf[agent], _uniform(generator))
        memory, action = joint // n_actions, joint % n_actions
        outcome = 0
        if n_outcomes > 1:
            outcome = _draw(outcome_cdf[state, action], _uniform(generator))
        ended = ends[state, action, outcome]
        over = ended or (time_limit > 0 and age + 1 >= time_limit)
        fresh = over and not continual
        after = np.int64(next_state[state, action, outcome])
        if ended and continual:
            after = np.int64(start_states[_draw_start(start_cdf, generator)])
        following = np.int64(-1)
        if not fresh:
            symbol = observation[after]
            following = np.int64(push[agent, memory, symbol])
            if following < 0:
                generator[0] = before
                missing = agent, memory, symbol
                break
        seen[agent] = True
        paid = reward[state, action, outcome]
        bits = regrets[cue_class[state], agent, memory]
        bad_memory += (bits & MEMORY_REGRET) > 0
        steps += 1
        total += paid
        running += paid
        age += 1
        if over:
            attempts += 1
            successes += ended and paid > 0
            returns += running
            running, age = 0.0, 0
            to_go -= 1
            _decide(stacks[agent], births, clock, empty, counts)
        else:
            bad_active += (bits & ACTIVE_REGRET) > 0
            bad_passive += (bits & PASSIVE_REGRET) > 0
        if fresh:
            for slot in range(k):
                _forget(stacks[agent], births, slot, clock, empty, counts)
            state = -1
        else:
            slot = evicted[agent, memory]
            _forget(stacks[agent], births, slot, clock, empty, counts)
            for i in range(slot, k - 1):
                births[i] = births[i + 1]
            births[k - 1] = clock + 1
            state, agent = after, following
        clock += 1
    place[:] = state, agent, clock, age, to_go
    sums[:] = attempts, steps, successes, total, returns, running
    regretted[:] = bad_memory, bad_active, bad_passive
    return missing
