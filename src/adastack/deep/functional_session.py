"""A run on a functional task: a rollout and its update are one program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from adastack.deep.checkpoint_arrays import flatten, unflatten
from adastack.deep.functional import FunctionalTrainer, Learner
from adastack.deep.stack_session import StackSession
from adastack.deep.update import Params
from adastack.memory.regret import REGRETS


class FunctionalSession(StackSession):
    """Trains all seeds on a functional task, one after the other."""

    def prepare(self) -> None:
        """Makes the trainer."""
        functional = self.task.functional()
        assert functional is not None
        self.agent = self.trainer = FunctionalTrainer(
            functional, self.memory, self.stack_size, self.settings
        )
        self.learners: list[Learner] = []

    def start(self) -> None:
        """Begins with fresh learners."""
        self.learners = [self.trainer.start(seed) for seed in self.seeds]
        if not self.learners[0].env.cue.shape[1]:
            self.recorder.unknown = frozenset(REGRETS)

    def advance(self) -> None:
        """One rollout and update of every seed."""
        logs, learnings = [], []
        for i, seed in enumerate(self.seeds):
            self.learners[i], log, learning = self.trainer.advance(
                self.learners[i], np.int32(seed), np.int32(self.done),
                np.float32(self.done / self.total),
            )  # fmt: skip
            found = jax.device_get(log)
            self._check(seed, found.reward, self.learners[i])
            learnings.append(np.asarray(learning))
            self.check_loss(seed, float(learnings[-1][0]), self.done)
            logs.append(found)
        parts = [*zip(*logs, strict=True), learnings]
        self.recorder.add(*(np.stack(part)[None] for part in parts))
        self.done += 1

    def _check(self, seed: int, reward: NDArray[Any], learner: Learner) -> None:
        shown = np.asarray(learner.env.stacks.shown)
        for what, numbers in (("reward", reward), ("observation", shown)):
            if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
                raise FloatingPointError(
                    f"the {what} of seed {seed} is not a number by step "
                    f"{self.steps_done + self.settings.steps_per_update}"
                )

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What `restore` needs."""
        arrays = self.recorder.state()
        for seed, learner in zip(self.seeds, self.learners, strict=True):
            arrays |= flatten(learner, f"seed{seed}")
        return arrays, {"done": self.done}

    def restore(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint."""
        template = self.trainer.start(0)
        self.done = self.restored_updates(meta)
        self.learners = [
            jax.device_put(unflatten(template, f"seed{seed}", arrays, self.limits))
            for seed in self.seeds
        ]
        self.recorder.restore(arrays, self.steps_done)

    def limits(self, name: str) -> tuple[Any, Any]:
        """See `DeepSession.limits`; also of what the stacks hold."""
        if name.endswith(".stacks.rows"):
            # The empty slot, what the stacks held, and the observations of a rollout.
            n = self.settings.n_envs
            return 0, n * self.stack_size + n * self.settings.n_steps
        if name.endswith(".stacks.shown"):
            return self.trainer.shown_limits()
        return super().limits(name)

    def params_of(self, index: int) -> Params:
        """The parameters of a seed."""
        return self.learners[index].params
