"""Text in observations, such as the missions of MiniGrid: it is left out."""

from __future__ import annotations

import warnings
from typing import Any

from gymnasium import Env, Space
from gymnasium.spaces import Dict
from gymnasium.wrappers import FilterObservation


def without_text(env: Env[Any, Any]) -> Env[Any, Any]:
    """An environment without the text in its observations, which no network here reads.

    A warning names what is left out.
    """
    space = env.observation_space
    if not isinstance(space, Dict):
        return env
    text = [name for name, part in space.items() if _is_text(part)]
    if not text or len(text) == len(space):
        return env
    name = type(env.unwrapped).__name__ if env.spec is None else env.spec.id
    # Names alone: the same line for each of many environments is shown once.
    warnings.warn(f"{name}: text is left out of observations: {', '.join(text)}", stacklevel=2)
    return FilterObservation(env, [key for key in space if key not in text])


def _is_text(space: Space[Any]) -> bool:
    return space.dtype is not None and space.dtype.kind == "U"
