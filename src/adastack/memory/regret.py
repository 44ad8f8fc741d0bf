"""The one formula for what a memory step is regretted for.

For a step that begins with the cue c in need, with *memory* all slots but the current observation:

- memory regret: c is not in memory;
- active regret: the current observation shows c, which memory lacks, and it is not kept;
- passive regret: c is in memory and is evicted;
- memory regret after the step: c is not in the memory that the step leaves behind. A perfect agent
  has none, where each of its attempts begins with one step of memory regret.

The last three are not counted on a step that ends an attempt: nothing has to be kept then. Several
cues are a multiset: a label that is needed twice must be held twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

NOTHING = -2
"""The label of an empty slot; no cue has it."""


class Regrets(NamedTuple):
    """Which members of a batch regret what, on one step."""

    memory: Any
    active: Any
    passive: Any
    memory_after: Any


SHARES = ("memory_regret", "memory_regret_after")
"""The regrets that curves and results give as shares of steps; the others are numbers of steps."""
REGRETS = ("memory_regret", "active_regret", "passive_regret", "memory_regret_after")
"""What they are called in curves and results."""


def regrets(labels: Any, slots: Any, cues: Any, over: Any) -> Regrets:
    """The regrets of one step, for a batch of numpy or JAX arrays.

    Args:
        labels: (batch, k): the label in each slot before the step.
        slots: (batch,): the slot that was evicted.
        cues: (batch, cues), or (1, cues) for all: the labels needed before the step; -1 for none.
        over: (batch,): whether the step ended an attempt.

    Example:
        >>> import numpy as np
        >>> stack, evicts_the_cue = np.array([[2, 0]]), np.array([0])
        >>> regrets(stack, evicts_the_cue, np.array([[2]]), np.array([False])).passive
        array([ True])
    """
    needed = (cues[:, :, None] == cues[:, None, :]).sum(axis=2)
    held = (labels[:, :-1, None] == cues[:, None, :]).sum(axis=1)
    seen = labels[:, -1:] == cues
    evicted = labels[np.arange(len(labels)), slots][:, None]
    kept = held + seen - (evicted == cues)
    real = cues >= 0
    lacking = real & (held < needed)
    missing = lacking.any(axis=1)
    lost = (real & (kept < needed)).any(axis=1)
    active = (lacking & seen & (kept <= held)).any(axis=1)
    return Regrets(missing, active & ~over, ~missing & lost & ~over, lost & ~over)
