"""What all runs of networks share: how far they are, and what has been recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from adastack.deep.settings import PPOSettings
from adastack.deep.update import Params
from adastack.files import DamagedFileError
from adastack.process.recorder import Recorder
from adastack.schemas import is_count

TaskT = TypeVar("TaskT")


class DeepSession(Generic[TaskT]):
    """A run of some seeds; a subclass makes the trainer and advances it."""

    evaluation_episodes = 100
    savable = True

    def __init__(
        self,
        task: TaskT,
        memory: str,
        stack_size: int,
        settings: PPOSettings,
        seeds: Sequence[int],
        steps: int,
    ) -> None:
        self.task, self.memory, self.stack_size = task, memory, stack_size
        self.settings, self.seeds = settings, list(seeds)
        self.done, self.total = 0, 0
        self.extend(steps)
        self.recorder = Recorder(len(seeds), settings.n_envs, stack_size, settings.gamma)
        self.prepare()

    def prepare(self) -> None:
        """Makes the trainer."""
        raise NotImplementedError

    def params_of(self, index: int) -> Params:
        """The parameters of a seed."""
        raise NotImplementedError

    @property
    def steps_done(self) -> int:
        """Environment steps of each seed so far."""
        return self.done * self.settings.steps_per_update

    @property
    def finished(self) -> bool:
        """Whether all updates have been made."""
        return self.done == self.total

    def curves(self) -> dict[str, NDArray[Any]]:
        """Metrics so far."""
        return self.recorder.curves()

    def recent(self) -> dict[str, float]:
        """Means over the seeds and the last windows."""
        return self.recorder.recent()

    def extend(self, steps: int) -> None:
        """Adds so many steps to the run; schedules are then a fraction of all of them."""
        self.total += -(-steps // self.settings.steps_per_update)

    def restored_updates(self, meta: Mapping[str, Any]) -> int:
        """How many updates a checkpoint says were made.

        Raises:
            DamagedFileError: If the run does not have as many.
        """
        done: Any = meta.get("done")
        if not is_count(done) or done > self.total:
            raise DamagedFileError(
                "the checkpoint is of another run: "
                f"done must be in 0..{self.total}, actual: {done!r}"
            )
        return int(done)

    def limits(self, name: str) -> tuple[Any, Any]:
        """The least and the most of an array that a learner carries; see `unflatten`."""
        settings = self.settings
        if name.endswith(".count"):  # Adam's steps, of which each update makes as many.
            made = self.done * settings.n_epochs * settings.n_minibatches
            return (0 if settings.waits else made), made
        if name.endswith(".left"):
            return 0, settings.hold_noise
        if name.endswith((".lasted", ".limit", ".longest")):
            return 0, None
        if ".nu" in name or name.endswith((".variance", ".number", ".returns")):
            return 0, None
        return None, None

    def check_loss(self, seed: int, loss: float, update: int) -> None:
        """Raises FloatingPointError if it is not a number."""
        if not np.isfinite(loss):
            step = update * self.settings.steps_per_update
            raise FloatingPointError(
                f"the loss of seed {seed} is {loss} at step {step}: "
                "lower learning_rate or max_grad_norm"
            )
