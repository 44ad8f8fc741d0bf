"""A run on a Gymnasium environment, a rollout of every seed at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from adastack.deep.agent import StackAgent
from adastack.deep.checkpoint_arrays import flatten, unflatten
from adastack.deep.evaluation import evaluate_seeds, vector_env
from adastack.deep.host import HostTrainer, Worker
from adastack.deep.policies import choose_actions, stack_act
from adastack.deep.session import DeepSession
from adastack.deep.update import Params
from adastack.process.events import REPORTED
from adastack.process.policy import Act
from adastack.tasks.entry import Resolved

RESTART = 32
"""Updates between two restarts of all environments. Environments cannot be saved, so a run is saved
where they begin anew, by the same seeds whether it was interrupted or not."""


class StackSession(DeepSession[Resolved]):
    """A run whose policies read stacks of observations; a subclass makes their agent."""

    agent: StackAgent

    def params_of(self, index: int) -> Params:
        """The parameters of a seed."""
        raise NotImplementedError

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

    def evaluate(
        self, task: Resolved | None, episodes: int, greedy: bool, seed: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Evaluates every seed's policy: a row for each, and how many steps that took.

        Raises:
            ValueError: If the task has other observations or actions than the run's own.
        """
        params = {number: self.params_of(index) for index, number in enumerate(self.seeds)}
        # Some environments speak of success only when there is one.
        reports_success = "success" not in self.recorder.unknown
        task = task or self.task
        return evaluate_seeds(self.agent, params, task, episodes, greedy, seed, reports_success)


class GymSession(StackSession):
    """Trains all seeds on a Gymnasium environment, or a world, that is stepped on the host."""

    def prepare(self) -> None:
        """Makes the environments, and a worker for each seed."""
        envs = [vector_env(self.task, self.settings.n_envs) for _ in self.seeds]
        self.agent = HostTrainer(envs[0], self.memory, self.stack_size, self.settings)
        self.workers = [
            Worker(self.agent, env, seed, str(self.task))
            for env, seed in zip(envs, self.seeds, strict=True)
        ]
        self.recorder.unknown = frozenset(REPORTED)
        self._restart_due = True

    @property
    def savable(self) -> bool:  # type: ignore[override]
        """Whether the environments are about to begin anew, or the run is over."""
        return self.done % RESTART == 0 or self.done == self.total

    def start(self) -> None:
        """Nothing to do: the workers are fresh."""

    def advance(self) -> None:
        """One rollout and update of every seed."""
        rows = []
        restart = self._restart_due or self.done % RESTART == 0
        self._restart_due = False
        if restart:
            self.recorder.drop_attempts()
        for worker in self.workers:
            if restart:
                worker.restart(self.done)
            row = worker.advance(self.done, self.total)
            self.check_loss(worker.seed, float(row[-1][0]), self.done)
            rows.append(row)
            self.recorder.unknown &= worker.unknown
        self.recorder.add(*(np.stack(part)[None] for part in zip(*rows, strict=True)))
        self.done += 1

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What `restore` needs."""
        arrays = self.recorder.state()
        for worker in self.workers:
            arrays |= flatten(worker.saved(), f"seed{worker.seed}")
        return arrays, {"done": self.done}

    def restore(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint."""
        self.done = self.restored_updates(meta)
        for worker in self.workers:
            found = unflatten(worker.saved(), f"seed{worker.seed}", arrays, self.limits)
            worker.restore(jax.device_put(found))
        self.recorder.restore(arrays, self.steps_done)

    def extend(self, steps: int) -> None:
        """Adds so many steps; environments begin anew, as they do after a run has been loaded."""
        super().extend(steps)
        self._restart_due = True

    def params_of(self, index: int) -> Params:
        """The parameters of a seed."""
        return self.workers[index].params
