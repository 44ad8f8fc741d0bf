"""What memory actions are worth: a baseline for the environment action that depends on them.

Where each step is paid, an eviction that loses what mattered costs all that follows. In the
advantage of an environment action, evictions some steps later are then noise, many times as large
as what the action earned. So the critic also estimates what each memory action is worth, and the
environment action is judged against that instead of the value of the stack. Where both actions are
drawn anew at each step, this leaves the mean of its gradient as it is and takes noise from it: a
control variate. (Where noise is held, later memory actions are not independent, and this holds up
to that.) By the policy's own probabilities, memory actions are on average worth nothing.

The memory action itself is judged by the estimate, too (`adastack.deep.advantages`).
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
