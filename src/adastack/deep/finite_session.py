"""A run on a finite task, in chunks of a second or two."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adastack.deep.checkpoint_arrays import flatten, unflatten
from adastack.deep.evaluate import log_chances, policy_of
from adastack.deep.finite import FiniteTrainer
from adastack.deep.metrics import Recorder
from adastack.deep.settings import PPOSettings
from adastack.memory import get_rule
from adastack.process.capacity import induce_within
from adastack.tasks.finite import FiniteTask

CHUNK_SECONDS = 1.5
LOG_BYTES = 16_000_000
BYTES_PER_STEP = 7


class FiniteSession:
    """Trains all seeds on a finite task, chunk by chunk."""

    def __init__(
        self,
        task: FiniteTask,
        memory: str,
        stack_size: int,
        settings: PPOSettings,
        seeds: Sequence[int],
        steps: int,
    ) -> None:
        self.task, self.memory, self.stack_size = task, memory, stack_size
        self.settings, self.seeds = settings, list(seeds)
        pushes = (4 * task.n_observations + 8) * get_rule(memory).actions(stack_size)
        # Everything is held twice, by numpy and by the device.
        induced = induce_within(task, memory, stack_size, 2 * (pushes + 4 * stack_size))
        self.trainer = FiniteTrainer(induced, settings)
        per_update = settings.steps_per_update
        self.total = -(-steps // per_update)
        self.done = 0
        self.recorder = Recorder(len(seeds), settings.n_envs, stack_size, settings.gamma)
        # Not of the run's length, so that runs of all lengths share one compiled program.
        self._capacity = max(1, LOG_BYTES // (BYTES_PER_STEP * per_update * len(seeds)))
        self._next = 1
        self._device_seeds = jnp.asarray(self.seeds, jnp.int32)
        self.learner: Any = None

    @property
    def steps_done(self) -> int:
        """Environment steps of each seed so far."""
        return self.done * self.settings.steps_per_update

    @property
    def steps_total(self) -> int:
        """Environment steps of each seed in the end."""
        return self.total * self.settings.steps_per_update

    @property
    def savable(self) -> bool:
        """Always: everything is an array."""
        return True

    def start(self) -> None:
        """Begins with fresh learners."""
        self.learner = self.trainer.init(self.seeds)

    def restore(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint."""
        template = self.trainer.init(self.seeds)
        self.learner = jax.device_put(unflatten(template, "learner", arrays))
        prefix = "metrics/"
        self.recorder.restore(
            {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
        )
        self.done = int(meta["done"])

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What `restore` needs."""
        arrays = flatten(self.learner, "learner")
        arrays |= {f"metrics/{name}": array for name, array in self.recorder.state().items()}
        return arrays, {"done": self.done}

    def advance(self) -> None:
        """Runs one chunk; its size follows the clock, what it computes does not.

        Raises:
            FloatingPointError: If a loss is not a number.
        """
        count = min(self._next, self._capacity, self.total - self.done)
        began = time.perf_counter()
        self.learner, log, losses = self.trainer.chunk(
            self.learner, self._device_seeds, self.done, count, self.total, capacity=self._capacity
        )
        losses = np.asarray(losses)[:count]
        self._check(losses)
        self.recorder.add(*(np.asarray(part)[:count] for part in log))
        self.done += count
        spent = time.perf_counter() - began
        if self.done > count:  # The first chunk's time is compilation.
            self._next = max(1, int(count * min(8.0, CHUNK_SECONDS / max(spent, 1e-6))))

    def _check(self, losses: NDArray[Any]) -> None:
        wrong = np.argwhere(~np.isfinite(losses))
        if len(wrong):
            update, seed = wrong[0]
            step = (self.done + int(update)) * self.settings.steps_per_update
            raise FloatingPointError(
                f"the loss of seed {self.seeds[seed]} is {losses[update, seed]} at step {step}: "
                f"lower learning_rate or max_grad_norm"
            )

    def results(self, episodes: int, greedy: bool, seed: int) -> tuple[list[dict[str, Any]], int]:
        """Plays every seed's policy on the task it was trained on."""
        return self.evaluate(self.task, episodes, greedy, seed)

    def evaluate(
        self, task: FiniteTask, episodes: int, greedy: bool, seed: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Plays every seed's policy: a row for each, and how many steps that took.

        Raises:
            ValueError: If the task has other observations or actions than the run's own.
        """
        # Not at the start of a run, which must be quick: the theory comes with it.
        from adastack.process.evaluation import Evaluator
        from adastack.tabular.policies import check_same_signals

        check_same_signals(self.task, task)
        evaluator = Evaluator(task, self.memory, self.stack_size, self.settings.gamma)
        net, n_actions, n_memory = self.trainer.net, task.n_actions, self.trainer.n_memory
        chances = log_chances(net, n_actions, n_memory, self.settings.action_form)
        rows, walked = [], 0
        for index, number in enumerate(self.seeds):
            params = jax.tree.map(lambda leaf, i=index: leaf[i], self.learner.params)
            evaluated = evaluator.play(
                policy_of(chances, params, greedy),
                deterministic=greedy,
                episodes=episodes,
                seed=seed,
            )
            rows.append({"seed": number, **evaluator.summary(evaluated)})
            walked += evaluated.steps_walked
        return rows, walked
