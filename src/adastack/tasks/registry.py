"""The table of tasks: their names, Gymnasium ids and what is known about them."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import gymnasium

from adastack.tasks.classics import heaven_hell, key_order, office
from adastack.tasks.finite import FiniteTask
from adastack.tasks.recall import memory_length, repeat_first
from adastack.tasks.tmaze import active_tmaze, passive_tmaze
from adastack.tasks.xormaze import xormaze

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode

    from adastack.tasks.environment import FiniteTaskEnv, FiniteTaskVectorEnv

Builder = Callable[..., FiniteTask]


class HasOptions(Protocol):
    """Something with a name and options."""

    @property
    def name(self) -> str:
        """The name on the command line, without options."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The options and their defaults."""


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper's value-consistency table, as printed."""

    horizon: str
    """T, the longest episode (or, for continual tasks, the steps of training)."""
    k_star: str
    """How many last observations make the task Markov."""
    kappa: str
    """How many kept observations are enough to act optimally."""
    value_consistent: bool
    """Whether the paper ticks value-consistency."""


@dataclass(frozen=True)
class TaskEntry:
    """A task's row in the table."""

    name: str
    """The name on the command line, without options."""
    builder: Builder
    """The function that builds it; its parameters are the task's options."""
    remember: str
    """What must be remembered, in a line."""
    env_id: str | None = None
    """The Gymnasium id."""
    horizon: str | None = None
    """T here: the longest attempt, in terms of the options."""
    k_star: str | None = None
    """k* here."""
    kappa: int | None = None
    """kappa here, with adaptive stacking, where it is known."""
    paper: PaperRow | None = None
    """The paper's row for this task or its kind."""

    @property
    def options(self) -> dict[str, Any]:
        """The options and their defaults, `inspect.Parameter.empty` for those that have none."""
        parameters = inspect.signature(self.builder).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters}

    @property
    def default_spec(self) -> str:
        """The name with its options as they stand by default."""
        return spelled_spec(self)


_TASKS: dict[str, TaskEntry] = {}
TASKS: Mapping[str, TaskEntry] = MappingProxyType(_TASKS)
"""The registered tasks by name, read-only; `register_task` adds one."""


def register_task(entry: TaskEntry) -> None:
    """Adds a task to the table and, if it has one, its id to Gymnasium's.

    Raises:
        ValueError: If the name is taken.

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
            entry_point="adastack.tasks.registry:make_env",
            vector_entry_point="adastack.tasks.registry:make_vector_env",
            kwargs={"task": entry.name},
            # The environment itself refuses what these wrappers would catch, and cuts episodes.
            order_enforce=False,
            disable_env_checker=True,
        )
    _TASKS[entry.name] = entry


def make_task(spec: str) -> FiniteTask:
    """Builds a task from its name on the command line.

    Args:
        spec: ``name`` or ``name:option=value,...``; values are whole numbers, ``true``, ``false``
            or, for a file, a path.

    Raises:
        ValueError: If the name, an option or a value is unknown.

    Example:
        >>> from adastack.tasks import make_task
        >>> make_task("passive-tmaze:length=5,continual=true").name
        'passive-tmaze:length=5,continual=true'
    """
    name, words = split_spec(spec)
    entry = _entry(name)
    return entry.builder(**option_values(entry, words))


def make_env(task: str, render_mode: str | None = None, **options: Any) -> FiniteTaskEnv:
    """The environment of a registered task; Gymnasium's entry point."""
    from adastack.tasks.environment import FiniteTaskEnv

    return FiniteTaskEnv(_build(task, options), render_mode)


def make_vector_env(
    task: str,
    num_envs: int = 1,
    autoreset_mode: AutoresetMode | str = "NextStep",
    render_mode: str | None = None,
    **options: Any,
) -> FiniteTaskVectorEnv:
    """The vector environment of a registered task; Gymnasium's entry point."""
    from adastack.tasks.environment import FiniteTaskVectorEnv

    return FiniteTaskVectorEnv(_build(task, options), num_envs, autoreset_mode, render_mode)


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """The name and the options of a task as they stand on the command line.

    Raises:
        ValueError: If an option has no value, or comes twice.
    """
    name, _, text = spec.partition(":")
    options: dict[str, str] = {}
    # A comma may stand in a path: only one before the next option separates.
    for word in re.split(r",(?=\w+=)", text) if text else []:
        option, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"expected option=value after {name!r}, actual: {word!r}")
        if option in options:
            raise ValueError(f"expected option {option!r} once, actual: twice in {spec!r}")
        options[option] = value
    return name, options


def option_values(entry: HasOptions, words: Mapping[str, str]) -> dict[str, Any]:
    """Options as they were written, each as a value of the same type as its default."""
    check_options(entry, words)
    return {option: _value(option, entry.options[option], text) for option, text in words.items()}


