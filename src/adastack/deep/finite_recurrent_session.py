"""A run on a finite task whose network has a cell.

Its policy is no function of the stack, so it is not evaluated exactly: episodes are played.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from adastack.deep.agent import StackAgent
from adastack.deep.evaluation import evaluate_seeds
from adastack.deep.finite_recurrent import RecurrentFiniteTrainer
from adastack.deep.finite_session import FiniteSession
from adastack.deep.policies import choose_actions, stack_act
from adastack.process.policy import Act, check_same_signals
from adastack.tasks.entry import Resolved
from adastack.tasks.finite import FiniteTask


class RecurrentFiniteSession(FiniteSession):
    """Trains all seeds on a finite task with a cell, and plays them step by step."""

    make_trainer = RecurrentFiniteTrainer

    @cached_property
    def agent(self) -> StackAgent:
        """The trainer's network over stacks of observations as environments show them."""
        spaces = Discrete(self.task.n_observations), Discrete(self.task.n_actions)
        # The symbols of a finite task come as they are, as in its trainer.
        settings = replace(self.settings, normalize_observation=False)
        return StackAgent(*spaces, self.memory, self.stack_size, settings)

    def choose(
        self, index: int, stacks: Any, greedy: bool, rng: np.random.Generator,
        state: Any = None, begins: Any = None,
    ) -> tuple[NDArray[Any], NDArray[Any], Any]:  # fmt: skip
        """Actions and memory actions of a seed for a batch of stacks; see `Session.choose`."""
        params = self.params_of(index)
        return choose_actions(self.agent, params, stacks, greedy, rng, state, begins)

    def act(self, seed: int, env: Any) -> Act:
        """The greedy policy of a seed, for an environment of a task with the same signals."""
        task = getattr(env.unwrapped, "task", None)
        if not isinstance(task, FiniteTask):
            raise ValueError(f"a policy of {self.task.name} cannot be played on {env.unwrapped}")
        check_same_signals(self.task, task)
        return stack_act(self.agent, self.params_of(self.seeds.index(seed)), env)

    def evaluate(
        self, task: Resolved | None, episodes: int, greedy: bool, seed: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Evaluates every seed's policy: a row for each, and how many steps that took."""
        # Not at the start of a run, which must be quick.
        from adastack.process.evaluation import optimality
        from adastack.theory.kappa import quick_optimum

        played = self.task if task is None else task.finite()
        check_same_signals(self.task, played)
        params = {number: self.params_of(index) for index, number in enumerate(self.seeds)}
        rows, walked = evaluate_seeds(self.agent, params, played, episodes, greedy, seed)
        optimum = quick_optimum(played, self.settings.gamma)
        for row in rows:
            value = row["reward_rate"] / 1000 if played.continual else row["discounted_return"]
            row["optimality"] = optimality(value, optimum)
        return rows, walked
