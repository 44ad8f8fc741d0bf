"""Whether the machine has room for a learner, asked before anything large is begun."""

from __future__ import annotations

from adastack.deep.network_table import NETWORKS
from adastack.deep.networks.observations import Spec
from adastack.deep.settings import PPOSettings
from adastack.memory.rules import check_stack_size
from adastack.process.capacity import MAX_BYTES, half_of_memory, readable, rule_bytes

FLOAT = 4
COPIES = 4
"""Of every weight: itself, its gradient and Adam's two moments."""


def check_capacity(spec: Spec, memory: str, stack_size: int, settings: PPOSettings) -> None:
    """Raises if a learner over stacks needs more than half of the machine's memory.

    Raises:
        MemoryError: If it does; what is counted is the least that it takes.
    """
    check_stack_size(stack_size)
    room = half_of_memory()
    _check(rule_bytes(memory, stack_size), min(room, MAX_BYTES))
    _check(learner_bytes(spec, stack_size, settings), room)


def _check(needed: int, room: int) -> None:
    if needed > room:
        raise MemoryError(f"expected to need at most {readable(room)}, actual: {readable(needed)}")


def learner_bytes(spec: Spec, stack_size: int, settings: PPOSettings) -> int:
    """The least that the slots of a rollout, the first layer and a minibatch take."""
    network = NETWORKS[settings.net]
    weights, row = network.load().sizes(spec, stack_size, settings.hidden, network.convolve)
    rollout = settings.steps_per_update * stack_size
    return FLOAT * int(rollout + COPIES * weights + settings.batch_size * row)
