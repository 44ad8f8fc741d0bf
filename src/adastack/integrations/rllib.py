"""Adaptive stacking for RLlib's new API stack, where hybrid actions are native.

RLlib samples Tuple actions part by part, so an environment with Box actions and a memory, whose
joint action is ``Tuple(Box, Discrete(k))``, needs nothing further.

Example:
    >>> from ray.rllib.algorithms.ppo import PPOConfig
    >>> from adastack.integrations.rllib import flatten, register
    >>> config = (
    ...     PPOConfig()
    ...     .environment(register(), env_config={"env": "Pendulum-v1", "stack_size": 3})
    ...     .env_runners(env_to_module_connector=flatten)
    ... )
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym

try:
    from ray.rllib.connectors.env_to_module import FlattenObservations
    from ray.tune.registry import register_env
except ImportError as error:
    raise ModuleNotFoundError(
        f"RLlib is needed here ({error}): pip install 'adastack[rllib]'"
    ) from None

from adastack.wrappers import MemoryStack

NAME = "adastack-memory"
OPTIONS = ("env", "env_kwargs", "stack_size", "rule", "padding_type", "action_form")


def make_env(config: Mapping[str, Any]) -> gym.Env[Any, Any]:
    """An environment with a memory, from RLlib's ``env_config``.

    Args:
        config: ``env`` (a Gymnasium id, or a function that makes an environment), ``env_kwargs``
            for it, and ``stack_size``, ``rule``, ``padding_type`` and ``action_form`` as in
            `adastack.wrappers.MemoryStack`. All but ``env`` and ``stack_size`` may be left out.

    Raises:
        ValueError: If an option is missing or unknown.
    """
    import adastack  # noqa: F401  (a worker process must know the tasks' ids)

    unknown = sorted(set(config) - set(OPTIONS))
    if unknown:
        raise ValueError(f"env_config expects {', '.join(OPTIONS)}, actual: {unknown[0]!r}")
    missing = [name for name in ("env", "stack_size") if name not in config]
    if missing:
        raise ValueError(f"env_config expects {missing[0]!r}, actual: {sorted(config)}")
    kwargs = config.get("env_kwargs", {})
    source = config["env"]
    env = gym.make(source, **kwargs) if isinstance(source, str) else source(**kwargs)
    memory = {name: config[name] for name in OPTIONS[3:] if name in config}
    return MemoryStack(env, config["stack_size"], **memory)


def register(name: str = NAME) -> str:
    """Makes `make_env` known to RLlib and returns the name for ``config.environment``."""
    register_env(name, make_env)
    return name


def flatten(env: Any = None, spaces: Any = None, device: Any = None) -> FlattenObservations:
    """The connector that joins the slots, symbols as one-hot, for RLlib's default networks.

    Pass it as ``env_to_module_connector``.
    """
    return FlattenObservations()
