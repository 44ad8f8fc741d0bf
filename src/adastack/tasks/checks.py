"""What every environment here checks, and how the infos of a batch are masked."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]


def checked_render_mode(render_mode: str | None, modes: Sequence[str]) -> str | None:
    """The render mode, if it is one of the modes or None."""
    if render_mode is not None and render_mode not in modes:
        raise ValueError(f"expected a render_mode of {tuple(modes)}, actual: {render_mode!r}")
    return render_mode


def checked_autoreset_mode(autoreset_mode: AutoresetMode | str) -> AutoresetMode:
    """The autoreset mode of this name."""
    try:
        return AutoresetMode(autoreset_mode)
    except ValueError:
        names = [mode.value for mode in AutoresetMode]
        raise ValueError(
            f"expected an autoreset_mode of {names}, actual: {autoreset_mode!r}"
        ) from None


def checked_integer(name: str, value: Any, low: int, high: float = np.inf) -> int:
    """The value of an option, if it is an integer from ``low`` to ``high``."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        limits = f"of at least {low}" if high == np.inf else f"in {low}..{high}"
        raise ValueError(f"{name} must be an integer {limits}, actual: {value!r}")
    return int(value)


def checked_number(name: str, value: float, low: float) -> float:
    """The value of an option, if it is a finite number of at least ``low``."""
    if not low <= value < np.inf:
        raise ValueError(f"{name} must be a number of at least {low:g}, actual: {value!r}")
    return value


def checked_num_envs(num_envs: int) -> int:
    """The number of environments, if there is at least one."""
    if num_envs < 1:
        raise ValueError(f"num_envs must be at least 1, actual: {num_envs}")
    return num_envs


def checked_action(action: Any, n_actions: int) -> int:
    """The action as an index below ``n_actions``."""
    try:
        index = operator.index(action)
    except TypeError:
        index = -1
    if not 0 <= index < n_actions:
        raise ValueError(f"expected an action in 0..{n_actions - 1}, actual: {action!r}")
    return index


def checked_actions(actions: ArrayLike, num_envs: int, n_actions: int) -> Indices:
    """One action for each environment, as indices below ``n_actions``."""
    given = np.asarray(actions)
    if given.shape != (num_envs,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"expected {num_envs} integers as actions, actual: shape {given.shape}, {given.dtype}"
        )
    # Seen as unsigned, a negative number is a large one: one comparison checks both ends.
    index = given.astype(np.intp, copy=False)
    if np.maximum.reduce(index.view(np.uintp)) >= n_actions:
        wrong = int(np.flatnonzero((index < 0) | (index >= n_actions))[0])
        raise ValueError(
            f"expected actions in 0..{n_actions - 1}, actual: {index[wrong]} in environment {wrong}"
        )
    return index


def checked_numbers(actions: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Actions from a box, if they are finite numbers of this shape."""
    given = np.asarray(actions)
    if given.shape != shape or given.dtype.kind not in "fiu" or not np.isfinite(given).all():
        raise ValueError(
            f"expected finite numbers of shape {shape} as action, actual: {actions!r:.80}"
        )
    return given.astype(np.float32)


def checked_mask(options: dict[str, Any] | None, num_envs: int, begun: bool) -> Bools:
    """Which environments ``options["reset_mask"]`` asks to reset; all if it says nothing."""
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return np.ones(num_envs, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        kind = mask.dtype if isinstance(mask, np.ndarray) else type(mask).__name__
        raise TypeError(f"reset_mask must be a numpy array of bools, actual: {kind}")
    if mask.shape != (num_envs,) or not mask.any():
        raise ValueError(
            f"reset_mask must have shape ({num_envs},) and at least one True, "
            f"actual: shape {mask.shape}, {mask.sum()} True"
        )
    if not begun and not mask.all():
        raise ResetNeeded("no episode has begun: reset all environments first")
    return mask


def masked(infos: dict[str, Any], mask: Bools) -> dict[str, Any]:
    """The infos with zeros where the mask is False."""
    return {key: (value.T * mask).T for key, value in infos.items()}


def with_presence(infos: dict[str, Any], num_envs: int) -> dict[str, Any]:
    """The infos, each with the mask that Gymnasium sets beside it: present everywhere."""
    present = {f"_{key}": np.ones(num_envs, np.bool_) for key in infos}
    return infos | present
