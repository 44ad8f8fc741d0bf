"""A run on a Gymnasium environment, a rollout of every seed at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from adastack.deep.checkpoint_arrays import flatten, unflatten
from adastack.deep.evaluation import vector_env
from adastack.deep.host import HostTrainer, Worker
from adastack.deep.stack_session import StackSession
from adastack.deep.update import Params
from adastack.process.events import REPORTED

RESTART = 32
"""Updates between two restarts of all environments. Environments cannot be saved, so a run is saved
where they begin anew, by the same seeds whether it was interrupted or not."""


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
