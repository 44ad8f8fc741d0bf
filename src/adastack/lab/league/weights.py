"""How large the networks of the league are, and how they are made as large as one another."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete, Space

from adastack.deep.agent import StackAgent
from adastack.deep.cell_table import NO_CELL, load_cell
from adastack.deep.networks import ActorCritic
from adastack.deep.networks.mlp import Body
from adastack.deep.networks.observations import n_features
from adastack.deep.settings import settings_for
from adastack.lab.league.entrants import PRESET, Entrant, entrant_of
from adastack.tasks.entry import Resolved
from adastack.tasks.registry import resolve

FLOAT = 4
STEP = 4
"""Widths are multiples of this, as vector units have it."""
LARGEST = 1024
REFERENCE, REFERENCE_HIDDEN = entrant_of("none+gru"), 64
"""Whose number of weights the others come as near to as they can."""

Spaces = tuple[Space[Any], Space[Any]]


def n_weights(net: ActorCritic, stack_size: int) -> int:
    """How many weights a network over MLPs has."""
    hidden, inputs = net.hidden, stack_size * n_features(net.spec, convolve=False)
    layers = inputs * hidden + hidden + (Body(hidden).layers - 1) * (hidden + 1) * hidden
    heads = (hidden + 1) * (net.n_outputs + net.critic) + net.n_deviations
    return net.n_towers * (layers + _cell_weights(net.cell, hidden)) + heads


def _cell_weights(cell: str, hidden: int) -> int:
    """A cell's weights are a polynomial of its width, so that three small ones tell of all."""
    return 0 if cell == NO_CELL else round(float(np.polyval(_cell_curve(cell), hidden)))


@cache
def _cell_curve(cell: str) -> Any:
    rng = np.random.default_rng(0)
    drawn = (load_cell(cell).draw(hidden, rng) for hidden in (1, 2, 3))
    counts = [sum(array.size for array in weights.values()) for weights in drawn]
    return np.polyfit((1, 2, 3), counts, 2)


def matched(count: Callable[[int], int], target: int) -> int:
    """The width at which the number of weights is nearest to a target.

    Args:
        count: width -> number of weights; it grows with the width.
        target: The number to come near to.

    Example:
        >>> matched(lambda hidden: hidden**2, 1000)
        32
    """
    return min(range(STEP, LARGEST + 1, STEP), key=lambda hidden: abs(count(hidden) - target))


class Sizes:
    """The networks of the league on one task.

    Args:
        task: The task, or its name with its options.
    """

    def __init__(self, task: str | Resolved) -> None:
        self.spaces = spaces_of(resolve(task))
        self._agents: dict[Entrant, StackAgent] = {}

    def hidden(self, entrant: Entrant) -> int:
        """The width that gives an entrant about as many weights as the reference."""
        target = self.weights(REFERENCE, REFERENCE_HIDDEN)
        net = self._net(entrant)
        return matched(
            lambda hidden: n_weights(replace_hidden(net, hidden), entrant.stack_size), target
        )

    def weights(self, entrant: Entrant, hidden: int) -> int:
        """How many weights an entrant has at some width."""
        return n_weights(replace_hidden(self._net(entrant), hidden), entrant.stack_size)

    def carried_bytes(self, entrant: Entrant, hidden: int) -> int:
        """What an agent has to carry from step to step to act: older slots, the actor's state."""
        columns = self._agent(entrant).inputs.columns
        slot = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype, _ in columns)
        state = load_cell(entrant.cell).width(hidden) * FLOAT if entrant.recurrent else 0
        return int((entrant.stack_size - 1) * slot + state)

    def _agent(self, entrant: Entrant) -> StackAgent:
        if entrant not in self._agents:
            settings = settings_for(PRESET, "ppo", entrant.overrides(REFERENCE_HIDDEN))
            stack = (entrant.rule, entrant.stack_size)
            self._agents[entrant] = StackAgent(*self.spaces, *stack, settings)
        return self._agents[entrant]

    def _net(self, entrant: Entrant) -> ActorCritic:
        return self._agent(entrant).net


@cache
def sizes_on(task: str) -> Sizes:
    """The networks on a task, which is made once."""
    return Sizes(task)


def replace_hidden(net: ActorCritic, hidden: int) -> ActorCritic:
    """The same network with other widths."""
    found: ActorCritic = net.clone(hidden=hidden)
    return found


def spaces_of(task: Resolved) -> Spaces:
    """What a task shows and takes."""
    if task.kind == "finite":
        finite = task.finite()
        return Discrete(finite.n_observations), Discrete(finite.n_actions)
    functional = task.functional()
    if functional is not None:
        return functional.observation_space, functional.action_space
    env = task.env()
    try:
        return env.observation_space, env.action_space
    finally:
        env.close()
