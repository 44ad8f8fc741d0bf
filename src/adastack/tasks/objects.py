"""Environments that are given as objects rather than by name."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from adastack.tasks.entry import Resolved, TaskEntry
from adastack.tasks.text import without_text

OBJECT = "object"
"""Where a module's name stands in the name of a task that was given as an object."""


def resolve_object(env: Any) -> Resolved:
    """A task made of an environment, of a function that makes one, or of a vector environment.

    Raises:
        TypeError: If it is none of these.
    """
    if isinstance(env, VectorEnv):
        return _from_vector(env)
    if isinstance(env, gymnasium.Env):
        return _entry(f"{OBJECT}:{_name(env)}", partial(_copied, env))
    if callable(env):
        return _entry(_importable(env) or f"{OBJECT}:{_function_name(env)}", partial(_made, env))
    raise TypeError(
        "expected the name of a task, a Gymnasium id, an environment, a function that makes one "
        f"or a vector environment, actual: {type(env).__name__}"
    )


def _entry(
    name: str, maker: Callable[..., Any], vector: Callable[..., Any] | None = None
) -> Resolved:
    return Resolved(TaskEntry(name, env=maker, vector_env=vector, defaults={}), {})


def _function_name(function: Callable[..., Any]) -> str:
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def _importable(function: Callable[..., Any]) -> str | None:
    """``module:name``, by which another process finds a class or function; None if it cannot."""
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", "")
    if module in (None, "__main__"):  # A script or a notebook has that name only for itself.
        return None
    found = getattr(sys.modules.get(module), name, None)
    return f"{module}:{name}" if found is function else None


def _name(env: Any) -> str:
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__


def _copied(env: gymnasium.Env[Any, Any], render_mode: str | None = None) -> Any:
    """One more environment like a given one, which is left as it is."""
    if env.spec is not None:
        options: dict[str, Any] = {} if render_mode is None else {"render_mode": render_mode}
        return gymnasium.make(env.spec, **options)
    try:
        return copy.deepcopy(env)
    except (TypeError, RuntimeError, ValueError, copy.Error) as error:
        raise TypeError(
            f"{type(env).__name__} cannot be copied ({error}): give a function that makes one"
        ) from None


def _made(function: Callable[..., Any], render_mode: str | None = None) -> Any:
    env = function()
    if not isinstance(env, gymnasium.Env):
        raise TypeError(
            f"expected a function that makes a Gymnasium environment, actual: {type(env).__name__}"
        )
    return env


def _from_vector(env: VectorEnv[Any, Any, Any]) -> Resolved:
    functions = getattr(env.unwrapped, "env_fns", None)
    if functions is None:
        raise TypeError(
            "expected a SyncVectorEnv or AsyncVectorEnv, whose environments can be made again, "
            f"actual: {type(env.unwrapped).__name__}: give a function that makes one environment"
        )
    name = f"{OBJECT}:{type(env).__name__}"
    return _entry(name, functions[0], partial(_vector, functions))


def _vector(
    functions: list[Callable[[], Any]],
    num_envs: int,
    autoreset_mode: AutoresetMode | str = "NextStep",
    render_mode: str | None = None,
) -> VectorEnv[Any, Any, Any]:
    chosen = [partial(_read, functions[i % len(functions)]) for i in range(num_envs)]
    return SyncVectorEnv(chosen, autoreset_mode=autoreset_mode)


def _read(function: Callable[[], Any]) -> Any:
    return without_text(function())
