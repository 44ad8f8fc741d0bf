"""Memory for Stable-Baselines3's vector environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import Space
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, VecTransposeImage
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from adastack.integrations.sb3.actions import form_for, joint_masks, resolved
from adastack.integrations.sb3.layout import channels_first, joined_shape, joined_space, parts
from adastack.memory import Stack, check_stack_size, get_rule
from adastack.wrappers.observations import padding_for

Mask = NDArray[np.bool_]


class VecStack(VecEnvWrapper):
    """Gives SB3's environments stacks of k observations under any registered memory rule.

    With ``rule="frame", padding_type="zero"`` it does what SB3's ``VecFrameStack`` does. Vectors
    are joined end to end and images along their channels, so that SB3's own policies can read them.

    Args:
        venv: The environments, without a memory.
        stack_size: The number of slots, k.
        rule: The name of a rule in `adastack.memory.RULES`.
        padding_type: What empty slots show, as in `adastack.wrappers.AdaptiveStack`.
        action_form: How the joint action is written: ``"flat"`` (Discrete), ``"factored"``,
            ``"hybrid"`` (Box, for PPO and A2C with `HybridActorCriticPolicy`) or ``"scores"`` (Box,
            for SAC and others). ``"auto"`` is flat for Discrete, hybrid for Box, factored for
            others.
    """

    def __init__(
        self,
        venv: VecEnv,
        stack_size: int,
        *,
        rule: str = "adaptive",
        padding_type: Any = "reset",
        action_form: str = "auto",
    ) -> None:
        check_stack_size(stack_size)
        _refuse_second_memory(venv)
        self.stack_size = int(stack_size)
        self.rule = get_rule(rule)
        self.padding_type = padding_type
        form_name = resolved(action_form, venv.action_space)
        self.action_form = form_for(form_name, self.rule, stack_size, venv.action_space)
        padding = padding_for(venv.observation_space, padding_type)
        self.settings = {
            "stack_size": self.stack_size,
            "rule": self.rule.name,
            "padding_type": _plain(venv.observation_space, padding_type),
            "action_form": form_name,
        }
        """What it was made with, as JSON knows it; `from_settings` makes it again."""
        venv = channels_first(venv)
        if padding is not None and isinstance(venv, VecTransposeImage):
            padding = venv.transpose_observations(padding)
        space = venv.observation_space
        super().__init__(
            venv, joined_space(space, stack_size, padding_type), self.action_form.space
        )
        self._parts = parts(space)
        self._shapes = [joined_shape(part, self.stack_size) for part in self._parts.values()]
        self._padding = None if padding is None else self._to_columns(padding)
        columns = [(part.shape or (), np.dtype(part.dtype)) for part in self._parts.values()]
        self._stack = Stack(self.rule, self.stack_size, self.num_envs, columns)
        self._no_choice = np.zeros(self.num_envs, np.intp)
        self._slots = self._no_choice

    @staticmethod
    def from_settings(venv: VecEnv, settings: dict[str, Any]) -> VecStack:
        """A memory with the settings of another."""
        padding_type = settings["padding_type"]
        if not isinstance(padding_type, str):
            padding_type = venv.observation_space.from_jsonable(padding_type)[0]
        return VecStack(venv, **{**settings, "padding_type": padding_type})

    def reset(self) -> Any:
        """Resets the environments and forgets everything but their first observations."""
        self._stack.reset(self._to_columns(self.venv.reset()), self._padding)
        self._note_resets(np.ones(self.num_envs, np.bool_))
        return self._observations()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Begins a step.

        Raises:
            ValueError: If a memory action is out of range; nothing has happened then.
        """
        env_actions, memory_actions = self.action_form.split_batch(actions)
        if self.rule.passive:
            memory_actions = self._no_choice
        elif not self.action_form.in_range or len(memory_actions) != self.num_envs:
            self._stack.check(memory_actions)
        self._slots = self._stack.slots_of(memory_actions)
        self.venv.step_async(env_actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Ends the step: every memory evicts a slot for its next observation."""
        observations, rewards, dones, infos = self.venv.step_wait()
        columns = self._to_columns(observations)
        if not dones.any():
            self._stack.give_up(self._slots, columns)
            self._annotate(infos)
            return self._observations(), rewards, dones, infos
        which = np.flatnonzero(dones)
        self._stack.give_up(self._slots, self._last(columns, which, infos))
        self._annotate(infos)
        finals = [
            column[which].reshape(-1, *shape)
            for column, shape in zip(self._stack.columns, self._shapes, strict=True)
        ]
        for place, env in enumerate(which):
            infos[env]["terminal_observation"] = self._shaped([final[place] for final in finals])
        self._stack.reset(columns, self._padding, dones)
        self._note_resets(dones)
        return self._observations(), rewards, dones, infos

    @property
    def slot_ages(self) -> NDArray[np.int64]:
        """(environments, k): steps since each slot's observation came; -1 while empty."""
        return self._stack.ages.copy()

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """Calls a method of the environments; ``action_masks`` then speaks of joint actions."""
        results = self.venv.env_method(method_name, *args, indices=indices, **kwargs)
        if method_name != "action_masks":
            return results
        return list(joint_masks(self.action_form, np.array(results, np.bool_)))

    def get_images(self) -> Sequence[NDArray[Any] | None]:
        """The environments' pictures, with the memory beside them where they can draw it."""
        if None not in self._parts or not self.venv.has_attr("render_with_memory"):
            return self.venv.get_images()
        slots, ages = self._stack.columns[0], self._stack.ages
        return [
            self.venv.env_method("render_with_memory", slots[env], ages[env], None, indices=env)[0]
            for env in range(self.num_envs)
        ]

    def render(self, mode: str | None = None) -> NDArray[Any] | None:
        """The pictures of all environments in one."""
        return VecEnv.render(self, mode)

    def _to_columns(self, observations: Any) -> list[Any]:
        """A batch of observations as one array for each part."""
        if isinstance(observations, dict):
            return [observations[key] for key in self._parts]
        return [observations]

    def _observations(self) -> Any:
        """Copies of all stacks."""
        columns = zip(self._stack.columns, self._shapes, strict=True)
        return self._shaped([column.copy().reshape(-1, *shape) for column, shape in columns])

    def _shaped(self, leaves: list[Any]) -> Any:
        return leaves[0] if None in self._parts else dict(zip(self._parts, leaves, strict=True))

    def _last(
        self, columns: list[Any], which: NDArray[np.intp], infos: Sequence[dict[str, Any]]
    ) -> list[Any]:
        """The columns with the last observations of the episodes that ended."""
        finals = [self._to_columns(infos[env]["terminal_observation"]) for env in which]
        last = [column.copy() for column in columns]
        for column, values in zip(last, zip(*finals, strict=True), strict=True):
            column[which] = values
        return last

    def _annotate(self, infos: Sequence[dict[str, Any]]) -> None:
        """Says in every info what happened to the memory."""
        ages = self._stack.ages.copy()
        for info, slot, age in zip(infos, self._slots.tolist(), ages, strict=True):
            info["evicted_slot"] = slot
            info["slot_ages"] = age

    def _note_resets(self, begun: Mask) -> None:
        """Keeps the infos of the episodes that began, as SB3's environments do."""
        found = self.venv.unwrapped.reset_infos
        for env in np.flatnonzero(begun):
            ages = self._stack.ages[env].copy()
            self.reset_infos[env] = {**found[env], "evicted_slot": -1, "slot_ages": ages}


class VecAdaptiveStack(VecStack):
    """Gives the agent k slots in each environment and the choice of which to evict.

    The arguments are those of `VecStack`, without ``rule``.

    Example:
        >>> from stable_baselines3.common.env_util import make_vec_env
        >>> from adastack.integrations.sb3 import VecAdaptiveStack
        >>> venv = VecAdaptiveStack(make_vec_env("CartPole-v1", n_envs=4), 2)
        >>> venv.action_space, venv.observation_space.shape
        (Discrete(4), (8,))
    """

    def __init__(
        self,
        venv: VecEnv,
        stack_size: int,
        *,
        padding_type: Any = "reset",
        action_form: str = "auto",
    ) -> None:
        super().__init__(
            venv,
            stack_size,
            rule="adaptive",
            padding_type=padding_type,
            action_form=action_form,
        )


def find_stack(venv: VecEnv) -> VecStack | None:
    """The memory among the wrappers of a vector environment, if there is one."""
    while isinstance(venv, VecEnvWrapper):
        if isinstance(venv, VecStack):
            return venv
        venv = venv.venv
    return None


def _refuse_second_memory(venv: VecEnv) -> None:
    inside = find_stack(venv)
    if inside is None and not (venv.has_attr("stack_size") and venv.has_attr("rule")):
        return
    rule = inside.rule if inside else venv.get_attr("rule", 0)[0]
    stack_size = inside.stack_size if inside else venv.get_attr("stack_size", 0)[0]
    raise ValueError(
        f"expected environments without a memory, actual: they have one already "
        f"({rule.name}, stack_size {stack_size}); wrap them once"
    )


def _plain(space: Space[Any], padding_type: Any) -> Any:
    """A padding as JSON knows it."""
    return padding_type if isinstance(padding_type, str) else space.to_jsonable([padding_type])
