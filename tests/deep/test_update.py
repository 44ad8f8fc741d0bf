"""The optimiser's step, beside optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from adastack.deep.settings import PPOSettings
from adastack.deep.update import descend, optimiser

SHAPES = {"kernel": (10, 128), "bias": (128,), "head": (128, 3), "scalar": (), "odd": (7, 5)}


def tree(rng, scale):
    return {name: jnp.asarray(scale * rng.normal(size=shape)) for name, shape in SHAPES.items()}


@pytest.mark.parametrize("scale", [1e-4, 10.0], ids=["short", "cut"])
def test_a_step_is_that_of_clipped_adam(scale):
    rng, settings = np.random.default_rng(0), PPOSettings(learning_rate=1e-2)
    ours = theirs = tree(rng, 1.0)
    moments = optimiser(settings).init(ours)
    chain = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-2, eps=settings.adam_eps))
    state = chain.init(theirs)

    @jax.jit
    def both(ours, moments, theirs, state, gradient):
        steps, state = chain.update(gradient, state)
        theirs = optax.apply_updates(theirs, steps)
        return *descend(ours, moments, gradient, jnp.asarray(1e-2), settings), theirs, state

    for _ in range(20):
        ours, moments, theirs, state = both(ours, moments, theirs, state, tree(rng, scale))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), ours, theirs)
