"""A task's row in the registry, and a task with its options chosen."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import gymnasium
from gymnasium.envs.registration import load_env_creator
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from adastack.tasks.environment import FiniteTaskEnv, FiniteTaskVectorEnv
from adastack.tasks.finite import FiniteTask
from adastack.tasks.spec import check_options, spell
from adastack.tasks.stretched import StretchedTask
from adastack.tasks.text import without_text

if TYPE_CHECKING:
    from adastack.tasks.functional import FunctionalTask

Kind = Literal["finite", "functional", "host"]
"""How a task is stepped: by tables, by a compiled program, or as a Gymnasium environment."""

LONG = 10_000
"""Tasks with at least so many states are evaluated in their stretched form."""

Maker = Callable[..., Any] | str
"""A function or class, or ``module:name`` of one that is imported when it is first used."""


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper's value-consistency table, as printed."""

    horizon: str
    """T, the longest episode (or, for continual tasks, the steps of training)."""
    k_star: str
    """How many last observations make the task Markov."""
    kappa: str
    """How many kept observations are enough to act optimally."""
    value_consistent: bool = True
    """Whether the paper ticks value-consistency."""


@dataclass(frozen=True)
class TaskEntry:
    """A task's row in the registry: what makes it, and what is known about it.

    A task is made by a `builder` of finite tasks, as a functional task, or as an environment; the
    parameters of the first of these are its options.
    """

    name: str
    """The name on the command line, without options."""
    builder: Callable[..., FiniteTask] | None = None
    """Makes the finite task, if it is one."""
    remember: str = ""
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
    stretched: Callable[..., StretchedTask | None] | None = None
    """Makes the finite task with its rows of like cells as single states, if it has any."""
    functional: Maker | None = None
    """Makes the functional task, if there is one."""
    env: Maker | None = None
    """Makes the environment, where it is not that of the finite or functional task."""
    vector_env: Maker | None = None
    """Makes the vector environment, likewise."""
    defaults: Mapping[str, Any] | None = None
    """The options and their defaults, where they should be known without an import."""
    env_only: Mapping[str, Any] = field(default_factory=dict)
    """Further options that only the single environment has."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that are no options."""
    ppo: Mapping[str, Any] | None = None
    """PPO's settings for this task, where they differ from the paper's: the preset of its name."""
    steps_per_second: float = math.inf
    """How fast one core steps it, where that is slower than a network learns."""
    wide: bool = False
    """Whether an observation is so wide that reading it takes most of the time: the speed is then
    that with two slots, and falls with their number."""

    @property
    def kind(self) -> Kind:
        """How the task is stepped."""
        if self.builder is not None:
            return "finite"
        return "host" if self.functional is None else "functional"

    @property
    def options(self) -> Mapping[str, Any]:
        """The options and their defaults, `inspect.Parameter.empty` for those that have none."""
        if self.defaults is not None:
            return self.defaults
        maker = _load(self.builder or self.functional or self.env)
        parameters = inspect.signature(maker).parameters.values()
        hidden = {"render_mode", *self.fixed}
        return {each.name: each.default for each in parameters if each.name not in hidden}

    @property
    def default_spec(self) -> str:
        """The name with all options and their defaults."""
        return spell(self.name, self.options)


@dataclass(frozen=True)
class Resolved:
    """A task with its options chosen: what a spec on the command line stands for.

    Example:
        >>> from adastack.tasks import resolve
        >>> task = resolve("passive-tmaze:continual=true")
        >>> task.kind, task.name, str(task.with_options(length=6))
        ('finite', 'passive-tmaze', 'passive-tmaze:length=6,continual=true')
    """

    entry: TaskEntry
    options: Mapping[str, Any]
    """The options that were given, with their values."""

    @property
    def kind(self) -> Kind:
        """``"finite"``, ``"functional"`` or ``"host"``, which includes every Gymnasium id."""
        return self.entry.kind

    @property
    def name(self) -> str:
        """The name without options, or the Gymnasium id."""
        return self.entry.name

    def __str__(self) -> str:
        given = [option for option in self.entry.options if option in self.options]
        return spell(self.name, {option: self.options[option] for option in given})

    def with_options(self, **options: Any) -> Resolved:
        """The same task with some options replaced."""
        check_options(self.name, self.entry.options, options)
        return Resolved(self.entry, {**self.options, **options})

    def finite(self) -> FiniteTask:
        """The task as arrays.

        Raises:
            ValueError: If it is no finite task.
        """
        if self.entry.builder is None:
            raise ValueError(f"expected a finite task, actual: {self.name!r}, which has no tables")
        return self.entry.builder(**self.options)

    def to_evaluate(self) -> FiniteTask | StretchedTask:
        """The task in the form in which policies are evaluated: a long one stretched, if it can be.

        Raises:
            ValueError: If it is no finite task.
        """
        stretched = None
        if self.entry.stretched is not None:
            stretched = self.entry.stretched(**self.options)
        if stretched is None or stretched.n_states < LONG:
            return self.finite()
        return stretched

    def functional(self) -> FunctionalTask | None:
        """The task as pure functions, for a compiled rollout; None if there is no such form."""
        if self.entry.functional is None:
            return None
        task: FunctionalTask = self._make(self.entry.functional)
        return task

    def env(self, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """One environment."""
        if self.entry.env is not None:
            made: gymnasium.Env[Any, Any] = self._make(self.entry.env, render_mode=render_mode)
            return without_text(made)
        if self.kind == "finite":
            return FiniteTaskEnv(self.finite(), render_mode)
        from adastack.tasks.functional import FunctionalTaskEnv

        return FunctionalTaskEnv(self._functional(), render_mode)

    def vector_env(
        self,
        num_envs: int,
        autoreset_mode: AutoresetMode | str = "NextStep",
        render_mode: str | None = None,
    ) -> VectorEnv[Any, Any, Any]:
        """Many environments at once, in the fastest form there is."""
        modes: dict[str, Any] = {"autoreset_mode": autoreset_mode, "render_mode": render_mode}
        if self.entry.vector_env is not None:
            made: VectorEnv[Any, Any, Any] = self._make(
                self.entry.vector_env, num_envs=num_envs, **modes
            )
            return made
        if self.kind == "finite":
            return FiniteTaskVectorEnv(self.finite(), num_envs, **modes)
        if self.kind == "host":
            envs = [partial(self.env, render_mode)] * num_envs
            return SyncVectorEnv(envs, autoreset_mode=autoreset_mode)
        from adastack.tasks.functional_vector import FunctionalTaskVectorEnv

        return FunctionalTaskVectorEnv(self._functional(), num_envs, **modes)

    def _functional(self) -> FunctionalTask:
        task = self.functional()
        assert task is not None, "a task has tables, pure functions or an environment"
        return task

    def _make(self, maker: Maker, **arguments: Any) -> Any:
        # Not every environment has a render mode: it is passed on only where one is asked for.
        asked = {name: value for name, value in arguments.items() if value is not None}
        return _load(maker)(**self.entry.fixed, **self.options, **asked)


def _load(maker: Maker | None) -> Callable[..., Any]:
    if maker is None:
        raise ValueError("expected a builder, a functional task or an environment, actual: none")
    return load_env_creator(maker) if isinstance(maker, str) else maker
