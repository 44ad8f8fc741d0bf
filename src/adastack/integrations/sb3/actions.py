"""Which joint actions Stable-Baselines3's algorithms take, and one more form for Box actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Discrete, Tuple
from numpy.typing import NDArray

from adastack.integrations.support import SUPPORT
from adastack.memory import Rule
from adastack.wrappers.actions import ActionForm, Unchanged, action_form

LIBRARIES = ("Stable-Baselines3", "sb3-contrib")
FORMS = {row.algorithm: row.forms for row in SUPPORT if row.library in LIBRARIES}
"""For each algorithm, the action form that fits each action space of an environment."""

AUTO: dict[type[Space[Any]], str] = {Discrete: "flat", Box: "hybrid"}
"""The forms that learn best where no algorithm is named; ``"factored"`` for others."""


def action_form_for(algorithm: str | type, env_space: Space[Any]) -> str:
    """The action form with which an algorithm can learn what to remember.

    Args:
        algorithm: The algorithm or its name, such as ``DQN``.
        env_space: The action space of the environment, without a memory.

    Raises:
        ValueError: If the algorithm cannot take such actions.

    Example:
        >>> from gymnasium.spaces import Discrete
        >>> action_form_for("DQN", Discrete(4))
        'flat'
    """
    name = algorithm if isinstance(algorithm, str) else algorithm.__name__
    if name not in FORMS:
        raise ValueError(f"expected an algorithm of {sorted(FORMS)}, actual: {name!r}")
    for kind in type(env_space).__mro__:
        if kind.__name__ in FORMS[name]:
            return FORMS[name][kind.__name__]
    kinds = " or ".join(FORMS[name])
    raise ValueError(f"{name} expects {kinds} actions, actual: {env_space}; use another algorithm")


class HybridBox(Box):
    """A Box whose last number names a memory action: whole, from 0 to ``n_memory - 1``.

    Stable-Baselines3 has no Tuple actions, but its buffers take any numbers.
    `HybridActorCriticPolicy` draws the last one from a categorical distribution and the others from
    a Gaussian.
    """

    def __init__(self, env_space: Box, n_memory: int) -> None:
        self.n_memory = n_memory
        super().__init__(
            np.append(env_space.low, 0).astype(env_space.dtype),
            np.append(env_space.high, n_memory - 1).astype(env_space.dtype),
            dtype=env_space.dtype.type,
        )

    def sample(self, mask: None = None, probability: None = None) -> NDArray[Any]:
        """Draws the numbers and a memory action."""
        action = super().sample(mask, probability)
        action[-1] = self.np_random.integers(self.n_memory)
        return action

    def contains(self, x: Any) -> bool:
        """Whether it is in the box and its last number is whole."""
        return super().contains(x) and float(x[-1]).is_integer()

    def __repr__(self) -> str:
        return f"HybridBox({super().__repr__()}, {self.n_memory} memory actions)"


class Hybrid(ActionForm):
    """``Box`` -> `HybridBox`."""

    def __init__(self, env_space: Box, n_memory: int) -> None:
        super().__init__(env_space, n_memory)
        self.space = HybridBox(env_space, n_memory)
        self._shape = env_space.shape

    def split(self, action: Any) -> tuple[Any, int]:
        """All numbers but the last, in the environment's shape, and the last."""
        env_actions, memory_actions = self.split_batch(np.asarray(action)[None])
        return env_actions[0], self._checked(memory_actions[0])

    def split_batch(self, actions: Any) -> tuple[Any, NDArray[np.integer]]:
        """All columns but the last, in the environment's shape, and the last."""
        actions = np.asarray(actions)
        memory_actions = actions[:, -1].astype(np.intp)
        if (memory_actions != actions[:, -1]).any():
            raise ValueError(
                "memory action must be an integer: action_form 'hybrid' expects "
                "HybridActorCriticPolicy (PPO, A2C); for other algorithms use 'scores'"
            )
        return actions[:, :-1].reshape(-1, *self._shape), memory_actions

    def join(self, env_action: Any, memory_action: int) -> Any:
        """One array with the memory action at its end."""
        return np.append(np.ravel(env_action), memory_action).astype(self.space.dtype)


def resolved(name: str, env_space: Space[Any]) -> str:
    """The name of the form that ``"auto"`` stands for; other names as they are."""
    if name != "auto":
        return name
    return next((AUTO[kind] for kind in AUTO if isinstance(env_space, kind)), "factored")


def form_for(name: str, rule: Rule, stack_size: int, env_space: Space[Any]) -> ActionForm:
    """The named form of a rule's joint actions, one that Stable-Baselines3 can take."""
    if rule.passive:
        return Unchanged(env_space)
    n_memory = rule.actions(stack_size)
    if name == "hybrid" and isinstance(env_space, Box):
        return Hybrid(env_space, n_memory)
    if name == "hybrid":
        raise ValueError(f"action_form 'hybrid' expects a Box action space, actual: {env_space}")
    form = action_form(name, env_space, n_memory)
    if isinstance(form.space, Tuple):
        raise ValueError(
            f"Stable-Baselines3 has no Tuple actions, which action_form 'factored' makes of "
            f"{env_space}: use 'hybrid' (PPO, A2C) or 'scores' (all that take Box)"
        )
    return form


def joint_masks(form: ActionForm, masks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Masks of environment actions (batch, n) as masks of joint actions: every slot may go."""
    if isinstance(form, Unchanged):
        return masks
    if isinstance(form.space, Discrete):
        return np.tile(masks, (1, form.n_memory))
    return np.concatenate([masks, np.ones((len(masks), form.n_memory), np.bool_)], axis=1)
