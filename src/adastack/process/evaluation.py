"""What a policy over stacks is worth on a task, its own or another with the same observations.

Where nothing but the start of an attempt is random, the answer is exact; see `attempts`.

A `StretchedTask` writes rows of cells that look alike as one state. They are passed at once where
the agent's choice leaves its stack as it is, so a billion cells take no longer than a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

from adastack.process.attempts import MAX_STARTS, Attempts, MemoryTask
from adastack.process.evaluated import Evaluated, Optimum, Solve, optimality
from adastack.process.events import regrets_of
from adastack.process.policy import StackPolicy, check_same_signals
from adastack.process.walk import (
    HELD,
    HELD_STEPS,
    KEPT,
    KEPT_STEPS,
)
from adastack.tasks.finite import FiniteTask
from adastack.tasks.stretched import StretchedTask


class Evaluator(MemoryTask):
    """Evaluates policies on a task.

    Args:
        task: The task.
        memory: A memory rule, or ``"random"``.
        stack_size: The number of slots, k.
        gamma: The discount.
        solve: Finds the optimum that policies are compared with; by default they are not.
    """

    def __init__(
        self,
        task: FiniteTask | StretchedTask,
        memory: str,
        stack_size: int,
        gamma: float = 0.99,
        solve: Solve | None = None,
    ) -> None:
        super().__init__(task, memory, stack_size, gamma)
        self._solve = solve

    @cached_property
    def optimum(self) -> Optimum | None:
        """What policies are compared with."""
        if self._solve is None or len(self.stretch.cells):
            return None
        return self._solve(self.task, self.gamma)

    def summary(self, evaluated: Evaluated) -> dict[str, Any]:
        """What is said about a seed."""
        return {
            "success": evaluated.success,
            "return": evaluated.reward,
            "discounted_return": evaluated.discounted,
            "reward_rate": 1000 * evaluated.reward_per_step,
            **regrets_of(evaluated.per_step, evaluated.per_attempt),
            "optimality": self._optimality(evaluated),
            "abstraction": self._abstraction(evaluated),
            "agent_states": evaluated.agent_states,
            "attempt_steps": evaluated.steps,
            "exact": evaluated.exact,
            "remembered": self._remembered(evaluated),
        }

    def _remembered(self, evaluated: Evaluated) -> dict[str, dict[str, float | None]]:
        """For each observation: steps it is kept, how often it is held at the end, its age then."""
        return {
            name: {
                "kept_steps": row[KEPT_STEPS] / row[KEPT] if row[KEPT] else None,
                "at_decision": row[HELD],
                "age_at_decision": row[HELD_STEPS] / row[HELD] if row[HELD] else None,
            }
            for name, row in zip(
                self.task.observation_names, evaluated.remembered.tolist(), strict=True
            )
            if row[KEPT] or row[HELD]
        }

    def _optimality(self, evaluated: Evaluated) -> float | None:
        value = evaluated.reward_per_step if self.task.continual else evaluated.discounted
        return optimality(value, self.optimum)

    def _abstraction(self, evaluated: Evaluated) -> float | None:
        """How many more stacks are held than by an optimal policy with kappa slots, as a share."""
        if self.optimum is None or self.optimum.agent_states is None:
            return None
        fewest = self.optimum.agent_states
        return (evaluated.agent_states - fewest) / fewest

    def play(
        self,
        policy: StackPolicy,
        *,
        deterministic: bool,
        episodes: int,
        seed: int,
        memory: tuple[int, ...] | None = None,
    ) -> Evaluated:
        """Plays a policy, exactly if that is possible.

        Args:
            policy: The policy.
            deterministic: Whether all its probabilities are 0 or 1.
            memory: In a continual task, the slots but the last with which to begin: there an agent
                is never reset. By default they are empty.
            episodes: How many attempts to sample if they have to be sampled.
            seed: Where the random numbers come from.
        """
        certain = deterministic and self.certain
        if certain and len(self.task.start_states) <= MAX_STARTS:
            attempts = Attempts(self, policy, certain, seed, memory)
            evaluated = attempts.chain() if self.task.continual else attempts.every_start()
            if evaluated is not None:
                return evaluated
        # Attempts that never end are cut here.
        return Attempts(self, policy, False, seed, memory).sample(episodes)


class Policies(Protocol):
    """Seeds that have learned policies over the stacks of a task."""

    task: FiniteTask
    memory: str
    stack_size: int
    seeds: list[int]
    settings: Any

    def policy(self, index: int, *, greedy: bool) -> StackPolicy:
        """The policy of one of the seeds."""


def evaluate_policies(
    learned: Policies,
    task: FiniteTask | StretchedTask | None,
    solve: Solve,
    *,
    episodes: int,
    greedy: bool,
    seed: int,
    memories: Sequence[tuple[int, ...] | None] | None = None,
) -> tuple[list[dict[str, Any]], int]:
    """Evaluates the policy of every seed: a row for each, and how many steps that took.

    Args:
        learned: The policies.
        task: Another task with the same observations and actions; None for their own.
        solve: Finds the optimum that policies are compared with.
        episodes: How many attempts to sample if they have to be sampled.
        greedy: Take the best actions, or explore as at the end of training.
        seed: Where the random numbers of sampled attempts come from.
        memories: For each seed, the memory with which it begins; see `Evaluator.play`.
    """
    task = learned.task if task is None else task
    evaluator = Evaluator(task, learned.memory, learned.stack_size, learned.settings.gamma, solve)
    check_same_signals(learned.task, evaluator.task)
    rows, walked = [], 0
    for index, number in enumerate(learned.seeds):
        evaluated = evaluator.play(
            learned.policy(index, greedy=greedy),
            deterministic=greedy,
            episodes=episodes,
            seed=seed,
            memory=None if memories is None else memories[index],
        )
        rows.append({"seed": number, **evaluator.summary(evaluated)})
        walked += evaluated.steps_walked
    return rows, walked
