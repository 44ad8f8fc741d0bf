"""The best weights so far: those whose rollout earned the most.

The authors test the checkpoint with the best return in a window of training. A window is a rollout
here, and of equally good ones the first counts.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.update import Params


class Best(NamedTuple):
    """The best weights of a seed, or of all of them, seeds on the first axis."""

    reward: Array
    """What a step of their rollout earned on average."""
    params: Params


def nothing_yet(params: Params) -> Best:
    """Before the first rollout, whatever it earns."""
    return Best(jnp.asarray(np.finfo(np.float32).min), params)


def improved(best: Best, reward: Array, params: Params) -> Best:
    """The better of the best so far and of the weights behind a rollout, for each seed.

    Args:
        best: The best so far.
        reward: (seeds, steps, environments): what the rollout earned.
        params: The weights that it was made with.
    """
    earned = reward.mean(axis=(1, 2))
    better = earned > best.reward

    def choose(new: Array, old: Array) -> Array:
        return jnp.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return Best(choose(earned, best.reward), jax.tree.map(choose, params, best.params))
