"""Memory for vector environments: one contiguous array, no loop over environments."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from adastack.memory import Stack
from adastack.wrappers.observations import (
    from_leaves,
    is_array,
    leaf_spaces,
    padding_for,
    stacked_space,
    to_leaves,
)
from adastack.wrappers.single import OneRule, Remembers, refuse_second_memory

Mask = NDArray[np.bool_]

if TYPE_CHECKING:
    Wrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:
    Wrapper = VectorWrapper  # Gymnasium 1.2 does not know its type parameters


class _VectorStackWrapper(Remembers[VectorEnv[Any, Any, Any]], Wrapper):
    """What all memories of vector environments share; subclasses choose the rule."""

    def _env_action_space(self, env: VectorEnv[Any, Any, Any]) -> gym.Space[Any]:
        return env.single_action_space

    def _wrap(self, env: VectorEnv[Any, Any, Any]) -> None:
        VectorWrapper.__init__(self, env)
        refuse_second_memory(env)
        space = env.single_observation_space
        form = self.action_form
        self.single_action_space = form.space
        self.action_space = batch_space(form.space, self.num_envs)
        self.single_observation_space = stacked_space(space, self.stack_size, self.padding_type)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.autoreset_mode = autoreset_mode(env)
        self._space = space
        self._leaf_spaces = leaf_spaces(space)
        # The common case, which needs no work per environment when episodes end.
        self._one_array = is_array(space)
        padding = padding_for(space, self.padding_type)
        self._padding = (
            None if padding is None else _boxed(self._leaf_spaces, to_leaves(space, padding))
        )
        self._stack = Stack(
            self.rule,
            self.stack_size,
            self.num_envs,
            [_column(leaf) for leaf in self._leaf_spaces],
        )
        self._resetting = np.zeros(self.num_envs, np.bool_)
        self._no_choice = np.zeros(self.num_envs, np.intp)
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Resets the environments, or those in ``options["reset_mask"]``, and their memories."""
        # Gymnasium takes the mask out of the caller's dictionary: read it first.
        mask = None if options is None else options.get("reset_mask")
        observations, infos = self.env.reset(seed=seed, options=options)
        self._stack.reset(self._to_columns(observations), self._padding, mask)
        self._resetting[slice(None) if mask is None else mask] = False
        self._begun = True
        self._annotate(infos, np.full(self.num_envs, -1), self._stack.ages, mask)
        return self._read(), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Steps the environments; every memory evicts a slot for its next observation.

        Raises:
            ValueError: If a memory action is out of range; nothing has happened then.
        """
        if not self._begun:
            raise ResetNeeded("no episode has begun: call reset() before step()")
        env_actions, memory_actions = self.action_form.split_batch(actions)
        if self.rule.passive:
            memory_actions = self._no_choice
        self._stack.check(memory_actions)
        observations, rewards, terminated, truncated, infos = self.env.step(env_actions)
        columns = self._to_columns(observations)
        done = terminated | truncated
        if self.autoreset_mode == AutoresetMode.SAME_STEP and done.any():
            slots = self._finish(memory_actions, columns, done, infos)
        else:
            slots = self._stack.push(memory_actions, columns)
            if self._resetting.any():
                self._stack.reset(columns, self._padding, self._resetting)
                slots = np.where(self._resetting, -1, slots)
        self._resetting = done & (self.autoreset_mode == AutoresetMode.NEXT_STEP)
        self._annotate(infos, slots, self._stack.ages, None)
        return self._read(), rewards, terminated, truncated, infos

    @property
    def slot_ages(self) -> NDArray[np.int64]:
        """(environments, k): steps since each slot's observation came; -1 while empty."""
        return self._stack.ages.copy()

    def _finish(
        self,
        memory_actions: NDArray[np.integer],
        columns: list[Any],
        done: Mask,
        infos: dict[str, Any],
    ) -> NDArray[np.intp]:
        """Stacks the last observations of finished episodes, then begins the new ones."""
        which = np.flatnonzero(done)
        last = [column.copy() for column in columns]
        self._put(last, which, infos["final_obs"])
        slots = self._stack.push(memory_actions, last)
        stacks = [column[which] for column in self._stack.columns]
        final = np.full(self.num_envs, None, dtype=object)
        shaped = stacks[0] if self._one_array else map(self._shape, zip(*stacks, strict=True))
        for env, stack in zip(which.tolist(), shaped, strict=True):
            final[env] = stack
        infos["final_obs"] = final
        self._annotate(infos.setdefault("final_info", {}), slots, self._stack.ages, done)
        infos["_final_info"] = done.copy()
        self._stack.reset(columns, self._padding, done)
        return np.where(done, -1, slots)

    def _put(self, columns: list[Any], which: NDArray[np.intp], final_obs: Any) -> None:
        """Puts last observations, one object each or a batch, into columns."""
        if isinstance(final_obs, np.ndarray) and final_obs.dtype == object:
            if self._one_array:
                columns[0][which] = np.asarray(final_obs[which].tolist())
                return
            for env in which:
                values = _boxed(self._leaf_spaces, to_leaves(self._space, final_obs[env]))
                for column, value in zip(columns, values, strict=True):
                    column[env] = value
            return
        for column, batch in zip(columns, self._to_columns(final_obs), strict=True):
            column[which] = batch[which]

    def _to_columns(self, observations: Any) -> list[Any]:
        """A batch of observations as one array for each leaf."""
        leaves = to_leaves(self._space, observations)
        return [
            np.asarray(leaf) if is_array(space) else _objects(leaf)
            for space, leaf in zip(self._leaf_spaces, leaves, strict=True)
        ]

    def _read(self) -> Any:
        """Copies of all stacks, in the form of the batched stacked space."""
        leaves = [
            column.copy() if is_array(space) else _by_slot(column)
            for space, column in zip(self._leaf_spaces, self._stack.columns, strict=True)
        ]
        return from_leaves(self._space, leaves)

    def _shape(self, leaves: tuple[Any, ...]) -> Any:
        """One stack from its leaves."""
        values = [
            leaf if is_array(space) else tuple(deepcopy(box.value) for box in leaf)
            for space, leaf in zip(self._leaf_spaces, leaves, strict=True)
        ]
        return from_leaves(self._space, values)

    def _annotate(
        self,
        infos: dict[str, Any],
        slots: NDArray[np.intp],
        ages: NDArray[np.int64],
        mask: Mask | None,
    ) -> None:
        """Adds what happened to the memories, in Gymnasium's form: values and a mask."""
        everywhere = np.ones(self.num_envs, np.bool_) if mask is None else mask
        ages = ages.copy()
        if mask is not None:
            slots, ages = np.where(mask, slots, 0), np.where(mask[:, None], ages, 0)
        infos["evicted_slot"], infos["_evicted_slot"] = slots, everywhere.copy()
        infos["slot_ages"], infos["_slot_ages"] = ages, everywhere.copy()


