"""The optimiser's step, beside optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from adastack.deep.settings import PPOSettings
from adastack.deep.update import (
    Batch,
    Evaluation,
    Schedule,
    descend,
    optimiser,
    pieces_for,
    update,
)

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


@pytest.mark.parametrize("normalised", [True, False])
def test_pieces_of_minibatches_give_the_same_step(normalised):
    rng = np.random.default_rng(1)
    settings = PPOSettings(
        net="lstm", n_steps=48, batch_size=24, n_epochs=2, normalize_advantage=normalised
    )
    params = {"weight": jnp.asarray(rng.normal(size=(5, 3)), jnp.float32)}
    inputs = jnp.asarray(rng.normal(size=(48, 5)), jnp.float32)
    at_once = set()

    def evaluate(params, inputs, action):
        at_once.add(len(inputs))
        outputs = jnp.tanh(inputs @ params["weight"])
        log_prob = jax.nn.log_softmax(outputs)[jnp.arange(len(action)), action]
        entropy = -(jax.nn.softmax(outputs) * jax.nn.log_softmax(outputs)).sum(axis=1)
        return Evaluation(log_prob[:, None], entropy[:, None], outputs.sum(axis=1))

    action = jnp.asarray(rng.integers(3, size=48))
    log_prob = evaluate(params, inputs, action).log_prob + rng.normal(size=(48, 1)) / 5
    # Advantages that rise along the rows: pieces that were standardised one by one would differ.
    advantage, returns = jnp.arange(48.0), jnp.asarray(rng.normal(size=48), jnp.float32)
    batch = Batch(inputs, action, log_prob, advantage, returns)
    schedule = Schedule(jnp.asarray(0.1), jnp.asarray(0.02), jnp.asarray(0.0))

    def learned(pieces):
        moments = optimiser(settings).init(params)
        key = jax.random.key(0)
        return update(params, moments, batch, key, schedule, evaluate, settings, pieces)

    whole = learned(1)
    at_once.clear()
    cut = learned(4)
    # All that is learned from, and once the last minibatch, to measure how things stand.
    assert at_once == {6, 24}
    for ours, theirs in zip(*map(jax.tree.leaves, (cut, whole)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    assert float(jnp.abs(cut[0]["weight"] - params["weight"]).max()) > 0.1


@pytest.mark.parametrize(
    ("net", "batch_size", "stack_size", "pieces"),
    [
        *(("lstm", 256, 50, 32), ("transformer", 256, 16, 8), ("lstm", 256, 2, 1)),
        *(("mlp", 256, 50, 1), ("lstm", 257, 50, 1), ("lstm", 256, 500, 64)),
    ],
)
def test_only_long_stacks_of_sequence_networks_are_cut(net, batch_size, stack_size, pieces):
    settings = PPOSettings(net=net, n_steps=batch_size, batch_size=batch_size)
    assert pieces_for(settings, stack_size) == pieces
