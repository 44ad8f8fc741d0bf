"""What an agent remembers, in Stable-Baselines3's log; and that log in other places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter

from adastack.extras import require
from adastack.integrations.sb3.vec_stack import find_stack
from adastack.memory.regret import REGRETS, SHARES
from adastack.wrappers.metrics import MemoryMeter, outcome

SEEN = ("slot_ages", "shown", "cue")
HAPPENED = ("evicted_slot", "attempt_over", "success", "is_success")


class MemoryCallback(BaseCallback):
    """Logs successes, memory regrets, evictions and ages under ``memory/``.

    Works over `VecStack` and over the single wrappers. ``memory_regret`` and
    ``memory_regret_after`` are shares of steps and ``active_regret`` and ``passive_regret`` are
    counts per step; an environment that says nothing of cues has none of them.

    Args:
        interval: Steps of each environment between two records; SB3 logs their mean.

    Example:
        >>> callback = MemoryCallback()  # model.learn(100_000, callback=callback)
    """

    def __init__(self, interval: int = 100) -> None:
        super().__init__()
        self.interval = interval
        self.meter: MemoryMeter

    def _on_training_start(self) -> None:
        seen, venv = _batched(self._reset_infos(), SEEN), self.training_env
        stack = find_stack(venv)
        padding = venv.get_attr("padding_type")[0] if stack is None else stack.padding_type
        self.meter = MemoryMeter(venv.num_envs, padding, interval=self.interval)
        self.meter.reset(seen)

    def _on_step(self) -> bool:
        infos, dones = self.locals["infos"], self.locals["dones"]
        happened = _batched(infos, HAPPENED)
        over, success = outcome(happened, dones)
        begun = self._reset_infos() if dones.any() else infos
        seen = _batched([begun[i] if done else infos[i] for i, done in enumerate(dones)], SEEN)
        live = np.ones_like(dones)
        self.meter.step(self.locals["rewards"], happened["evicted_slot"], over, success, seen, live)
        if dones.any():
            self.meter.reset(seen, dones)
        for window in self.meter.windows:
            for name, value in summary(window).items():
                self.logger.record_mean(f"memory/{name}", value)
        self.meter.windows.clear()
        self.meter.episodes.clear()
        return True

    def _reset_infos(self) -> Sequence[dict[str, Any]]:
        """What the environments said when their current episodes began."""
        venv = self.training_env
        return (find_stack(venv) or venv.unwrapped).reset_infos


def summary(window: dict[str, Any]) -> dict[str, float]:
    """A window of the meter as the numbers that are logged; those that are unknown are left out."""
    steps = max(window["steps"], 1)
    found = {
        "success_rate": window["successes"] / window["attempts"] if window["attempts"] else np.nan,
        "reward_per_step": window["reward"] / steps,
        **{name: window[name] / steps for name in REGRETS},
        **{name: window[name] for name in SHARES},
        "mean_age": window["mean_age"],
    }
    found |= {f"evicted_slot_{i}": n / steps for i, n in enumerate(window["evictions"])}
    return {name: float(value) for name, value in found.items() if not np.isnan(value)}


class _LogElsewhere(BaseCallback):
    """Sends what SB3 logs to one more place, from the start of training to its end."""

    writer: KVWriter

    def _on_training_start(self) -> None:
        self.writer = self._open({"algorithm": type(self.model).__name__, **self._settings()})
        self.logger.output_formats.append(self.writer)

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        # SB3 writes its last numbers at the next dump, which will not come.
        self.logger.dump(self.num_timesteps)
        self.logger.output_formats.remove(self.writer)
        self.writer.close()

    def _open(self, settings: dict[str, Any]) -> KVWriter:
        raise NotImplementedError

    def _settings(self) -> dict[str, Any]:
        names = ("seed", "n_envs", "gamma", "n_steps", "batch_size", "n_epochs", "ent_coef")
        settings = {name: getattr(self.model, name, None) for name in names}
        stack = find_stack(self.training_env)
        memory = {} if stack is None else {"stack_size": stack.stack_size, "rule": stack.rule.name}
        return {name: value for name, value in settings.items() if value is not None} | memory


class WandbCallback(_LogElsewhere):
    """Sends SB3's log to Weights & Biases.

    Args:
        project: The project's name.
        mode: ``"online"``, or ``"offline"`` to write to a folder only.
        folder: Where the files of the run go.

    Example:
        >>> callback = WandbCallback("memory", mode="offline")  # doctest: +SKIP
    """

    def __init__(self, project: str, *, mode: str = "online", folder: str | Path = ".") -> None:
        super().__init__()
        self.project, self.mode, self.folder = project, mode, Path(folder)
        require("wandb", "wandb")

    def _open(self, settings: dict[str, Any]) -> KVWriter:
        run = require("wandb", "wandb").init(
            project=self.project, mode=self.mode, dir=str(self.folder), config=settings
        )
        return _Writer(lambda numbers, step: run.log(numbers, step=step), run.finish)


class MlflowCallback(_LogElsewhere):
    """Sends SB3's log to MLflow.

    Args:
        experiment: The experiment's name.
        tracking_uri: The server, or a local store.

    Example:
        >>> callback = MlflowCallback("memory", "http://localhost:5000")  # doctest: +SKIP
    """

    def __init__(self, experiment: str, tracking_uri: str) -> None:
        super().__init__()
        self.experiment, self.tracking_uri = experiment, tracking_uri
        require("mlflow", "mlflow")

    def _open(self, settings: dict[str, Any]) -> KVWriter:
        tracking = require("mlflow.tracking", "mlflow")
        client = tracking.MlflowClient(self.tracking_uri)
        known = client.get_experiment_by_name(self.experiment)
        experiment = known.experiment_id if known else client.create_experiment(self.experiment)
        run = client.create_run(experiment).info.run_id
        for name, value in settings.items():
            client.log_param(run, name, value)

        def log(numbers: dict[str, float], step: int) -> None:
            for name, value in numbers.items():
                client.log_metric(run, name, value, step=step)

        return _Writer(log, lambda: client.set_terminated(run))


class _Writer(KVWriter):
    """Passes on what is a number; pictures and the like stay where they are."""

    def __init__(
        self, log: Callable[[dict[str, float], int], object], close: Callable[[], object]
    ) -> None:
        self._log, self._close = log, close

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        kinds = (int, float, np.number)
        found = {name: value for name, value in key_values.items() if isinstance(value, kinds)}
        self._log({name: float(value) for name, value in found.items()}, step)

    def close(self) -> None:
        self._close()


def _batched(infos: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """The named entries of all infos as arrays; those that they do not have are left out."""
    if "slot_ages" not in infos[0]:
        raise ValueError(
            "MemoryCallback expects environments with a memory, such as VecAdaptiveStack, "
            "actual: no slot_ages in their infos"
        )
    return {name: np.array([i[name] for i in infos]) for name in names if name in infos[0]}
