"""Adaptive stacking for TorchRL: a transform that keeps the stack in the data itself.

Example:
    >>> from torchrl.envs import GymEnv, TransformedEnv
    >>> from adastack.integrations.torchrl import StackTransform
    >>> env = TransformedEnv(GymEnv("CartPole-v1"), StackTransform(stack_size=3))
    >>> env.reset()["observation"].shape
    torch.Size([3, 4])
"""

from __future__ import annotations

from collections.abc import Sequence

from adastack.extras import check_installed

check_installed("torchrl", extra="torchrl")

import torch
from tensordict import TensorDictBase
from torch import Tensor
from torchrl.data import Bounded, Categorical, Composite, OneHot, TensorSpec, Unbounded
from torchrl.envs import Transform

from adastack.memory import check_stack_size, get_rule

PADDINGS = ("reset", "zero")


class StackTransform(Transform):  # type: ignore[misc]
    """Gives a TorchRL environment a stack of k observations under any registered memory rule.

    The observation becomes the stack, of shape (batch, k, ...), and an action
    ``"memory_action"`` stands beside the environment's own. Everything the memory needs is in the
    data (the stack and ``"slot_ages"``), so a step is a function of its input and works with any
    batch, device or number of processes.

    Args:
        stack_size: The number of slots, k.
        rule: The name of a rule in `adastack.memory.RULES`.
        padding_type: What empty slots show: ``"reset"`` (the first observation) or ``"zero"``.
        in_keys: The observations to stack; they all evict the same slot.
    """

    def __init__(
        self,
        stack_size: int,
        *,
        rule: str = "adaptive",
        padding_type: str = "reset",
        in_keys: Sequence[str] = ("observation",),
    ) -> None:
        check_stack_size(stack_size)
        if padding_type not in PADDINGS:
            raise ValueError(f"padding_type must be one of {PADDINGS}, actual: {padding_type!r}")
        super().__init__(in_keys=list(in_keys), out_keys=list(in_keys))
        self.stack_size = int(stack_size)
        self.rule = get_rule(rule)
        self.padding_type = padding_type
        self.table: Tensor
        self.register_buffer("table", torch.as_tensor(self.rule.table(self.stack_size)))

    def _reset(
        self, tensordict: TensorDictBase, tensordict_reset: TensorDictBase
    ) -> TensorDictBase:
        axis = tensordict_reset.batch_dims
        for key in self.in_keys:
            first = tensordict_reset.get(key)
            stack = torch.stack([first] * self.stack_size, axis)
            if self.padding_type == "zero":
                stack.narrow(axis, 0, self.stack_size - 1).zero_()
            tensordict_reset.set(key, stack)
        ages = torch.full((*first.shape[:axis], self.stack_size), -1, device=first.device)
        ages[..., -1] = 0
        return tensordict_reset.set("slot_ages", ages)

    def _step(self, tensordict: TensorDictBase, next_tensordict: TensorDictBase) -> TensorDictBase:
        ages = tensordict.get("slot_ages")
        if self.rule.passive:
            memory_action = torch.zeros(ages.shape[:-1], dtype=torch.int64, device=ages.device)
        else:
            memory_action = self._checked(tensordict.get("memory_action"))
        slot = self.table[memory_action, (ages >= 0).sum(-1)]
        for key in self.in_keys:
            next_tensordict.set(key, push(tensordict.get(key), slot, next_tensordict.get(key)))
        older = torch.where(ages >= 0, ages + 1, ages)
        return next_tensordict.set("slot_ages", push(older, slot, torch.zeros_like(slot)))

    def forward(self, next_tensordict: TensorDictBase) -> TensorDictBase:
        """Not for replay buffers: what was kept depends on the actions of the whole episode."""
        raise TypeError("expected StackTransform in a TransformedEnv, actual: called on data")

    def transform_observation_spec(self, observation_spec: TensorSpec) -> TensorSpec:
        """The stacks and the ages of their slots."""
        found = list(observation_spec.keys())
        if "slot_ages" in found:
            raise ValueError("expected an environment without a memory, actual: it has one already")
        for key in self.in_keys:
            if key not in found:
                raise ValueError(f"in_keys must be observations of {found}, actual: {key!r}")
            observation_spec[key] = self._stacked(observation_spec[key], observation_spec)
        observation_spec["slot_ages"] = self._ages_spec(observation_spec)
        return observation_spec

    def transform_input_spec(self, input_spec: TensorSpec) -> TensorSpec:
        """One more action, and the stacks as the state that a step begins with."""
        actions = input_spec["full_action_spec"]
        if not self.rule.passive:
            n_memory = self.rule.actions(self.stack_size)
            actions["memory_action"] = Categorical(
                n_memory, shape=actions.shape, dtype=torch.int64, device=actions.device
            )
        state = input_spec["full_state_spec"]
        if state is None:
            state = Composite(shape=input_spec.shape, device=input_spec.device)
        assert self.parent is not None
        observed = self.parent.output_spec["full_observation_spec"]
        for key in self.in_keys:
            state[key] = self._stacked(observed[key].clone(), observed)
        state["slot_ages"] = self._ages_spec(observed)
        input_spec["full_state_spec"] = state
        return input_spec

    def _checked(self, memory_action: Tensor) -> Tensor:
        wrong = (memory_action < 0) | (memory_action >= len(self.table))
        if wrong.any():
            actual = memory_action[wrong][0].item()
            raise ValueError(f"memory action must be in 0..{len(self.table) - 1}, actual: {actual}")
        return memory_action

    def _stacked(self, spec: TensorSpec, batch: Composite) -> TensorSpec:
        axis = len(batch.shape)
        shape = (*spec.shape[:axis], self.stack_size, *spec.shape[axis:])
        if self.padding_type == "zero" and isinstance(spec, OneHot):
            # An empty slot shows no symbol at all.
            return Bounded(0, 1, shape=shape, dtype=spec.dtype, device=spec.device)
        return spec.unsqueeze(axis).expand(shape).clone()

    def _ages_spec(self, batch: Composite) -> TensorSpec:
        shape = (*batch.shape, self.stack_size)
        return Unbounded(shape=shape, dtype=torch.int64, device=batch.device)


def push(stack: Tensor, slot: Tensor, newest: Tensor) -> Tensor:
    """Takes one slot out of every stack and appends the newest observation.

    Args:
        stack: (batch, k, ...).
        slot: (batch,): the slots to evict.
        newest: (batch, ...).
    """
    batch, k = slot.shape, stack.shape[slot.ndim]
    flat = stack.reshape(slot.numel(), k, -1)
    order = torch.arange(k - 1, device=stack.device)
    kept = order + (order >= slot.reshape(-1, 1))
    rows = flat.gather(1, kept[..., None].expand(-1, -1, flat.shape[-1]))
    pushed = torch.cat([rows, newest.reshape(slot.numel(), 1, -1)], dim=1)
    return pushed.reshape(*batch, k, *stack.shape[slot.ndim + 1 :])
