"""A run on a finite task, in chunks of a second or two."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from adastack.deep.checkpoint_arrays import flatten, unflatten
from adastack.deep.finite import FiniteTrainer
from adastack.deep.policies import LogProbabilities, log_probabilities, stack_policy
from adastack.deep.session import DeepSession
from adastack.deep.update import Params
from adastack.memory import get_rule
from adastack.process.capacity import induce_within
from adastack.process.evaluated import Solve
from adastack.process.finite_policies import FinitePolicies
from adastack.process.policy import StackPolicy
from adastack.tasks.entry import Resolved
from adastack.tasks.finite import FiniteTask

CHUNK_SECONDS = 1.5
LOG_BYTES = 16_000_000
BYTES_PER_STEP = 7


class FiniteSession(FinitePolicies, DeepSession[FiniteTask]):
    """Trains all seeds on a finite task, chunk by chunk."""

    make_trainer: type[FiniteTrainer] = FiniteTrainer

    def prepare(self) -> None:
        """Makes the trainer."""
        task, memory, stack_size = self.task, self.memory, self.stack_size
        pushes = (4 * task.n_observations + 8) * get_rule(memory).actions(stack_size)
        # Everything is held twice, by numpy and by the device.
        induced = induce_within(task, memory, stack_size, 2 * (pushes + 4 * stack_size))
        self.trainer = self.make_trainer(induced, self.settings)
        # Not of the run's length, so that runs of all lengths share one compiled program.
        per_update = BYTES_PER_STEP * self.settings.steps_per_update * len(self.seeds)
        self._capacity = max(1, LOG_BYTES // per_update)
        self._next = 1
        self._device_seeds = jnp.asarray(self.seeds, jnp.int32)
        self.learner: Any = None
        self._tests_best = False

    def start(self) -> None:
        """Begins with fresh learners."""
        self.learner = self.trainer.init(self.seeds)

    def restore(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint."""
        template = self.trainer.init(self.seeds)
        self.done = self.restored_updates(meta)
        learner = unflatten(template, "learner", arrays, self.limits)
        self.trainer.induced.check_pairs(learner.env.state, learner.env.agent)
        self.learner = jax.device_put(learner)
        self.recorder.restore(arrays, self.steps_done)

    def limits(self, name: str) -> tuple[Any, Any]:
        """See `DeepSession.limits`; also of where the environments stand."""
        if name.endswith(".env.state"):
            return 0, self.task.n_states - 1
        if name.endswith((".env.agent", ".chain.agent", ".chain.following")):
            return 0, self.trainer.induced.n_agent_states - 1
        if name.endswith((".wait.choice", ".chain.joint")):
            return 0, self.task.n_actions * self.trainer.network.n_memory - 1
        if name.endswith(".env.clock"):
            return 0, (self.task.time_limit or 1) - 1
        return super().limits(name)

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What `restore` needs."""
        return {**flatten(self.learner, "learner"), **self.recorder.state()}, {"done": self.done}

    def advance(self) -> None:
        """Runs one chunk; its size follows the clock, what it computes does not.

        Raises:
            FloatingPointError: If a loss is not a number.
        """
        count = min(self._next, self._capacity, self.total - self.done)
        began = time.perf_counter()
        self.learner, log, learning = self.trainer.chunk(
            self.learner, self._device_seeds, self.done, count, self.total, capacity=self._capacity
        )
        learning = np.asarray(learning)[:count]
        losses = learning[..., 0]
        for update, seed in np.argwhere(~np.isfinite(losses)):
            self.check_loss(self.seeds[seed], losses[update, seed], self.done + int(update))
        reward, flags, evicted = (np.asarray(part)[:count] for part in log)
        self.recorder.add(reward, flags, evicted, learning)
        self.done += count
        spent = time.perf_counter() - began
        if self.done > count:  # The first chunk's time is compilation.
            self._next = max(1, int(count * min(8.0, CHUNK_SECONDS / max(spent, 1e-6))))

    @cached_property
    def _log_probabilities(self) -> LogProbabilities:
        network, form = self.trainer.network, self.settings.action_form
        return log_probabilities(network.outputs, network.n_actions, network.n_memory, form)

    def params_of(self, index: int) -> Params:
        """The parameters of a seed."""
        learned = self.learner.best if self._tests_best else self.learner
        return jax.tree.map(lambda leaf: leaf[index], learned.params)

    def evaluate(
        self, task: Resolved | None, episodes: int, greedy: bool, seed: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Evaluates every seed's policy; the best weights', too, as ``best_...``, if kept."""
        rows, walked = super().evaluate(task, episodes, greedy, seed)
        if self.settings.keep_best:
            self._tests_best = True
            try:
                best, more = super().evaluate(task, episodes, greedy, seed)
            finally:
                self._tests_best = False
            walked += more
            for row, other in zip(rows, best, strict=True):
                row |= {f"best_{name}": other[name] for name in other if name != "seed"}
        return rows, walked

    def policy(self, index: int, *, greedy: bool = True) -> StackPolicy:
        """What one of the seeds has learned."""
        return stack_policy(self._log_probabilities, self.params_of(index), greedy)

    def solver(self) -> Solve:
        """See `FinitePolicies.solver`."""
        # Not at the start of a run, which must be quick.
        from adastack.theory.kappa import quick_optimum

        return quick_optimum
