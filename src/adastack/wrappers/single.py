"""Memory for one Gymnasium environment."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, SupportsFloat, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from adastack.memory import check_stack_size, get_rule
from adastack.wrappers.actions import ActionForm, Unchanged
from adastack.wrappers.actions import action_form as make_action_form
from adastack.wrappers.observations import padding_for, stacked_space
from adastack.wrappers.slots import make_slots

EnvT = TypeVar("EnvT")


class Remembers(RecordConstructorArgs, Generic[EnvT]):
    """A wrapper that gives an environment, or a vector environment, a memory.

    A subclass names in ``arguments`` which of the settings its own constructor takes; those are
    recorded, so that ``gymnasium.make(env.spec)`` can call it again.
    """

    arguments: ClassVar[tuple[str, ...]] = ("stack_size", "rule", "padding_type", "action_form")

    def __init__(
        self,
        env: EnvT,
        stack_size: int,
        *,
        rule: str = "adaptive",
        padding_type: Any = "reset",
        action_form: str = "factored",
    ) -> None:
        settings = {
            "stack_size": stack_size,
            "rule": rule,
            "padding_type": padding_type,
            "action_form": action_form,
        }
        RecordConstructorArgs.__init__(self, **{name: settings[name] for name in self.arguments})
        check_stack_size(stack_size)
        self.stack_size = int(stack_size)
        self.rule = get_rule(rule)
        self.padding_type = padding_type
        env_space = self._env_action_space(env)
        self.action_form: ActionForm = (
            Unchanged(env_space)
            if self.rule.passive
            else make_action_form(action_form, env_space, self.rule.actions(self.stack_size))
        )
        self._wrap(env)

    def _env_action_space(self, env: EnvT) -> gym.Space[Any]:
        """The action space of one environment, without a memory."""
        raise NotImplementedError

    def _wrap(self, env: EnvT) -> None:
        """Makes the spaces and an empty memory."""
        raise NotImplementedError


class OneRule(Remembers[EnvT]):
    """A memory whose class says which rule it follows."""

    arguments = ("stack_size", "padding_type", "action_form")
    rule_name: ClassVar[str]

    def __init__(
        self,
        env: EnvT,
        stack_size: int,
        *,
        padding_type: Any = "reset",
        action_form: str = "factored",
    ) -> None:
        rule = self.rule_name
        super().__init__(
            env, stack_size, rule=rule, padding_type=padding_type, action_form=action_form
        )


class _StackWrapper(Remembers[gym.Env[Any, Any]], gym.Wrapper[Any, Any, Any, Any]):
    """What all memories of one environment share; subclasses choose the rule."""

    def _env_action_space(self, env: gym.Env[Any, Any]) -> gym.Space[Any]:
        return env.action_space

    def _wrap(self, env: gym.Env[Any, Any]) -> None:
        gym.Wrapper.__init__(self, env)
        refuse_second_memory(env)
        self.action_space = self.action_form.space
        space, padding_type = env.observation_space, self.padding_type
        self.observation_space = stacked_space(space, self.stack_size, padding_type)
        self._table: list[list[int]] = self.rule.table(self.stack_size).tolist()
        self._padding = padding_for(space, padding_type)
        self._slots = make_slots(space, self.stack_size)
        self._births: list[int] = []
        self._clock = 0
        self._filled = 0
        self._evicted = -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Resets the environment and forgets everything but its first observation."""
        observation, info = self.env.reset(seed=seed, options=options)
        padding = observation if self._padding is None else self._padding
        stacked = self._slots.reset(padding, observation)
        self._births = [0] * self.stack_size
        self._clock, self._filled, self._evicted = 0, 1, -1
        info["evicted_slot"], info["slot_ages"] = -1, self.slot_ages
        return stacked, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Steps the environment, evicts a slot and takes in the next observation.

        Raises:
            ValueError: If the memory action is out of range; nothing has happened then.
        """
        if not self._births:
            raise ResetNeeded("no episode has begun: call reset() before step()")
        env_action, memory_action = self.action_form.split(action)
        observation, reward, terminated, truncated, info = self.env.step(env_action)
        slot = self._table[memory_action][self._filled]
        stacked = self._slots.push(slot, observation)
        self._clock += 1
        del self._births[slot]
        self._births.append(self._clock)
        if slot < self.stack_size - self._filled:
            self._filled += 1
        self._evicted = slot
        info["evicted_slot"], info["slot_ages"] = slot, self.slot_ages
        return stacked, reward, terminated, truncated, info

    def render(self) -> Any:
        """The environment's picture, with the memory beside it where the environment can."""
        if not self.draws_memory or not self._births:
            return self.env.render()
        bare: Any = self.env.unwrapped
        return bare.render_with_memory(self._slots.read(), self.slot_ages, self._evicted)

    @property
    def draws_memory(self) -> bool:
        """Whether the environment can draw the memory beside itself."""
        bare = self.env.unwrapped
        # What a wrapper in between has changed, the environment cannot draw.
        same = self.env.observation_space == bare.observation_space
        return hasattr(bare, "render_with_memory") and same

    @property
    def evicted_slot(self) -> int:
        """The slot that was evicted last; -1 if none was in this episode."""
        return self._evicted

    @property
    def slot_ages(self) -> NDArray[np.int64]:
        """Steps since each slot's observation came; -1 while the slot is empty."""
        if not self._births:
            return np.full(self.stack_size, -1)
        clock = self._clock
        ages = [clock - birth for birth in self._births]
        # Empty slots always stand at the old end.
        for slot in range(self.stack_size - self._filled):
            ages[slot] = -1
        return np.array(ages)


