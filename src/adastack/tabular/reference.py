"""The slow, obvious learner: dictionaries and lists. The compiled ones are tested against it.

Values are kept by stack, as a dictionary from tuples of observations to lists; nothing here knows
of agent states, M_k or packed words.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from adastack.memory import ReferenceStack
from adastack.tabular.moves import BLOCK, STUCK
from adastack.tabular.settings import ValueSettings
from adastack.tasks.finite import FiniteTask

MASK = (1 << 64) - 1
Pair = tuple[tuple[int, ...], int]


class Source(Protocol):
    """Where random numbers come from."""

    def uniform(self) -> float:
        """A number in [0, 1)."""

    def below(self, n: int) -> int:
        """An integer in 0..n-1."""


@dataclass
class SplitMix:
    """The generator of the compiled learners, in plain Python."""

    word: int

    def _next(self) -> int:
        self.word = (self.word + 0x9E3779B97F4A7C15) & MASK
        z = self.word
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return (self._next() >> 11) / 9007199254740992

    def below(self, n: int) -> int:
        """An integer in 0..n-1."""
        return ((self._next() >> 32) * n) >> 32


@dataclass
class ReferenceLearner:
    """One seed of a learner of action values.

    The arguments are those of `adastack.tabular.Session`, with a source of random numbers in place
    of seeds.
    """

    task: FiniteTask
    memory: str
    stack_size: int
    algo: str
    settings: ValueSettings
    steps: int
    source: Source

    def __post_init__(self) -> None:
        task, self.random = self.task, self.memory == "random"
        rule = "adaptive" if self.random else self.memory
        self.stack = ReferenceStack(rule, self.stack_size, task.empty)
        self.n_memory = self.stack.rule.actions(self.stack_size)
        self.width = task.n_actions * (1 if self.random else self.n_memory)
        self.q: dict[tuple[int, ...], list[float]] = {}
        self.traces: dict[Pair, float] = {}
        self.explored: dict[tuple[int, ...], tuple[int, int]] = {}
        self.left = 0
        self.lasted, self.longest, self.limit, self.gain = 0, 0, 0, 0.0
        self.totals: Counter[str] = Counter()
        self._plain = (
            task.observation.tolist(),
            task.next_state.tolist(),
            task.reward.tolist(),
            task.ends.tolist(),
            task.outcome_cdf.tolist(),
            task.cue.tolist(),
        )

    def run(self) -> None:
        """Runs from the first step to the last."""
        observation, next_state, reward, ends, outcome_cdf, cue = self._plain
        task, source = self.task, self.source
        n_actions = task.n_actions
        for step in range(self.steps):
            if step % BLOCK == 0:
                self._set_schedule(step)
            if step == 0:
                state, action, clock = self._begin()
            stack = tuple(self.stack.slots)
            act, memory = action % n_actions, action // n_actions
            if self.random:
                memory = source.below(self.n_memory)
            outcome = _pick(source, outcome_cdf[state][act]) if task.n_outcomes > 1 else 0
            ended = ends[state][act][outcome]
            paid = reward[state][act][outcome]
            after = next_state[state][act][outcome]
            if ended and task.continual:
                after = int(task.start_states[_pick(source, task.start_cdf.tolist())])
            clock += 1
            over = ended or clock == task.time_limit
            slot = self.stack.push(memory, observation[after])
            hidden = slot == len(stack)
            kept = list(stack[:-1]) if hidden else [*stack[:slot], *stack[slot + 1 :]]
            self._count(cue[state], stack, kept, paid, ended, over)
            following = None
            if not ended or task.continual:
                paid += self._bonus(None if hidden else observation[after])
                following = tuple(self.stack.slots)
            state = after
            if self._waits(stack, following, paid, over):
                continue
            if ended or (following != stack and not over):
                self.longest = max(self.longest, self.lasted + 1)
            paid, discount = self._waited(paid)
            action = self._learn(stack, action, paid, discount, following)
            if over and not task.continual:
                state, action, clock = self._begin()

    def _set_schedule(self, step: int) -> None:
        s = self.settings
        done = min(1.0, step / (s.anneal * self.steps))
        self.alpha = s.alpha + (s.alpha_end - s.alpha) * done
        self.epsilon = s.epsilon + (s.epsilon_end - s.epsilon) * done
        longest = math.log(s.persistence) * (1.0 - done) + math.log(s.persistence_end) * done
        self.log_persistence = longest

    def _begin(self) -> tuple[int, int, int]:
        task = self.task
        self.traces.clear()
        self.left = 0
        state = int(task.start_states[_pick(self.source, task.start_cdf.tolist())])
        self.stack.reset(int(task.observation[state]))
        self.seen = Counter(self.stack.slots[-1:])
        return state, self._choose(tuple(self.stack.slots)), 0

    def _row(self, stack: tuple[int, ...]) -> list[float]:
        if stack not in self.q:
            self.q[stack] = [self.settings.initial_value] * self.width
        return self.q[stack]

    def _choose(self, stack: tuple[int, ...]) -> int:
        row = self._row(stack)
        best = row.index(max(row))
        if max(self.settings.persistence, self.settings.persistence_end) == 1:
            act, memory = self._explore()
        else:
            if self.left == 0:
                self.explored.clear()
                self.left = int(math.exp(self.source.uniform() * self.log_persistence))
            self.left -= 1
            if stack not in self.explored:
                self.explored[stack] = self._explore()
            act, memory = self.explored[stack]
        n = self.task.n_actions
        return (best // n if memory < 0 else memory) * n + (best % n if act < 0 else act)

    def _explore(self) -> tuple[int, int]:
        n, source = self.task.n_actions, self.source
        if self.settings.exploration == "joint":
            if source.uniform() < self.epsilon:
                joint = source.below(self.width)
                return joint % n, joint // n
            return -1, -1
        act = source.below(n) if source.uniform() < self.epsilon else -1
        memory = -1
        if self.width > n and source.uniform() < self.epsilon:
            memory = source.below(self.width // n)
        return act, memory

    def _waits(
        self, stack: tuple[int, ...], following: tuple[int, ...] | None, paid: float, over: bool
    ) -> bool:
        """Whether the choice stands because nothing has changed; its reward is then put aside."""
        if not self.settings.count_once or following != stack or over:
            return False
        if self.lasted == 0:
            self.limit = 1 + int(STUCK * max(1, self.longest) * self.source.uniform())
        if self.lasted >= self.limit:
            self.left = 0
            return False
        self.gain += self._worth(self.lasted) * paid
        self.lasted += 1
        return True

    def _waited(self, paid: float) -> tuple[float, float]:
        """What the choice was paid in all, and the discount of what follows."""
        if not self.settings.count_once:
            return paid, self.settings.gamma
        total, discount = self.gain + self._worth(self.lasted) * paid, self._worth(self.lasted + 1)
        self.lasted, self.gain = 0, 0.0
        return total, discount

    def _worth(self, steps: int) -> float:
        return float(self.settings.gamma ** (1.0 + math.log(steps))) if steps else 1.0

    def _learn(
        self,
        stack: tuple[int, ...],
        action: int,
        paid: float,
        discount: float,
        after: tuple[int, ...] | None,
    ) -> int:
        settings, chosen, target = self.settings, -1, paid
        if after is not None:
            value = max(self._row(after))
            if self.algo == "sarsa":
                chosen = self._choose(after)
                value = self._row(after)[chosen]
            elif self.algo == "expected-sarsa":
                value = self._expected(self._row(after))
            target += discount * value
        change = self.alpha * (target - self._row(stack)[action])
        if settings.trace_decay == 0:
            self.q[stack][action] += change
        else:
            self.traces[stack, action] = 1.0
            for (held, tried), trace in self.traces.items():
                self.q[held][tried] += change * trace
            decay = discount * settings.trace_decay
            decayed = {pair: trace * decay for pair, trace in self.traces.items()}
            self.traces = {p: e for p, e in decayed.items() if e >= settings.trace_cut}
        if after is not None and self.algo != "sarsa":
            chosen = self._choose(after)
            row = self._row(after)
            if self.algo == "q-lambda" and row[chosen] != max(row):
                self.traces.clear()
        return chosen

    def _expected(self, row: list[float]) -> float:
        n, epsilon = self.task.n_actions, self.epsilon
        best, n_memory = row.index(max(row)), self.width // n
        total = 0.0
        for action, value in enumerate(row):
            if self.settings.exploration == "joint":
                chance = epsilon / self.width + (1.0 - epsilon) * (action == best)
            else:
                chance = epsilon / n + (1.0 - epsilon) * (action % n == best % n)
                if n_memory > 1:
                    chance *= epsilon / n_memory + (1.0 - epsilon) * (action // n == best // n)
            total += chance * value
        return total

    def _bonus(self, symbol: int | None) -> float:
        if self.settings.intrinsic == "none":
            return 0.0
        if symbol is not None:
            self.seen[symbol] += 1
        everything = sum(self.seen.values())
        total, filled = 0.0, 0
        for held, age in zip(self.stack.slots, self.stack.ages, strict=True):
            if age < 0:
                continue
            rarity = 1.0 - self.seen[held] / everything
            total += rarity if self.settings.intrinsic == "rare" else rarity**age
            filled += 1
        if self.settings.intrinsic == "rare":
            return self.settings.intrinsic_weight * (total - self.stack.stack_size - 1.0)
        return self.settings.intrinsic_weight * (total / (filled + 1.0) - 1.0)

    def _count(
        self,
        cue: list[int],
        stack: tuple[int, ...],
        kept: list[int],
        paid: float,
        ended: bool,
        over: bool,
    ) -> None:
        totals = self.totals
        totals["reward"] += paid  # type: ignore[assignment]
        totals["attempts"] += over
        totals["successes"] += ended and paid > 0
        needs = Counter(label for label in cue if label >= 0)
        memory, after = Counter(stack[:-1]), Counter(kept)
        missing = any(memory[label] < count for label, count in needs.items())
        totals["memory_regret"] += missing
        if over:
            return
        lost = any(after[label] < count for label, count in needs.items())
        totals["passive_regret"] += lost and not missing
        totals["memory_regret_after"] += lost
        current = stack[-1]
        wanted = memory[current] < needs[current]
        totals["active_regret"] += wanted and after[current] <= memory[current]


def _pick(source: Source, cdf: list[float]) -> int:
    number = source.uniform()
    return next(index for index, bound in enumerate(cdf) if number < bound or bound == 1.0)
