"""A run on a finite task whose network has a cell.

Its policy is no function of the stack, so it is evaluated by playing episodes, not exactly.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from gymnasium.spaces import Discrete

from adastack.deep.agent import StackAgent
from adastack.deep.evaluation import evaluate_seeds
from adastack.deep.finite_recurrent import RecurrentFiniteTrainer
from adastack.deep.finite_session import FiniteSession
from adastack.deep.stack_session import StackPolicies
from adastack.process.evaluated import optimality
from adastack.process.policy import Act, check_same_signals
from adastack.tasks.entry import Resolved
from adastack.tasks.finite import FiniteTask


class RecurrentFiniteSession(StackPolicies[FiniteTask], FiniteSession):
    """Trains all seeds on a finite task with a cell, and evaluates them by playing episodes."""

    make_trainer = RecurrentFiniteTrainer

    @cached_property
    def agent(self) -> StackAgent:  # type: ignore[override]
        """The trainer's network over stacks of observations as environments show them."""
        spaces = Discrete(self.task.n_observations), Discrete(self.task.n_actions)
        # The symbols of a finite task come as they are, as in its trainer.
        settings = replace(self.settings, normalize_observation=False)
        return StackAgent(*spaces, self.memory, self.stack_size, settings)

    def act(self, seed: int, env: Any) -> Act:
        """The greedy policy of a seed, for an environment of a task with the same signals."""
        task = getattr(env.unwrapped, "task", None)
        if not isinstance(task, FiniteTask):
            raise ValueError(f"a policy of {self.task.name} cannot be played on {env.unwrapped}")
        check_same_signals(self.task, task)
        return super().act(seed, env)

    def evaluate(
        self, task: Resolved | None, episodes: int, greedy: bool, seed: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Evaluates every seed's policy: a row for each, and how many steps that took."""
        played = self.task if task is None else task.finite()
        check_same_signals(self.task, played)
        rows, walked = evaluate_seeds(
            self.agent, self.params_by_seed(), played, episodes, greedy, seed
        )
        optimum = self.solver()(played, self.settings.gamma)
        for row in rows:
            value = row["reward_rate"] / 1000 if played.continual else row["discounted_return"]
            row["optimality"] = optimality(value, optimum)
        return rows, walked
