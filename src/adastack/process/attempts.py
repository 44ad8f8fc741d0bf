"""Attempts of one policy over stacks, followed exactly or sampled.

Where nothing but the start of an attempt is random, every start is followed to its end, and in a
continual task the attempts form a small Markov chain that is solved. Elsewhere attempts are
sampled. What a continual agent remembers is always sampled: an observation may be kept for any
number of attempts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adastack.process.chain import recurrent_classes, visits
from adastack.process.evaluated import Evaluated
from adastack.process.events import EVENTS
from adastack.process.policy import RANDOM, StackPolicy, learning_rule
from adastack.process.stacks import StackIndex
from adastack.process.tables import cue_classes, stackless_tables
from adastack.process.walk import (
    AGENT,
    CELL,
    COUNTS,
    DISCOUNTED,
    LIMIT,
    LOOP,
    MARK_AGENT,
    MARK_CELL,
    MARK_STATE,
    MARK_STEPS,
    MEMORY_ACTION,
    MISSING,
    OVER,
    PLACES,
    REMEMBERED,
    REWARD,
    STATE,
    STEPS,
    SUMS,
    SYMBOL,
    Stretch,
    walk,
)
from adastack.tasks.finite import FiniteTask, Floats
from adastack.tasks.stretched import StretchedTask

MAX_STARTS = 2000
"""Up to this many different beginnings of an attempt are followed; beyond, they are sampled."""
LONGEST = 10_000
"""Steps after which a sampled attempt is cut, or four times the states if that is more."""
ATTEMPTS_WATCHED, STEPS_WATCHED = 1000, 10_000_000
"""For how long a continual agent is watched to see what it remembers."""


class MemoryTask:
    """A task with a memory, as attempts are walked in it."""

    def __init__(
        self, task: FiniteTask | StretchedTask, memory: str, stack_size: int, gamma: float
    ) -> None:
        self.task, self.stretch, self.n_states = _written_out(task)
        self.stack_size, self.gamma = stack_size, gamma
        self.random = memory == RANDOM
        self.rule = learning_rule(memory)
        self.cues = cue_classes(self.task)[0]
        n_memory_actions = 1 if self.random else self.rule.actions(stack_size)
        self.tables = stackless_tables(self.task, n_memory_actions)

    @cached_property
    def certain(self) -> bool:
        """Whether nothing but the start is random, for a policy that does not draw."""
        return not self.random and self.task.n_outcomes == 1


class Attempts:
    """Attempts of one policy."""

    def __init__(
        self,
        where: MemoryTask,
        policy: StackPolicy,
        certain: bool,
        seed: int,
        memory: tuple[int, ...] | None,
    ) -> None:
        self.where, self.task = where, where.task
        self.memory = memory if where.task.continual else None
        # Walks in which nothing is random end or loop; any other may go on for ever.
        self.may_loop = certain and where.task.time_limit is None
        # A loop up to a time limit is walked, unless that is the limit of a stretched task.
        self.may_jump = certain and not self.may_loop and len(where.stretch.cells) > 0
        self.limit = np.inf if certain else max(LONGEST, 4 * where.n_states)
        self.stacks = StackIndex(where.task, where.cues, where.rule, where.stack_size, policy)
        self.generator = np.random.default_rng(seed)
        self.word = self.generator.integers(0, 2**64, 1, np.uint64)
        self.ages = np.zeros(where.stack_size, np.int64)
        self.walked = 0

    def every_start(self) -> Evaluated | None:
        """The expectation over the starts of an episodic task; None if an attempt never ends."""
        sums = self._nothing()
        for state, chance in self._starts():
            self.ages[:] = 0
            attempt, end = self._attempt(state, self._first(state))
            if end is None:
                return None
            sums += chance * attempt
        return self._played(sums, sums / sums[STEPS], exact=True)

    def chain(self) -> Evaluated | None:
        """The long run of a continual task; None if attempts can begin in too many ways."""
        nodes: dict[tuple[int, int], int] = {}
        rows: list[Floats] = []
        edges: list[tuple[int, int, float]] = []
        begin = np.zeros(MAX_STARTS)
        for state, chance in self._starts():
            begin[nodes.setdefault((state, self._first(state)), len(nodes))] += chance
        waiting = list(nodes)
        while waiting:
            origin = len(rows)
            sums, end = self._attempt(*waiting.pop(0))
            rows.append(sums)
            if end is None:
                edges.append((origin, origin, 1.0))
                continue
            for state, chance in self._starts():
                node = state, self.stacks.push(*end, int(self.task.observation[state]))
                if node not in nodes:
                    nodes[node] = len(nodes)
                    waiting.append(node)
                edges.append((origin, nodes[node], chance))
            if len(nodes) > MAX_STARTS:
                return None
        return self._long_run(np.array(rows), edges, begin[: len(rows)])

    def sample(self, episodes: int) -> Evaluated:
        """Means over attempts evaluated in a row."""
        total, taken = self._in_a_row(episodes, np.inf)
        return self._played(total / taken, total / total[STEPS], exact=False)

    def _in_a_row(self, episodes: int, steps: float) -> tuple[Floats, int]:
        """Sums over attempts, and how many they were; after so many steps no other begins."""
        total, taken = self._nothing(), 0
        end: tuple[int, int] | None = None
        while taken < episodes and total[STEPS] < steps:
            state = int(self.generator.choice(self.task.start_states, p=self._start_chances))
            if end is None or not self.task.continual:
                agent, self.ages[:] = self._first(state), 0
            else:
                agent = self.stacks.push(*end, int(self.task.observation[state]))
            sums, end = self._attempt(state, agent)
            total, taken = total + sums, taken + 1
        return total, taken

    def _long_run(
        self, rows: Floats, edges: list[tuple[int, int, float]], begin: Floats
    ) -> Evaluated:
        origin, target, chance = zip(*edges, strict=True)
        shape = (len(rows), len(rows))
        transition = sparse.csr_array((chance, (origin, target)), shape=shape)
        _, staying = visits(transition, begin)
        per_step = self._nothing()
        for members in recurrent_classes(transition):
            share = staying[members]
            if share.sum() > 0:
                per_step += share.sum() * (share @ rows[members]) / (share @ rows[members, STEPS])
        per_attempt = staying @ rows
        watched, taken = self._in_a_row(ATTEMPTS_WATCHED, STEPS_WATCHED)
        per_attempt[SUMS:] = watched[SUMS:] / taken
        return self._played(per_attempt, per_step, exact=True)

    def _attempt(self, state: int, agent: int) -> tuple[Floats, tuple[int, int] | None]:
        """One attempt: its sums, and the agent state and memory action at its end.

        An attempt that runs in a loop has no end; its sums are those of one round.
        """
        place = np.full(PLACES, -1, np.int64)
        place[STATE], place[CELL], place[AGENT] = state, 0, agent
        if self.may_loop or self.may_jump:
            place[[MARK_STATE, MARK_CELL, MARK_AGENT, MARK_STEPS]] = state, 0, agent, 0
        sums = self._nothing()
        while True:
            stop = self._walk(place, sums, self.limit)
            if stop == MISSING:
                self.stacks.push(*(int(place[i]) for i in (AGENT, MEMORY_ACTION, SYMBOL)))
                continue
            if stop == LOOP:
                period = int(sums[STEPS]) - int(place[MARK_STEPS])
                place[MARK_STEPS] = -1
                if self.may_jump and self._jump(place, sums, period) != OVER:
                    continue
                if self.may_loop:
                    # Until nothing that is older than the loop will ever be evicted.
                    settling = (self.where.stack_size + 1) * period
                    self._walk(place, sums, sums[STEPS] + settling)
                    self.walked += int(sums[STEPS])
                    sums[:] = 0
                    self._walk(place, sums, period)
            break
        self.walked += int(sums[STEPS])
        ended = stop == OVER or self.may_jump
        return sums, (int(place[AGENT]), int(place[MEMORY_ACTION])) if ended else None

    def _jump(self, place: NDArray[np.int64], sums: Floats, period: int) -> int:
        """Goes round a loop as often as the time limit allows; returns how it stopped.

        The first rounds are walked, until nothing that is older than the loop will ever be evicted;
        the next one is what all others are like.
        """
        limit = self.task.time_limit
        assert limit is not None
        for _ in range(self.where.stack_size + 1):
            before, ages = sums.copy(), self.ages.copy()
            if self._walk(place, sums, sums[STEPS] + period) == OVER:
                return OVER
        rounds = (limit - 1 - int(sums[STEPS])) // period
        one, shrink = sums - before, self.where.gamma**period
        times = shrink * ((1 - shrink**rounds) / (1 - shrink) if shrink < 1 else rounds)
        discounted = sums[DISCOUNTED] + times * one[DISCOUNTED]
        sums += rounds * one
        sums[DISCOUNTED] = discounted
        self.ages += rounds * (self.ages - ages)
        return LIMIT

    def _walk(self, place: NDArray[np.int64], sums: Floats, limit: float) -> int:
        e = self.where
        stop: int = walk(
            e.tables, e.stretch, self.stacks.arrays, e.random, e.gamma, self.word, place, self.ages,
            sums, float(limit),
        )  # fmt: skip
        return stop

    def _nothing(self) -> Floats:
        return np.zeros(SUMS + REMEMBERED * self.task.n_observations)

    def _first(self, state: int) -> int:
        return self.stacks.first(int(self.task.observation[state]), self.memory)

    def _starts(self) -> Iterator[tuple[int, float]]:
        for state in self.task.start_states.tolist():
            yield state, float(self.task.start[state])

    @cached_property
    def _start_chances(self) -> Floats:
        chances: Floats = self.task.start[self.task.start_states]
        normalised: Floats = chances / chances.sum()
        return normalised

    def _played(self, per_attempt: Floats, per_step: Floats, exact: bool) -> Evaluated:
        return Evaluated(
            exact=exact,
            steps=float(per_attempt[STEPS]),
            reward=float(per_attempt[REWARD]),
            discounted=float(per_attempt[DISCOUNTED]),
            reward_per_step=float(per_step[REWARD]),
            per_attempt=_named(per_attempt),
            per_step=_named(per_step),
            agent_states=int(self.stacks.arrays.seen.sum()),
            steps_walked=self.walked,
            remembered=per_attempt[SUMS:].reshape(-1, REMEMBERED),
        )


def _written_out(task: FiniteTask | StretchedTask) -> tuple[FiniteTask, Stretch, int]:
    """The arrays of a task, the rows of cells in it, and how many cells there are."""
    if isinstance(task, StretchedTask):
        return task.short, Stretch(task.cells, task.back), task.n_states
    return task, Stretch(np.zeros(0, np.int64), np.zeros(0, np.int32)), task.n_states


def _named(sums: Floats) -> dict[str, float]:
    return dict(zip(EVENTS, sums[COUNTS:SUMS].tolist(), strict=True))