class MemoryStack(_StackWrapper):
    """Gives an environment a stack of k observations under any registered memory rule.

    Args:
        env: The environment.
        stack_size: The number of slots, k.
        rule: The name of a rule in `adastack.memory.RULES`.
        padding_type: As in `AdaptiveStack`.
        action_form: As in `AdaptiveStack`; a rule that leaves nothing to choose leaves the action
            space as it is.
    """


class AdaptiveStack(OneRule[gym.Env[Any, Any]], _StackWrapper):
    """Gives the agent a stack of k observations and the choice of which slot to evict.

    At each step the agent sends, beside its action, the slot (0 the oldest, k-1 the current
    observation) that makes room for the next observation.

    Args:
        env: The environment.
        stack_size: The number of slots, k.
        padding_type: What empty slots show: ``"reset"`` (the first observation), ``"zero"``,
            ``"empty"`` (a symbol of its own for Discrete, zeros elsewhere) or an element of the
            observation space.
        action_form: How the joint action is written. ``"factored"``: one more entry, or a pair.
            ``"flat"``: Discrete(n * k), index = memory_action * n + env_action. ``"scores"``: for
            Box, k more numbers of which the largest names the slot.

    Example:
        >>> import gymnasium as gym
        >>> from adastack.wrappers import AdaptiveStack
        >>> env = AdaptiveStack(gym.make("CartPole-v1"), stack_size=3, padding_type="zero")
        >>> env.action_space
        MultiDiscrete([2 3])
        >>> _ = env.reset(seed=0)
        >>> observation, *_, info = env.step([1, 0])  # push right, evict slot 0
        >>> observation.shape, info["slot_ages"]
        ((3, 4), array([-1,  1,  0]))
    """

    rule_name = "adaptive"


class FrameStack(_StackWrapper):
    """Stacks the last k observations: the memory that always evicts the oldest slot.

    Args:
        env: The environment.
        stack_size: The number of slots, k.
        padding_type: As in `AdaptiveStack`.
    """

    arguments = ("stack_size", "padding_type")

    def __init__(
        self, env: gym.Env[Any, Any], stack_size: int, *, padding_type: Any = "reset"
    ) -> None:
        super().__init__(env, stack_size, rule="frame", padding_type=padding_type)


class PushSkipStack(OneRule[gym.Env[Any, Any]], _StackWrapper):
    """Demir's memory: push evicts the oldest slot, skip the newest once the stack is full.

    Args:
        env: The environment.
        stack_size: The number of slots, k.
        padding_type: As in `AdaptiveStack`.
        action_form: As in `AdaptiveStack`, with the memory actions 0 (push) and 1 (skip).
    """

    rule_name = "push_skip"


def refuse_second_memory(env: Any) -> None:
    """Raises if the environment, or one inside it, has a memory already."""
    memory = memory_of(env)
    if memory is not None:
        raise ValueError(
            f"expected an environment without a memory, actual: {memory} has one already "
            f"({memory.rule.name}, stack_size {memory.stack_size}); wrap it once"
        )


def memory_of(env: Any) -> Remembers[Any] | None:
    """The memory wrapper among those of an environment, or of the first in a vector environment."""
    while env is not None and not isinstance(env, Remembers):
        inner = getattr(env, "envs", None)
        env = inner[0] if inner else getattr(env, "env", None)
    return env