def check_options(entry: HasOptions, names: Iterable[str]) -> None:
    """Raises if one of the names is no option."""
    options = entry.options
    for name in names:
        if name not in options:
            known = f"of {', '.join(options)}" if options else "(it has none)"
            raise ValueError(
                f"expected an option {known} for {entry.name}, actual: {name!r}"
                f"{hint(name, options)}"
            )


def spelled_spec(entry: HasOptions) -> str:
    """The name with its options as they stand by default."""
    words = [f"{option}={_spelled(value)}" for option, value in entry.options.items()]
    return f"{entry.name}:{','.join(words)}" if words else entry.name


def hint(word: str, known: Iterable[str]) -> str:
    """What might have been meant."""
    close = difflib.get_close_matches(word, list(known), 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _build(name: str, options: Mapping[str, Any]) -> FiniteTask:
    entry = _entry(name)
    check_options(entry, options)
    return entry.builder(**options)


def _entry(name: str) -> TaskEntry:
    if name not in _TASKS:
        from adastack.tasks.worlds import WORLDS

        known = ", ".join(_TASKS)
        why = hint(name, [*_TASKS, *WORLDS]) or " (`adastack tasks` lists worlds, too)"
        why = ", which is no finite table" if name in WORLDS else why
        raise ValueError(f"expected a task of {known}, actual: {name!r}{why}")
    return _TASKS[name]


def _value(option: str, default: Any, text: str) -> float | bool | str:
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise ValueError(f"expected {option}=true or {option}=false, actual: {text!r}")
        return text == "true"
    if isinstance(default, int):
        if not re.fullmatch(r"[+-]?\d+", text):
            raise ValueError(f"expected a whole number for {option}, actual: {text!r}")
        return int(text)
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"expected a number for {option}, actual: {text!r}") from None
    return text


def _spelled(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "..."
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pomdp(file: str | Path = "tiger") -> FiniteTask:
    """The task of a ``.pomdp`` file; its parser is loaded when one is read."""
    from adastack.tasks.pomdp_task import pomdp

    return pomdp(file)


_REWARD_MACHINES = PaperRow("1000", "T", "T", value_consistent=False)

for _row in (
    TaskEntry(
        "passive-tmaze",
        passive_tmaze,
        "the colour at the start, until the junction",
        "adastack/PassiveTMaze-v0",
        horizon="length",
        k_star="T",
        kappa=2,
        paper=PaperRow("10^6", "T", "2", value_consistent=True),
    ),
    TaskEntry(
        "active-tmaze",
        active_tmaze,
        "the colour behind the start, once it has been looked for",
        "adastack/ActiveTMaze-v0",
        horizon="100",
        k_star="T",
        kappa=2,
        paper=PaperRow("100", "T", "2", value_consistent=True),
    ),
    TaskEntry(
        "xormaze",
        xormaze,
        "two colours, of which only the comparison counts",
        "adastack/XorMaze-v0",
        horizon="100",
        k_star="T",
        kappa=3,
        paper=PaperRow("100", "T", "3", value_consistent=True),
    ),
    TaskEntry(
        "heaven-hell",
        heaven_hell,
        "which way heaven is, once the priest has been asked",
        "adastack/HeavenHell-v0",
        horizon="20",
        k_star="T",
        kappa=2,
        paper=PaperRow("20", "T", "2", value_consistent=True),
    ),
    TaskEntry(
        "repeat-first",
        repeat_first,
        "the suit of the first card",
        "adastack/RepeatFirst-v0",
        horizon="length",
        k_star="T",
        kappa=2,
        paper=PaperRow("832", "T", "2", value_consistent=True),
    ),
    TaskEntry(
        "memory-length",
        memory_length,
        "the bits of the context, until one is asked for",
        "adastack/MemoryLength-v0",
        horizon="length + 1",
        k_star="T",
        kappa=2,
        paper=PaperRow("100", "T", "2", value_consistent=True),
    ),
    TaskEntry(
        "office",
        office,
        "whether coffee has been fetched (and whether anything was broken)",
        "adastack/Office-v0",
        horizon="100",
        k_star="T",
        kappa=2,
        paper=_REWARD_MACHINES,
    ),
    TaskEntry(
        "key-order",
        key_order,
        "which key was taken last",
        "adastack/KeyOrder-v0",
        horizon="100",
        k_star="T",
        kappa=2,
        paper=_REWARD_MACHINES,
    ),
    TaskEntry(
        "pomdp",
        _pomdp,
        "what the file makes worth remembering",
        "adastack/Pomdp-v0",
    ),
):
    register_task(_row)
