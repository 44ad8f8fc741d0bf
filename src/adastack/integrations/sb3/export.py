"""A trained policy as one folder: weights, settings and a card that says what it is.

The folder holds ``policy.safetensors`` (the weights), ``policy.json`` (everything needed to rebuild
the policy), ``README.md`` (the card) and ``memory.png``. Loading it runs no code from it.
"""

from __future__ import annotations

import io
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy as evaluate_masked
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.vec_env import VecEnv

from adastack.extras import versions
from adastack.files import DamagedFileError, write_arrays, write_whole
from adastack.folders import Folder
from adastack.integrations.sb3.describe import (
    algorithm_name,
    arguments_from_json,
    arguments_to_json,
    policy_class,
    policy_name,
    space_from_json,
    space_to_json,
)
from adastack.integrations.sb3.vec_stack import VecStack, find_stack
from adastack.schemas import DIGEST, OBJECT, POSITIVE, TEXT, Kind, Schema, fitting, like

FORMAT = "adastack policy 2"
POLICY, WEIGHTS = "policy.json", "policy.safetensors"
_PADDING = Kind("a text or an element", lambda value: isinstance(value, str | list | dict))
MEMORY = Schema(
    "the settings of a memory",
    {"stack_size": POSITIVE, "rule": TEXT, "padding_type": _PADDING, "action_form": TEXT},
)
SCHEMA = Schema(
    "an exported policy",
    {
        "format": Kind(repr(FORMAT), lambda value: value == FORMAT),
        "weights": DIGEST,
        "algorithm": TEXT,
        "policy": TEXT,
        "policy_kwargs": OBJECT,
        "memory": OBJECT,
        "observation_space": OBJECT,
        "action_space": OBJECT,
    },
    others=True,
)
NOT_SETTINGS = ("start_time", "verbose")
SHOWN_STEPS = 60
"""An episode's picture shows at most this many steps."""


@dataclass(frozen=True)
class LoadedPolicy:
    """A policy from a folder."""

    policy: BasePolicy
    """The Stable-Baselines3 policy; ``evaluate_policy`` takes it as it is."""
    settings: dict[str, Any]
    """What ``policy.json`` says: task, memory, algorithm, result, versions."""

    def wrap(self, venv: VecEnv) -> VecStack:
        """Gives environments the memory that the policy was trained with.

        Raises:
            ValueError: If they are not what the policy was trained on.
        """
        memory = self.settings["memory"]
        try:
            stack = VecStack.from_settings(venv, memory)
        except (TypeError, LookupError) as error:  # A padding of another space.
            reason = f"{type(error).__name__}: {error}"
            raise ValueError(f"expected environments for {memory}, actual: {reason}") from None
        self.check(stack)
        return stack

    def check(self, venv: VecEnv) -> None:
        """Raises if the policy was trained with another memory, or on other observations."""
        trained, stack = self.settings["memory"], find_stack(venv)
        if stack is None:
            raise ValueError(
                f"expected environments with a memory of stack_size {trained['stack_size']}, "
                f"actual: none; use wrap()"
            )
        for name, value in stack.settings.items():
            if value != trained[name]:
                raise ValueError(
                    f"expected {name} {trained[name]!r}, which the policy was trained with, "
                    f"actual: {value!r}; use wrap(), or train another policy"
                )
        for name in ("observation_space", "action_space"):
            wanted, found = getattr(self.policy, name), getattr(venv, name)
            if wanted != found:
                message = f"expected environments with {name} {wanted}, actual: {found}"
                raise ValueError(" ".join(message.split()))


def export_policy(
    folder: str | Path, model: Any, venv: VecEnv, *, task: str, episodes: int = 100
) -> dict[str, Any]:
    """Evaluates a trained policy and writes it to a new folder.

    Args:
        folder: The folder; it must not exist.
        model: A Stable-Baselines3 or sb3-contrib model that was trained over `VecStack`.
        venv: Environments with the same memory, to evaluate it in.
        task: The task, in a line.
        episodes: How many episodes to evaluate.

    Returns:
        The result: episodes, mean and deviation of the return, and the share of successes where
        the environment speaks of them.

    Raises:
        ValueError: If the folder exists, or the policy cannot be rebuilt from names and numbers.
    """
    folder = Path(folder)
    if folder.exists():
        raise ValueError(f"{folder} already exists: choose another folder")
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, actual: {episodes}")
    stack = find_stack(model.get_env())
    if stack is None:
        raise ValueError("expected a model trained over VecStack, actual: no VecStack around it")
    if model.get_vec_normalize_env() is not None:
        raise ValueError("expected a model without VecNormalize, whose statistics are not exported")
    settings = _settings(model, stack, task)
    LoadedPolicy(model.policy, settings).check(venv)
    result, ages = _evaluate(model, venv, episodes)
    settings["result"] = result
    weights = {name: value.cpu().numpy() for name, value in model.policy.state_dict().items()}
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as place:
        whole = Path(place) / "policy"
        whole.mkdir()
        settings["weights"] = write_arrays(whole / WEIGHTS, weights)
        Folder(whole).write(POLICY, settings)
        write_whole(whole / "memory.png", _picture(ages))
        write_whole(whole / "README.md", _card(settings).encode())
        whole.rename(folder)
    return result


