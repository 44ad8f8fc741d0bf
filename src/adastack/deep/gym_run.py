"""A run on a Gymnasium environment, a rollout of every seed at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import gymnasium as gym
import jax
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from adastack.deep.arrays import flatten, unflatten
from adastack.deep.host import HostTrainer, Worker
from adastack.deep.metrics import Recorder
from adastack.deep.settings import PPOSettings
from adastack.deep.tables import ACTIVE_REGRET, MEMORY_REGRET, OVER, PASSIVE_REGRET, SUCCESS

RESTART = 32
"""Updates between two restarts of all environments. Environments cannot be saved, so a run is saved
where they begin anew, by the same seeds whether it was interrupted or not."""
MOST_STEPS = 20_000
EVALUATION = 2**31
"""Added to an evaluation's seed, so that no episode of the training comes again."""
BITS = (OVER, SUCCESS, MEMORY_REGRET, ACTIVE_REGRET, PASSIVE_REGRET)


def vector_env(env_id: str, n_envs: int) -> VectorEnv:
    """Environments side by side that begin a new episode in the step that ends the last."""
    mode = AutoresetMode.SAME_STEP
    if env_id.startswith("adastack/") and gym.spec(env_id).vector_entry_point is not None:
        return gym.make_vec(env_id, n_envs, "vector_entry_point", autoreset_mode=mode)
    return gym.make_vec(env_id, n_envs, "sync", vector_kwargs={"autoreset_mode": mode})


class GymSession:
    """Trains all seeds on a Gymnasium environment."""

    def __init__(
        self,
        env_id: str,
        memory: str,
        stack_size: int,
        settings: PPOSettings,
        seeds: Sequence[int],
        steps: int,
    ) -> None:
        self.env_id, self.settings, self.seeds = env_id, settings, list(seeds)
        self.total = -(-steps // settings.steps_per_update)
        self.done = 0
        probe = self._make()
        self.trainer = HostTrainer(probe, memory, stack_size, settings)
        probe.close()
        self.workers = [Worker(self.trainer, self._make, seed) for seed in self.seeds]
        self.recorder = Recorder(len(seeds), settings.n_envs, stack_size, settings.gamma)

    def _make(self) -> VectorEnv:
        return vector_env(self.env_id, self.settings.n_envs)

    @property
    def steps_done(self) -> int:
        """Environment steps of each seed so far."""
        return self.done * self.settings.steps_per_update

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
            if not np.isfinite(loss):
                raise FloatingPointError(
                    f"the loss of seed {worker.seed} is {loss} at step {self.steps_done}: "
                    "lower learning_rate or max_grad_norm"
                )
            rows.append(row)
        self.recorder.add(*(np.stack(part)[None] for part in zip(*rows, strict=True)))
        self.done += 1

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What `restore` needs."""
        arrays = {f"metrics/{name}": array for name, array in self.recorder.state().items()}
        for worker in self.workers:
            arrays |= flatten((worker.params, worker.moments), f"seed{worker.seed}")
        return arrays, {"done": self.done}

    def restore(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint."""
        for worker in self.workers:
            template = (worker.params, worker.moments)
            found = unflatten(template, f"seed{worker.seed}", arrays)
            worker.params, worker.moments = jax.device_put(found)
        prefix = "metrics/"
        self.recorder.restore(
            {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
        )
        self.done = int(meta["done"])

    def results(
        self, episodes: int, greedy: bool, seed: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Plays every seed's policy: a row for each, and how many steps that took."""
        rows = [
            {"seed": worker.seed, **play(worker, episodes, greedy, seed)} for worker in self.workers
        ]
        return rows, sum(row["steps"] for row in rows)


def play(worker: Worker, episodes: int, greedy: bool, seed: int) -> dict[str, Any]:
    """Episodes of a policy, as many in each environment, and what they came to."""
    trainer, n = worker.trainer, worker.env.num_envs
    worker.restart(EVALUATION + seed)
    steps, returns, sums = 0, np.zeros(n), np.zeros(8)
    quota = np.full(n, -(-episodes // n))
    while quota.any() and steps < MOST_STEPS:
        if steps % trainer.settings.n_steps == 0:
            worker.buffer.begin()
        act = trainer.greedy if greedy else partial(trainer.act, seed=seed, step=steps)
        joined = np.asarray(act(worker.params, worker.buffer.current()))
        reward, _, _, flags, _ = worker.step(joined)
        live = quota > 0
        returns += reward
        bits = [live & ((flags & bit) > 0) for bit in BITS]
        sums[:5] += [bit.sum() for bit in bits]
        sums[5:] += reward[live].sum(), returns[bits[0]].sum(), live.sum()
        returns[bits[0]] = 0
        quota[bits[0]] -= 1
        steps += 1
    attempts, count = max(float(sums[0]), 1.0), max(float(sums[7]), 1.0)
    known = worker.cues is not None
    return {
        "success": float(sums[1]) / attempts,
        "return": float(sums[6]) / attempts,
        "reward_rate": 1000 * float(sums[5]) / count,
        "memory_regret": float(sums[2]) / count if known else None,
        "active_regret": float(sums[3]) / attempts if known else None,
        "passive_regret": float(sums[4]) / attempts if known else None,
        "attempts": int(sums[0]),
        "steps": int(sums[7]),
    }
