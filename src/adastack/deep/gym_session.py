"""A run on a Gymnasium environment, a rollout of every seed at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from adastack.deep.agent import StackAgent
from adastack.deep.checkpoint_arrays import flatten, unflatten
from adastack.deep.evaluation import evaluation_worker, play, vector_env
from adastack.deep.host import HostTrainer, Worker
from adastack.deep.metrics import Recorder
from adastack.deep.settings import PPOSettings
from adastack.deep.update import Params

RESTART = 32
"""Updates between two restarts of all environments. Environments cannot be saved, so a run is saved
where they begin anew, by the same seeds whether it was interrupted or not."""
METRICS = "metrics/"


class StackSession:
    """How far a run over stacks is, and what its policies are worth: the same on both roads."""

    def __init__(self, name: str, agent: StackAgent, seeds: Sequence[int], steps: int) -> None:
        self.name, self.agent, self.settings = name, agent, agent.settings
        self.seeds = list(seeds)
        self.total = -(-steps // agent.settings.steps_per_update)
        self.done = 0
        s = agent.settings
        self.recorder = Recorder(len(seeds), s.n_envs, agent.stack_size, s.gamma)

    @property
    def steps_done(self) -> int:
        """Environment steps of each seed so far."""
        return self.done * self.settings.steps_per_update

    def params_of(self, index: int) -> Params:
        """The parameters of a seed."""
        raise NotImplementedError

    def results(self, episodes: int, greedy: bool, seed: int) -> tuple[list[dict[str, Any]], int]:
        """Plays every seed's policy: a row for each, and how many steps that took."""
        return self.evaluate(self.name, episodes, greedy, seed)

    def evaluate(
        self, name: str, episodes: int, greedy: bool, seed: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Plays every seed's policy on a task with the same observations and actions.

        Raises:
            ValueError: If the task has others.
        """
        rows = []
        for index, number in enumerate(self.seeds):
            worker = evaluation_worker(self.agent, self.params_of(index), name, episodes)
            rows.append({"seed": number, **play(worker, episodes, greedy, seed)})
            worker.env.close()
        return rows, sum(row["steps"] for row in rows)

    def check_loss(self, seed: int, loss: float) -> None:
        """Raises if it is not a number."""
        if not np.isfinite(loss):
            raise FloatingPointError(
                f"the loss of seed {seed} is {loss} at step {self.steps_done}: "
                "lower learning_rate or max_grad_norm"
            )

    def metric_arrays(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint must hold of the metrics."""
        return {METRICS + name: array for name, array in self.recorder.state().items()}

    def restore_metrics(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Goes on counting."""
        self.recorder.restore(
            {k.removeprefix(METRICS): v for k, v in arrays.items() if k.startswith(METRICS)}
        )


class GymSession(StackSession):
    """Trains all seeds on a Gymnasium environment, or a world, that is stepped on the host."""

    def __init__(
        self,
        name: str,
        memory: str,
        stack_size: int,
        settings: PPOSettings,
        seeds: Sequence[int],
        steps: int,
    ) -> None:
        envs = [vector_env(name, settings.n_envs) for _ in seeds]
        self.trainer = HostTrainer(envs[0], memory, stack_size, settings)
        super().__init__(name, self.trainer, seeds, steps)
        self.workers = [
            Worker(self.trainer, env, seed) for env, seed in zip(envs, seeds, strict=True)
        ]

    @property
    def savable(self) -> bool:
        """Whether the environments are about to begin anew, or the run is over."""
        return self.done % RESTART == 0 or self.done == self.total

    def start(self) -> None:
        """Nothing to do: the workers are fresh."""

    def advance(self) -> None:
        """One rollout and update of every seed."""
        rows = []
        if self.done % RESTART == 0:
            self.recorder.forget()
        for worker in self.workers:
            if self.done % RESTART == 0:
                worker.restart(self.done)
            *row, loss = worker.advance(self.done, self.total)
            self.check_loss(worker.seed, loss)
            rows.append(row)
        self.recorder.add(*(np.stack(part)[None] for part in zip(*rows, strict=True)))
        self.done += 1

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What `restore` needs."""
        arrays = self.metric_arrays()
        for worker in self.workers:
            arrays |= flatten((worker.params, worker.moments), f"seed{worker.seed}")
        return arrays, {"done": self.done}

    def restore(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint."""
        for worker in self.workers:
            template = (worker.params, worker.moments)
            found = unflatten(template, f"seed{worker.seed}", arrays)
            worker.use(*jax.device_put(found))
        self.restore_metrics(arrays)
        self.done = int(meta["done"])

    def params_of(self, index: int) -> Params:
        """The parameters of a seed."""
        return self.workers[index].params
