"""What seeds have learned on a finite task: how they act in it, and how well."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.process.evaluated import Solve
from adastack.process.policy import Act, StackPolicy, choose_actions, finite_act
from adastack.tasks.entry import Resolved
from adastack.tasks.finite import FiniteTask


class FinitePolicies:
    """The part of a session that plays its policies; a subclass has `policy` and `solver`."""

    task: FiniteTask
    memory: str
    stack_size: int
    settings: Any
    seeds: list[int]
    random = False
    """Whether slots are evicted at random."""

    def policy(self, index: int, *, greedy: bool = True) -> StackPolicy:
        """What one of the seeds has learned."""
        raise NotImplementedError

    def solver(self) -> Solve:
        """What finds the optimum that policies are compared with."""
        raise NotImplementedError

    def kept_slots(self, index: int) -> tuple[int, ...] | None:
        """The slots with which a seed goes on in a continual task; None: with empty ones."""
        return None

    def choose(
        self, index: int, stacks: Any, greedy: bool, rng: np.random.Generator,
        state: Any = None, begins: Any = None,
    ) -> tuple[NDArray[Any], NDArray[Any], Any]:  # fmt: skip
        """Actions and memory actions of a seed for a batch of stacks, (batch, k)."""
        policy = self.policy(index, greedy=greedy)
        return *choose_actions(policy, stacks, self.task.n_actions, rng, self.random), None

    def act(self, seed: int, env: Any) -> Act:
        """The greedy policy of a seed, for an environment of a task with the same signals."""
        return finite_act(self.task, self.policy(self.seeds.index(seed)), self.random, seed, env)

    def evaluate(
        self, task: Resolved | None, episodes: int, greedy: bool, seed: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Evaluates every seed's policy; see `evaluate_policies`."""
        # Not at the start of a run, which must be quick.
        from adastack.process.evaluation import evaluate_policies

        return evaluate_policies(
            self, None if task is None else task.to_evaluate(), self.solver(),
            episodes=episodes, greedy=greedy, seed=seed,
            memories=[self.kept_slots(index) for index in range(len(self.seeds))],
        )  # fmt: skip
