"""A network with a recurrent cell, whose state is carried through the episode.

    stack -> towers -> features -> cell (with the state of the episode so far) -> heads

The state that is carried, the *carry*, is (towers, environments, width); None without a cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import jax.numpy as jnp
from jax import Array

from adastack.deep.cell_table import NO_CELL, load_cell
from adastack.deep.cells.recurrence import reset_where
from adastack.deep.networks import ActorCritic


def first_carry(net: ActorCritic, n_envs: int) -> Any:
    """The carry at the beginning of episodes; None without a cell."""
    if net.cell == NO_CELL:
        return None
    return jnp.zeros((net.n_towers, n_envs, load_cell(net.cell).width(net.hidden)))


def begun_where(over: Any, carry: Any) -> Any:
    """The carry, reset where episodes are over, (environments,)."""
    return None if carry is None else reset_where(jnp.asarray(over), carry)


def cell_inputs(net: ActorCritic, params: Any, read: Sequence[Array]) -> Array:
    """(towers, rows, n): the inputs of a cell, from the features of each tower, (rows, hidden)."""
    found: Array = load_cell(net.cell).inputs(params["params"]["cell"], jnp.stack(read))
    return found


def stepped(
    net: ActorCritic, params: Any, inputs: Array, carry: Array
) -> tuple[Array, Array, Array]:
    """Policy outputs, values and the carry after a step, from the cell's inputs."""
    carry, shown = load_cell(net.cell).step(params["params"]["cell"], carry, inputs)
    return *_heads(net, params, shown[None]), carry


def unrolled(
    net: ActorCritic, params: Any, inputs: Array, carry: Array, reset: Array
) -> tuple[Array, Array]:
    """Policy outputs and values of sequences, one row per step and environment, time first.

    Args:
        net: The network.
        params: Its weights.
        inputs: (towers, steps * environments, n), in the same order.
        carry: Before the first step.
        reset: (steps, environments): whether an episode begins with the step.
    """
    by_step = inputs.reshape(len(inputs), *reset.shape, -1)
    shown = load_cell(net.cell).scan(
        params["params"]["cell"], carry, jnp.moveaxis(by_step, 1, 0), reset
    )
    return _heads(net, params, shown)


def _heads(net: ActorCritic, params: Any, shown: Array) -> tuple[Array, Array]:
    """(steps, towers, environments, hidden) -> outputs and values, one row each."""
    read = [shown[:, tower].reshape(-1, shown.shape[-1]) for tower in range(shown.shape[1])]
    return cast(tuple[Array, Array], net.apply(params, read, method="heads"))
