"""One action space for two choices: what to do, and which slot to evict.

A form joins an environment's action space with a number of memory actions and takes joint actions
apart again, one at a time (`split`) or for a whole vector environment (`split_batch`).
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete, Tuple
from numpy.typing import NDArray

ACTION_FORMS = ("factored", "flat", "scores")


class ActionForm(ABC):
    """How a joint action is written."""

    space: Space[Any]
    """The joint action space of one environment."""
    in_range: bool = False
    """Whether `split_batch` gives only memory actions that exist, so that nobody checks again."""

    def __init__(self, env_space: Space[Any], n_memory: int) -> None:
        self.env_space = env_space
        self.n_memory = n_memory

    @abstractmethod
    def split(self, action: Any) -> tuple[Any, int]:
        """A joint action as (environment action, memory action).

        Raises:
            ValueError: If the memory action is out of range.
        """

    @abstractmethod
    def split_batch(self, actions: Any) -> tuple[Any, NDArray[np.integer]]:
        """The joint actions of a vector environment as (environment actions, memory actions)."""

    @abstractmethod
    def join(self, env_action: Any, memory_action: int) -> Any:
        """The joint action for an environment action and a memory action."""

    def _table(self, actions: Any) -> NDArray[Any]:
        """A batch of array actions, one row each."""
        table: NDArray[Any] = np.asarray(actions)
        if table.shape[1:] != self.space.shape:
            raise ValueError(
                f"joint action must have shape {self.space.shape}, actual: {table.shape[1:]}"
            )
        return table

    def _split_pair(self, action: Any) -> tuple[Any, int]:
        try:
            env_action, memory_action = action
        except (TypeError, ValueError):
            raise ValueError(
                f"action must be a pair (action, memory action), actual: {action!r}"
            ) from None
        # The usual case, without another call at each step.
        if type(memory_action) is int and 0 <= memory_action < self.n_memory:
            return env_action, memory_action
        return env_action, self._checked(memory_action)

    def _checked(self, memory_action: Any) -> int:
        try:
            index = operator.index(memory_action)
        except TypeError:
            raise TypeError(
                f"memory action must be an integer, actual: {memory_action!r}"
            ) from None
        if not 0 <= index < self.n_memory:
            raise ValueError(f"memory action must be in 0..{self.n_memory - 1}, actual: {index}")
        return index


class Unchanged(ActionForm):
    """No memory action: the rule leaves nothing to choose."""

    def __init__(self, env_space: Space[Any]) -> None:
        super().__init__(env_space, 1)
        self.space = env_space

    def split(self, action: Any) -> tuple[Any, int]:
        """The action itself, and memory action 0."""
        return action, 0

    def split_batch(self, actions: Any) -> tuple[Any, NDArray[np.integer]]:
        """The actions themselves, and one memory action 0 that stands for all."""
        return actions, np.zeros(1, np.intp)

    def join(self, env_action: Any, memory_action: int) -> Any:
        """The environment action."""
        return env_action


class FactoredDiscrete(ActionForm):
    """``Discrete(n)`` -> ``MultiDiscrete([n, k])``."""

    def __init__(self, env_space: Discrete, n_memory: int) -> None:
        super().__init__(env_space, n_memory)
        self.space = MultiDiscrete([int(env_space.n), n_memory], start=[int(env_space.start), 0])

    def split(self, action: Any) -> tuple[Any, int]:
        """The first entry and the second, as Python integers, which environments check fastest."""
        return self._split_pair(action.tolist() if isinstance(action, np.ndarray) else action)

    def split_batch(self, actions: Any) -> tuple[Any, NDArray[np.integer]]:
        """The first column and the second."""
        actions = self._table(actions)
        return actions[:, 0], actions[:, 1]

    def join(self, env_action: Any, memory_action: int) -> Any:
        """An array of two."""
        return np.array([env_action, memory_action], dtype=np.int64)


class FactoredVector(ActionForm):
    """``MultiDiscrete`` and ``MultiBinary`` -> ``MultiDiscrete`` with one more entry."""

    def __init__(self, env_space: MultiDiscrete | MultiBinary, n_memory: int) -> None:
        super().__init__(env_space, n_memory)
        if isinstance(env_space, MultiDiscrete):
            nvec, start = env_space.nvec, env_space.start
        else:
            nvec, start = np.full(env_space.shape, 2), np.zeros(env_space.shape, np.int64)
        self._shape, self._dtype = env_space.shape, env_space.dtype
        self.space = MultiDiscrete(
            np.append(nvec.ravel(), n_memory), start=np.append(start.ravel(), 0)
        )

    def split(self, action: Any) -> tuple[Any, int]:
        """All entries but the last, in the environment's shape, and the last."""
        action = self._table(np.asarray(action)[None])[0]
        return action[:-1].reshape(self._shape).astype(self._dtype), self._checked(action[-1])

    def split_batch(self, actions: Any) -> tuple[Any, NDArray[np.integer]]:
        """All columns but the last, in the environment's shape, and the last."""
        actions = self._table(actions)
        env_actions = actions[:, :-1].reshape(-1, *self._shape).astype(self._dtype)
        return env_actions, actions[:, -1]

    def join(self, env_action: Any, memory_action: int) -> Any:
        """One array with the memory action at its end."""
        return np.append(np.ravel(env_action), memory_action).astype(np.int64)


