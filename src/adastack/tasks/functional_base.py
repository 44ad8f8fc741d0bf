"""A base of functional tasks, which need only say how an episode begins and what an action does."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from adastack.extras import check_installed

check_installed("jax", extra="train")

import jax.numpy as jnp
from jax import Array

from adastack.tasks.checks import checked_integer, checked_number
from adastack.tasks.functional import State, Step


class Outcome(NamedTuple):
    """What an action leads to."""

    state: State
    reward: Array
    terminated: Array | bool = False
    truncated: Array | None = None
    """None: whether the state's ``clock`` has reached the time limit."""
    success: Array | None = None
    """Whether an episode that ends now is a success; None: whether its last reward is positive."""


class FunctionalBase:
    """``reset`` and ``step`` of a `FunctionalTask`, made from `begin`, `act` and `observe`.

    Example:
        >>> import jax
        >>> from gymnasium.spaces import Discrete
        >>> class Countdown(FunctionalBase):
        ...     observation_space, action_space = Discrete(4), Discrete(1)
        ...     def begin(self, key):
        ...         return jnp.int32(3)
        ...     def act(self, key, state, action):
        ...         return Outcome(state - 1, jnp.float32(1), terminated=state == 1)
        ...     def observe(self, state):
        ...         return state
        >>> step = Countdown().step(jax.random.key(0), jnp.int32(1), 0)
        >>> int(step.observation), bool(step.terminated), bool(step.extras["success"])
        (0, True, True)
    """

    time_limit: int | None = None
    _least: ClassVar[dict[str, float]] = {}

    def __init_subclass__(cls, *, least: dict[str, float] | None = None) -> None:
        """``least``: the least of each option of a dataclass; an integer where that is one."""
        cls._least = {**cls._least, **(least or {})}

    def __post_init__(self) -> None:
        for name, least in self._least.items():
            check: Any = checked_integer if isinstance(least, int) else checked_number
            object.__setattr__(self, name, check(name, getattr(self, name), least))

    def begin(self, key: Array) -> Any:
        """Draws an initial state."""
        raise NotImplementedError

    def act(self, key: Array, state: Any, action: Array) -> Outcome:
        """What an action leads to."""
        raise NotImplementedError

    def observe(self, state: Any) -> Array:
        """The observation of a state."""
        raise NotImplementedError

    def signals(self, state: Any) -> dict[str, Array]:
        """Nothing, unless there is one observation to remember."""
        return {}

    def reset(self, key: Array) -> tuple[Any, Array]:
        """An initial state and its observation."""
        state = self.begin(key)
        return state, self.observe(state)

    def step(self, key: Array, state: Any, action: Array) -> Step:
        """Takes one action."""
        after, reward, terminated, truncated, success = self.act(key, state, action)
        terminated = jnp.asarray(terminated)
        if truncated is None:
            late = self.time_limit is not None and after.clock >= self.time_limit
            truncated = jnp.asarray(late)
        over = terminated | truncated
        success = over & (reward > 0 if success is None else success)
        extras = {"attempt_over": over, "success": success, **self.signals(after)}
        reward = reward.astype(jnp.float32)
        return Step(after, self.observe(after), reward, terminated, truncated, extras)


def zero() -> Array:
    """Zero as an integer: a clock after a reset."""
    return jnp.zeros((), jnp.int32)
