"""RecordMemory for vector environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from adastack.wrappers.metrics import Records, outcome
from adastack.wrappers.vector.stack import Wrapper, autoreset_mode


class RecordMemory(Records[VectorEnv[Any, Any, Any]], Wrapper):
    """The vector version of `adastack.wrappers.RecordMemory`, with the same arguments.

    A window is ``interval`` steps of every environment; its row sums over environments. Finished
    attempts are in ``infos["memory"]``, one dictionary for each environment, with their mask in
    ``infos["_memory"]``.
    """

    def _wrap(self, env: VectorEnv[Any, Any, Any]) -> int:
        VectorWrapper.__init__(self, env)
        self.autoreset_mode = autoreset_mode(env)
        return self.num_envs

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Resets the environments; unfinished attempts are not counted."""
        mask = None if options is None else options.get("reset_mask")
        observations, infos = self.env.reset(seed=seed, options=options)
        self.meter.reset(infos, mask)
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Steps the environments and counts."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        done = terminated | truncated
        # A reset evicts no slot, which is how a reset step (NEXT_STEP) is told from a real one.
        slots, resetting = infos["evicted_slot"], infos["evicted_slot"] < 0
        outcomes = infos
        if self.autoreset_mode == AutoresetMode.SAME_STEP and done.any():
            outcomes = {
                name: _merged(done, final, infos.get(name))
                for name, final in infos["final_info"].items()
                if not name.startswith("_")
            }
            slots = outcomes["evicted_slot"]
            resetting = np.zeros_like(done)
        over, success = outcome(outcomes, done)
        ended = self.meter.step(rewards, slots, over, success, infos, live=~resetting)
        self._begin(resetting, done, infos)
        if ended:
            rows = np.full(self.num_envs, None, dtype=object)
            for index, summary in ended:
                rows[index] = summary
            infos["memory"], infos["_memory"] = rows, np.array([row is not None for row in rows])
        return observations, rewards, terminated, truncated, infos

    def _begin(self, resetting: Any, done: Any, infos: dict[str, Any]) -> None:
        """Begins the episodes whose first observation has just come."""
        begun = done if self.autoreset_mode == AutoresetMode.SAME_STEP else resetting
        if begun.any():
            self.meter.reset(infos, begun)


def _merged(done: Any, final: Any, usual: Any) -> Any:
    """The final value where an episode ended, the usual one elsewhere."""
    if usual is None or not isinstance(final, np.ndarray):
        return final
    return np.where(done.reshape(-1, *[1] * (final.ndim - 1)), final, usual)