class FactoredPair(ActionForm):
    """Any other space -> ``Tuple(space, Discrete(k))``."""

    def __init__(self, env_space: Space[Any], n_memory: int) -> None:
        super().__init__(env_space, n_memory)
        self.space = Tuple((env_space, Discrete(n_memory)))

    def split(self, action: Any) -> tuple[Any, int]:
        """The two parts of the pair."""
        return self._split_pair(action)

    def split_batch(self, actions: Any) -> tuple[Any, NDArray[np.integer]]:
        """The two parts of the pair, each a batch."""
        env_actions, memory_actions = actions
        return env_actions, np.asarray(memory_actions)

    def join(self, env_action: Any, memory_action: int) -> Any:
        """A pair."""
        return env_action, np.int64(memory_action)


class Flat(ActionForm):
    """``Discrete(n)`` -> ``Discrete(n * k)``, index = memory_action * n + env_action."""

    in_range = True

    def __init__(self, env_space: Discrete, n_memory: int) -> None:
        super().__init__(env_space, n_memory)
        self._n, self._start = int(env_space.n), int(env_space.start)
        self.space = Discrete(self._n * n_memory)
        # Looking both parts up is faster than dividing.
        self._env_actions = np.tile(np.arange(self._n) + self._start, n_memory)
        self._memory_actions = np.repeat(np.arange(n_memory), self._n)

    def split(self, action: Any) -> tuple[Any, int]:
        """Remainder and quotient of the index."""
        try:
            memory_action, env_action = divmod(operator.index(action), self._n)
        except TypeError:
            raise TypeError(f"flat action must be an integer, actual: {action!r}") from None
        if not 0 <= memory_action < self.n_memory:
            raise ValueError(
                f"flat action must be in 0..{self._n * self.n_memory - 1}, actual: {action}"
            )
        return env_action + self._start, memory_action

    def split_batch(self, actions: Any) -> tuple[Any, NDArray[np.integer]]:
        """Remainders and quotients of the indices."""
        actions = np.asarray(actions)
        last = self._n * self.n_memory - 1
        if actions.dtype.kind not in "iu":
            raise TypeError(f"flat actions must be integers, actual dtype: {actions.dtype}")
        # Seen as unsigned, a negative number is a large one: one reduction checks both ends.
        unsigned = actions.astype(np.intp, copy=False).view(np.uintp)
        if np.maximum.reduce(unsigned, axis=None, initial=0) > last:
            wrong = actions[(actions < 0) | (actions > last)][0]
            raise ValueError(f"flat action must be in 0..{last}, actual: {wrong}")
        return self._env_actions.take(actions), self._memory_actions.take(actions)

    def join(self, env_action: Any, memory_action: int) -> Any:
        """The index."""
        return np.int64(memory_action * self._n + env_action - self._start)


class Scores(ActionForm):
    """``Box`` -> a flat ``Box`` with k more numbers; the largest names the memory action."""

    in_range = True

    def __init__(self, env_space: Box, n_memory: int) -> None:
        super().__init__(env_space, n_memory)
        self._size = int(np.prod(env_space.shape))
        self._shape = env_space.shape
        scores = np.ones(n_memory, env_space.dtype)
        self.space = Box(
            np.concatenate([env_space.low.ravel(), -scores]),
            np.concatenate([env_space.high.ravel(), scores]),
            dtype=env_space.dtype.type,
        )

    def split(self, action: Any) -> tuple[Any, int]:
        """The environment's numbers, and the place of the largest score."""
        env_actions, memory_actions = self.split_batch(np.asarray(action)[None])
        return env_actions[0], int(memory_actions[0])

    def split_batch(self, actions: Any) -> tuple[Any, NDArray[np.integer]]:
        """The environment's numbers, and the places of the largest scores."""
        actions = self._table(actions)
        scores = actions[:, self._size :]
        if np.isnan(scores).any():
            wrong = scores[np.isnan(scores).any(axis=1)][0]
            raise ValueError(f"memory scores must be numbers, actual: {wrong.tolist()}")
        return actions[:, : self._size].reshape(-1, *self._shape), scores.argmax(axis=1)

    def join(self, env_action: Any, memory_action: int) -> Any:
        """The numbers with a score of 1 for the memory action and -1 for the others."""
        scores = np.where(np.arange(self.n_memory) == memory_action, 1, -1)
        return np.concatenate([np.ravel(env_action), scores]).astype(self.space.dtype)


def action_form(form: str, env_space: Space[Any], n_memory: int) -> ActionForm:
    """Makes the named form for an action space.

    Args:
        form: ``"factored"`` (any space), ``"flat"`` (Discrete) or ``"scores"`` (Box).
        env_space: The environment's action space.
        n_memory: The number of memory actions.

    Raises:
        ValueError: If the form is unknown or does not fit the space.
    """
    if form == "factored":
        if isinstance(env_space, Discrete):
            return FactoredDiscrete(env_space, n_memory)
        if isinstance(env_space, MultiDiscrete | MultiBinary):
            return FactoredVector(env_space, n_memory)
        return FactoredPair(env_space, n_memory)
    if form == "flat" and isinstance(env_space, Discrete):
        return Flat(env_space, n_memory)
    if form == "scores" and isinstance(env_space, Box) and env_space.dtype.kind == "f":
        return Scores(env_space, n_memory)
    if form in ACTION_FORMS:
        needed = "Discrete" if form == "flat" else "floating-point Box"
        raise ValueError(
            f"action_form {form!r} expects a {needed} action space, actual: {env_space}; "
            f"'factored' takes any"
        )
    raise ValueError(f"action_form must be one of {ACTION_FORMS}, actual: {form!r}")
