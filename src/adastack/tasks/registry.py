"""The registry of tasks and worlds: `resolve` says what a name on the command line stands for."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType, ModuleType
from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode, VectorEnv

from adastack.extras import require
from adastack.settings import did_you_mean
from adastack.tasks.entry import Resolved, TaskEntry
from adastack.tasks.finite import FiniteTask
from adastack.tasks.objects import OBJECT, resolve_object
from adastack.tasks.spec import check_options, parse_literal, parse_spec, parse_value
from adastack.tasks.table import ROWS
from adastack.tasks.text import without_text

_TASKS: dict[str, TaskEntry] = {}
TASKS: Mapping[str, TaskEntry] = MappingProxyType(_TASKS)
"""The registered tasks by name, read-only; `register_task` adds one."""


user_folders: set[str] = set()
"""Folders in which `import_module` has looked for modules that the user named."""
user_modules: set[str] = set()
"""The modules that the user named, on the command line or in Python."""


def register_task(entry: TaskEntry) -> None:
    """Adds a task or world to the registry and, if it has one, its id to Gymnasium's.

    Raises:
        ValueError: If the name or the id is taken.

    Example:
        >>> from adastack.tasks import TaskEntry, make_task, passive_tmaze, register_task
        >>> def short_tmaze(continual: bool = False):
        ...     return passive_tmaze(length=4, continual=continual)
        >>> register_task(TaskEntry("short-tmaze", short_tmaze, "the cue", "me/ShortTMaze-v0"))
        >>> make_task("short-tmaze:continual=true").continual
        True
    """
    if entry.name in _TASKS:
        raise ValueError(f"task {entry.name!r} is already registered: choose another name")
    if entry.env_id in gymnasium.registry:
        raise ValueError(f"id {entry.env_id!r} is already registered: choose another id")
    if entry.env_id is not None:
        gymnasium.register(
            entry.env_id,
            entry_point=f"{__name__}:make_env",
            vector_entry_point=f"{__name__}:make_vector_env",
            kwargs={"task": entry.name},
            # The environment itself refuses what these wrappers would catch, and cuts episodes.
            order_enforce=False,
            disable_env_checker=True,
        )
    _TASKS[entry.name] = entry


def resolve(spec: Any, *, stored: bool = False) -> Resolved:
    """What a name on the command line, or an environment in Python, stands for.

    Args:
        spec: A task or world, ``name`` or ``name:option=value,...``; a Gymnasium id; an id or a
            class of a module, ``module:Id-v0`` or ``module:MyEnv``, which is imported; an
            environment; a function that makes one; or a vector environment. Values are numbers,
            ``true``, ``false`` or words, such as a path.
        stored: It comes from a file that somebody else may have written. Of a module, only an
            environment class is then made, and a function only if the user has named the module.

    Raises:
        ValueError: If the name, an option or a value is unknown.
        TypeError: If it is neither a name nor an environment.
        ImportError: If a module cannot be imported.

    Example:
        >>> from adastack.tasks import resolve
        >>> [resolve(spec).kind for spec in ("xormaze", "cube:depth=2", "CartPole-v1")]
        ['finite', 'functional', 'host']
    """
    if isinstance(spec, Resolved):
        return spec
    if not isinstance(spec, str):
        return resolve_object(spec)
    name, words = parse_spec(spec)
    if name not in _TASKS:
        entry = environment_entry(name, words, stored)
        return Resolved(entry, {w: parse_literal(words[w]) for w in words})
    entry = _TASKS[name]
    check_options(name, entry.options, words)
    defaults = entry.options
    options = {option: parse_value(option, defaults[option], words[option]) for option in words}
    return Resolved(entry, options)


def make_task(spec: str) -> FiniteTask:
    """Builds a finite task from its name on the command line.

    Args:
        spec: ``name`` or ``name:option=value,...``, as for `resolve`.

    Raises:
        ValueError: If the name, an option or a value is unknown, or the task is not finite.

    Example:
        >>> from adastack.tasks import make_task
        >>> make_task("passive-tmaze:length=5,continual=true").name
        'passive-tmaze:length=5,continual=true'
    """
    return resolve(spec).finite()


def make_env(task: str, render_mode: str | None = None, **options: Any) -> gymnasium.Env[Any, Any]:
    """The environment of a registered task; Gymnasium's entry point."""
    entry = _TASKS[task]
    check_options(task, [*entry.options, *entry.env_only], options)
    return Resolved(entry, options).env(render_mode)