class MemoryStack(_VectorStackWrapper):
    """The vector version of `adastack.wrappers.MemoryStack`, with the same arguments."""


class AdaptiveStack(OneRule[VectorEnv[Any, Any, Any]], _VectorStackWrapper):
    """The vector version of `adastack.wrappers.AdaptiveStack`, with the same arguments.

    Works with every vector environment and autoreset mode.

    Example:
        >>> import gymnasium as gym
        >>> from adastack.wrappers.vector import AdaptiveStack
        >>> envs = AdaptiveStack(gym.make_vec("CartPole-v1", num_envs=8), stack_size=3)
        >>> envs.action_space.shape, envs.observation_space.shape
        ((8, 2), (8, 3, 4))
    """

    rule_name = "adaptive"


class FrameStack(_VectorStackWrapper):
    """The vector version of `adastack.wrappers.FrameStack`, with the same arguments."""

    arguments = ("stack_size", "padding_type")

    def __init__(
        self, env: VectorEnv[Any, Any, Any], stack_size: int, *, padding_type: Any = "reset"
    ) -> None:
        super().__init__(env, stack_size, rule="frame", padding_type=padding_type)


class PushSkipStack(OneRule[VectorEnv[Any, Any, Any]], _VectorStackWrapper):
    """The vector version of `adastack.wrappers.PushSkipStack`, with the same arguments."""

    rule_name = "push_skip"


def autoreset_mode(env: VectorEnv[Any, Any, Any]) -> AutoresetMode:
    """When a vector environment resets finished episodes; NEXT_STEP where it does not say."""
    mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
    return mode if isinstance(mode, AutoresetMode) else AutoresetMode(mode)


class _Box:
    """An object that numpy does not look into: some observations are themselves sequences."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _boxed(spaces: list[gym.Space[Any]], leaves: list[Any]) -> list[Any]:
    """One observation's leaves as they can be put into columns."""
    return [
        leaf if is_array(space) else _Box(leaf) for space, leaf in zip(spaces, leaves, strict=True)
    ]


def _column(space: gym.Space[Any]) -> tuple[tuple[int, ...], Any]:
    return (space.shape or (), space.dtype) if is_array(space) else ((), object)


def _objects(batch: Any) -> NDArray[Any]:
    """A batch of objects as an array of boxes."""
    boxes = np.empty(len(batch), dtype=object)
    for index, value in enumerate(batch):
        boxes[index] = _Box(deepcopy(value))
    return boxes


def _by_slot(column: NDArray[Any]) -> tuple[tuple[Any, ...], ...]:
    """A column of boxes as Gymnasium batches a tuple of k objects: slot by slot."""
    return tuple(tuple(deepcopy(box.value) for box in slot) for slot in column.T)
