"""Spaces, policies and their arguments as JSON, and back; nothing that is read is ever run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sb3_contrib
import stable_baselines3
from gymnasium import Space
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete
from numpy.typing import NDArray
from stable_baselines3.common.torch_layers import CombinedExtractor, FlattenExtractor, NatureCNN
from torch import nn

from adastack.integrations.sb3.actions import FORMS, HybridBox
from adastack.integrations.sb3.extractors import StackCnn, StackLstm, StackMlp, StackTransformer
from adastack.integrations.sb3.hybrid import HybridActorCriticPolicy
from adastack.integrations.sb3.recurrent import KeptLstmPolicy

ALGORITHMS: dict[str, Any] = {
    name: getattr(stable_baselines3, name, None) or getattr(sb3_contrib, name) for name in FORMS
}
OWN_POLICIES: dict[str, Any] = {
    policy.__name__: policy for policy in (HybridActorCriticPolicy, KeptLstmPolicy)
}
CLASSES: dict[str, Any] = {
    found.__name__: found
    for found in (
        *(StackMlp, StackCnn, StackLstm, StackTransformer),
        *(FlattenExtractor, NatureCNN, CombinedExtractor),
        *(nn.Tanh, nn.ReLU, nn.ELU, nn.LeakyReLU, nn.GELU, nn.SiLU),
    )
}
TRAINING_ONLY = ("optimizer_class", "optimizer_kwargs")


def algorithm_name(model: Any) -> str:
    """The name of the model's algorithm.

    Raises:
        ValueError: If it is an algorithm of the user's own.
    """
    name = type(model).__name__
    if type(model) is not ALGORITHMS.get(name):
        raise ValueError(f"expected an algorithm of {sorted(ALGORITHMS)}, actual: {name}")
    return name


def policy_name(model: Any) -> str:
    """The name under which the algorithm knows its policy.

    Raises:
        ValueError: If the policy is of a class of the user's own.
    """
    known: dict[str, Any] = {**model.policy_aliases, **OWN_POLICIES}
    for name, policy in known.items():
        if model.policy_class is policy:
            return name
    raise ValueError(
        f"expected a policy of {sorted(known)}, actual: {model.policy_class.__name__}; a policy of "
        f"your own cannot be rebuilt without running its code"
    )


def policy_class(algorithm: str, name: str) -> Any:
    """The policy of that name."""
    return {**ALGORITHMS[algorithm].policy_aliases, **OWN_POLICIES}[name]


def arguments_to_json(value: Any) -> Any:
    """A policy's arguments as JSON, with known classes by their names."""
    if isinstance(value, Mapping):
        kept = {key: part for key, part in value.items() if key not in TRAINING_ONLY}
        return {key: arguments_to_json(part) for key, part in kept.items()}
    if isinstance(value, list | tuple):
        return [arguments_to_json(part) for part in value]
    for name, known in CLASSES.items():
        if value is known:
            return {"class": name}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"expected numbers, names and classes of {sorted(CLASSES)}, actual: {value!r}")


def arguments_from_json(value: Any) -> Any:
    """The arguments that `arguments_to_json` wrote."""
    if isinstance(value, dict) and set(value) == {"class"}:
        return CLASSES[value["class"]]
    if isinstance(value, dict):
        return {key: arguments_from_json(part) for key, part in value.items()}
    return [arguments_from_json(part) for part in value] if isinstance(value, list) else value


def space_to_json(space: Space[Any]) -> dict[str, Any]:
    """A space as JSON."""
    if isinstance(space, Dict):
        return {"Dict": {key: space_to_json(part) for key, part in space.spaces.items()}}
    if isinstance(space, HybridBox):
        numbers = Box(space.low[:-1], space.high[:-1], dtype=space.dtype.type)
        return {"HybridBox": {"numbers": space_to_json(numbers), "n_memory": space.n_memory}}
    if isinstance(space, Box):
        bounds = {"low": _bound(space.low), "high": _bound(space.high)}
        return {"Box": {**bounds, "shape": list(space.shape), "dtype": str(space.dtype)}}
    if isinstance(space, Discrete):
        return {"Discrete": {"n": int(space.n), "start": int(space.start)}}
    if isinstance(space, MultiDiscrete):
        return {"MultiDiscrete": {"nvec": space.nvec.tolist(), "start": space.start.tolist()}}
    if isinstance(space, MultiBinary):
        return {"MultiBinary": {"n": list(space.shape)}}
    raise ValueError(f"expected a space that Stable-Baselines3 knows, actual: {space}")


def space_from_json(document: dict[str, Any]) -> Space[Any]:
    """The space that `space_to_json` wrote."""
    ((kind, found),) = document.items()
    if kind == "Dict":
        return Dict({key: space_from_json(part) for key, part in found.items()})
    if kind == "HybridBox":
        numbers = space_from_json(found["numbers"])
        if not isinstance(numbers, Box):
            raise ValueError(f"expected a Box of numbers, actual: {numbers}")
        return HybridBox(numbers, found["n_memory"])
    if kind == "Box":
        dtype, shape = np.dtype(found["dtype"]), tuple(found["shape"])
        low, high = (
            np.broadcast_to(np.array(found[name], np.float64), (np.prod(shape, dtype=int),))
            .reshape(shape)
            .astype(dtype)
            for name in ("low", "high")
        )
        return Box(low, high, dtype=dtype.type)
    if kind == "Discrete":
        return Discrete(**found)
    return MultiDiscrete(**found) if kind == "MultiDiscrete" else MultiBinary(**found)


def _bound(values: NDArray[Any]) -> Any:
    """A bound as one number if it is the same everywhere; JSON has no infinity, a string has."""
    flat = [float(value) for value in values.ravel()]
    written = [value if np.isfinite(value) else str(value) for value in flat]
    return written[0] if len(set(written)) == 1 else written
