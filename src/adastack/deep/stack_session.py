"""Runs whose policies read stacks of observations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.deep.agent import StackAgent
from adastack.deep.evaluation import evaluate_seeds
from adastack.deep.policies import choose_actions, stack_act
from adastack.deep.session import DeepSession, TaskT
from adastack.deep.update import Params
from adastack.process.policy import Act
from adastack.tasks.entry import Resolved


class StackPolicies(DeepSession[TaskT]):
    """The part of a session that plays its policies; a subclass makes their agent."""

    agent: StackAgent

    def params_by_seed(self) -> dict[int, Params]:
        """The parameters of each seed."""
        return {seed: self.params_of(index) for index, seed in enumerate(self.seeds)}

    def choose(
        self, index: int, stacks: Any, greedy: bool, rng: np.random.Generator,
        state: Any = None, begins: Any = None,
    ) -> tuple[NDArray[Any], NDArray[Any], Any]:  # fmt: skip
        """Actions and memory actions of a seed for a batch of stacks; see `Session.choose`."""
        params = self.params_of(index)
        return choose_actions(self.agent, params, stacks, greedy, rng, state, begins)

    def act(self, seed: int, env: Any) -> Act:
        """The greedy policy of a seed, for an environment with the same spaces."""
        return stack_act(self.agent, self.params_of(self.seeds.index(seed)), env)


class StackSession(StackPolicies[Resolved]):
    """A run in environments, which are also what its policies are evaluated in."""

    def evaluate(
        self, task: Resolved | None, episodes: int, greedy: bool, seed: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Evaluates every seed's policy: a row for each, and how many steps that took.

        Raises:
            ValueError: If the task has other observations or actions than the run's own.
        """
        # Some environments speak of success only when there is one.
        reports_success = "success" not in self.recorder.unknown
        task = task or self.task
        return evaluate_seeds(
            self.agent, self.params_by_seed(), task, episodes, greedy, seed, reports_success
        )