def make_vector_env(
    task: str,
    num_envs: int = 1,
    autoreset_mode: AutoresetMode | str = "NextStep",
    render_mode: str | None = None,
    **options: Any,
) -> VectorEnv[Any, Any, Any]:
    """The vector environment of a registered task; Gymnasium's entry point."""
    made = Resolved(_TASKS[task], {}).with_options(**options)
    return made.vector_env(num_envs, autoreset_mode, render_mode)


def environment_entry(name: str, options: Mapping[str, str], stored: bool = False) -> TaskEntry:
    """A row for an environment that is not in the table: a Gymnasium id, or one of a module."""
    module, _, attribute = name.rpartition(":")
    if module == OBJECT:
        raise ValueError(
            f"the environment {attribute} was given in Python and cannot be found by its name: use "
            f"Agent.load(folder, env={attribute}), or train with my_module:{attribute}"
        )
    if module in _TASKS:
        raise ValueError(f"expected option=value after {module!r}, actual: {attribute!r}")
    if module:
        imported = import_module(module, named=not stored)
        made = getattr(imported, attribute, None)
        if callable(made):
            if module not in user_modules and not _is_environment(made):
                raise ValueError(
                    f"expected an environment class, actual: {module}:{attribute}, which a run "
                    f"names and only you may let it call: --import {module}, or env= in Python"
                )
            return TaskEntry(name, env=made, defaults=dict.fromkeys(options))
        if attribute not in gymnasium.registry:
            own = [each for each, value in vars(imported).items() if callable(value)]
            raise ValueError(
                f"expected an environment class or a Gymnasium id of {module}, actual: "
                f"{attribute!r}{did_you_mean(attribute, [*own, *gymnasium.registry])}"
            )
    if attribute not in gymnasium.registry:
        _import_package_of(attribute)
    if attribute not in gymnasium.registry:
        meant = did_you_mean(attribute, [*_TASKS, *gymnasium.registry])
        raise ValueError(
            f"expected a task of {', '.join(_TASKS)} or a Gymnasium id, actual: {attribute!r}"
            f"{meant or ' (import its module: module:Id-v0, or --import)'}"
        )
    return TaskEntry(
        name,
        env=partial(gymnasium.make, attribute),
        vector_env=partial(_make_vector, attribute),
        defaults=dict.fromkeys(options),
    )


def _import_package_of(env_id: str) -> None:
    """Imports the package that registers an id, if it is a package that is known here.

    Raises:
        ImportError: If it is not installed; the message says what to install.
    """
    if env_id.startswith("popgym-"):
        require("popgym", extra="popgym")
    if env_id.startswith(("MiniGrid-", "BabyAI-")):
        require("minigrid", extra="minigrid")


def _is_environment(made: Any) -> bool:
    return isinstance(made, type) and issubclass(made, gymnasium.Env)


def import_module(name: str, *, named: bool = True) -> ModuleType:
    """Imports a user's module, also from the current folder; installed ones come first.

    Args:
        name: The module.
        named: Whether the user named it, rather than a file that somebody else may have written.

    Raises:
        ImportError: If there is none.
    """
    here = os.getcwd()
    user_folders.add(here)
    if named:
        user_modules.add(name)
    if here not in sys.path:
        sys.path.append(here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        raise ImportError(
            f"expected a module on the path or in {here}, actual: {name!r}", name=name
        ) from None
    except (KeyboardInterrupt, ImportError, MemoryError):
        raise
    except BaseException as error:  # Also a module that leaves: sys.exit() is no success.
        raise ImportError(
            f"the module {name} failed when it was run: {type(error).__name__}: {error}", name=name
        ) from error


def _make_vector(
    env_id: str, num_envs: int, autoreset_mode: AutoresetMode | str, **options: Any
) -> VectorEnv[Any, Any, Any]:
    """Vector environments of an id: our own in one program, others one after the other."""
    if gymnasium.spec(env_id).namespace == "adastack":
        form, options = "vector_entry_point", {**options, "autoreset_mode": autoreset_mode}
    else:
        form = "sync"
        options |= {
            "vector_kwargs": {"autoreset_mode": autoreset_mode},
            "wrappers": [without_text],
        }
    return gymnasium.make_vec(env_id, num_envs, form, **options)


for _row in ROWS:
    register_task(_row)
