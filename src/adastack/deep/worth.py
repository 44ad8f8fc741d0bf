"""What memory actions are worth, as the critic tells it.

Where each step is paid, an eviction that loses what mattered costs all that follows. In the
advantage of an environment action, evictions some steps later are then noise, many times as large
as what the action earned. So the critic also tells what each memory action is worth, and the
environment action is judged against that instead of the value of the stack. Both actions are drawn
independently, so this leaves the mean of its gradient as it is and takes noise from it: a control
variate. What memory actions are worth is on average nothing, by the policy's own probabilities.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def values_alone(value: Array) -> Array:
    """(rows,): the values of stacks, with or without what memory actions add to them."""
    return value if value.ndim == 1 else value[:, 0]


def worth_of(value: Array, logits: Array, memory: Array) -> Array:
    """(rows,): what memory actions add to the value of their stacks.

    Args:
        value: (rows, 1 + memory actions): values, and what each memory action is worth.
        logits: (rows, memory actions): how likely each is.
        memory: (rows,): what was done.
    """
    worths = value[:, 1:]
    chance = jax.lax.stop_gradient(jax.nn.softmax(logits))
    chosen = jax.nn.one_hot(memory.astype(jnp.int32), worths.shape[1])
    return ((chosen - chance) * worths).sum(axis=1)