def load_policy(folder: str | Path, venv: VecEnv | None = None) -> LoadedPolicy:
    """Rebuilds the policy that `export_policy` wrote.

    Args:
        folder: The folder.
        venv: Environments it is meant for; their memory must be the one it was trained with.

    Raises:
        DamagedFileError: If the folder does not hold a policy, or not the one that was written.
        ValueError: If the policy was trained with another memory than that of the environments.
    """
    folder = Path(folder)
    place = Folder(folder)
    if not (folder / POLICY).is_file():
        raise DamagedFileError(f"expected a folder with a policy.json, actual: {folder}")
    settings = place.document(POLICY, SCHEMA)
    MEMORY.check(settings["memory"], folder / POLICY)
    weights = place.arrays(WEIGHTS, settings["weights"])
    try:
        build = policy_class(settings["algorithm"], settings["policy"])
        policy = build(
            space_from_json(settings["observation_space"]),
            space_from_json(settings["action_space"]),
            lambda _: 0.0,
            **arguments_from_json(settings["policy_kwargs"]),
        )
        # Weights that the policy does not have would say that it is another.
        expected = {name: like(value.numpy()) for name, value in policy.state_dict().items()}
        if extra := weights.keys() - expected.keys():
            raise DamagedFileError(f"weights of something else: {min(extra)}")
        fitting(expected, weights)
        policy.load_state_dict({name: torch.as_tensor(value) for name, value in weights.items()})
    # Spaces and networks are built from what the document says; they complain in many ways.
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DamagedFileError(f"{folder}: the policy cannot be rebuilt ({reason})") from None
    policy.set_training_mode(False)
    loaded = LoadedPolicy(policy, settings)
    if venv is not None:
        loaded.check(venv)
    return loaded


def _settings(model: Any, stack: VecStack, task: str) -> dict[str, Any]:
    numbers = {
        name: value
        for name, value in sorted(vars(model).items())
        if isinstance(value, bool | int | float)
        and not name.startswith("_")
        and name not in NOT_SETTINGS
    }
    gsde = {"use_sde": True} if getattr(model, "use_sde", False) else {}
    libraries = ("stable_baselines3", "sb3_contrib", "torch")
    return {
        "format": FORMAT,
        "task": task,
        "algorithm": algorithm_name(model),
        "policy": policy_name(model),
        "policy_kwargs": arguments_to_json({**model.policy_kwargs, **gsde}),
        "memory": stack.settings,
        "observation_space": space_to_json(model.observation_space),
        "action_space": space_to_json(model.action_space),
        "training": numbers,
        "versions": versions() | {name: metadata.version(name) for name in libraries},
    }


def _evaluate(
    model: Any, venv: VecEnv, episodes: int
) -> tuple[dict[str, Any], list[NDArray[np.int64]]]:
    """The result over some episodes, and the ages of the slots through one of them."""
    successes: list[bool] = []
    ages: list[NDArray[np.int64]] = []

    def watch(seen: dict[str, Any], _: dict[str, Any]) -> None:
        info, env = seen["info"], seen["i"]
        # The last environment has an episode to play even when there are few.
        first = env == seen["n_envs"] - 1 and seen["episode_counts"][env] == 0
        if first and len(ages) < SHOWN_STEPS:
            ages.append(info["slot_ages"])
        if seen["done"] and ("success" in info or "is_success" in info):
            successes.append(bool(info.get("success", info.get("is_success"))))

    evaluate = evaluate_masked if isinstance(model, MaskablePPO) else evaluate_policy
    mean, deviation = evaluate(model, venv, episodes, callback=watch, warn=False)
    result = {"episodes": episodes, "mean_return": mean, "return_deviation": deviation}
    if successes:
        result["success"] = float(np.mean(successes))
    return result, ages


def _picture(ages: list[NDArray[np.int64]]) -> bytes:
    """How old each slot's observation was through an episode, as a PNG."""
    from matplotlib.figure import Figure

    table = np.ma.masked_less(np.array(ages).T, 0)
    figure = Figure(figsize=(6.4, 0.9 + 0.35 * len(table)), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(table, aspect="auto", cmap="cividis", interpolation="nearest")
    axes.set(xlabel="step", ylabel="slot", yticks=range(len(table)))
    axes.set_title("age of what is remembered, through one episode", fontsize=10)
    figure.colorbar(image, ax=axes, label="steps")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    return buffer.getvalue()


def _card(settings: dict[str, Any]) -> str:
    """The card, in Markdown."""
    memory, result = settings["memory"], settings["result"]
    rows = {
        "task": settings["task"],
        "memory": ", ".join(f"{name} {value}" for name, value in memory.items()),
        "algorithm": f"{settings['algorithm']}, {settings['policy']}",
        "result": ", ".join(f"{name} {value:g}" for name, value in result.items()),
        "versions": ", ".join(f"{name} {value}" for name, value in settings["versions"].items()),
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    training = "\n".join(f"| {name} | {value} |" for name, value in settings["training"].items())
    return f"""# A policy that learned what to remember

| | |
| --- | --- |
{table}

![ages of the slots through one episode](memory.png)

```
from adastack.integrations.sb3 import load_policy
loaded = load_policy("this folder")
venv = loaded.wrap(your_environments)
```

## Training

| setting | value |
| --- | --- |
{training}
"""
