"""Cells: a scan is a loop of steps, and so is its gradient; those of Flax; settings that fit."""

from dataclasses import replace

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adastack.deep.cell_table import CELLS, load_cell
from trainers import TINY_GRU

STEPS, TOWERS, ENVS, HIDDEN = 17, 2, 5, 6


def drawn(cell, towers=TOWERS, hidden=HIDDEN, seed=0):
    rng = np.random.default_rng(seed)
    weights = [load_cell(cell).draw(hidden, rng) for _ in range(towers)]
    # What is drawn as zero must count, too.
    noisy = [
        {name: each + rng.normal(0, 0.1, each.shape).astype(np.float32) for name, each in w.items()}
        for w in weights
    ]
    return {name: jnp.stack([each[name] for each in noisy]) for name in noisy[0]}


def sequence(cell, seed=0):
    rng = np.random.default_rng(seed)
    state = rng.normal(size=(TOWERS, ENVS, load_cell(cell).width(HIDDEN))).astype(np.float32)
    features = rng.normal(size=(STEPS, TOWERS, ENVS, HIDDEN)).astype(np.float32)
    reset = rng.random((STEPS, ENVS)) < rng.choice([0, 0.2, 1])
    return jnp.asarray(state), jnp.asarray(features), jnp.asarray(reset)


def looped(cell, weights, state, features, reset):
    """The definition: one step after the other, from zeros where an episode begins."""
    outputs = []
    for x, begins in zip(features, reset, strict=True):
        state = jnp.where(begins[:, None], 0.0, state)
        inputs = load_cell(cell).inputs(weights, x)
        state, output = load_cell(cell).step(weights, state, inputs)
        outputs.append(output)
    return jnp.stack(outputs)


def scanned(cell, weights, state, features, reset):
    inputs = jax.vmap(lambda x: load_cell(cell).inputs(weights, x))(features)
    return load_cell(cell).scan(weights, state, inputs, reset)


@pytest.mark.parametrize("cell", CELLS)
def test_a_scan_is_a_loop_of_steps_and_so_is_its_gradient(cell):
    slopes = np.random.default_rng(9).normal(size=(STEPS, TOWERS, ENVS, HIDDEN))

    def results(way):
        def total(weights, state, features, reset):
            found = way(cell, weights, state, features, reset)
            return (found * slopes).sum(), found

        return jax.jit(jax.grad(total, argnums=(0, 1, 2), has_aux=True))

    loop, scan = results(looped), results(scanned)
    for seed in range(6):
        arguments = (drawn(cell, seed=seed), *sequence(cell, seed))
        pairs = zip(*(jax.tree.leaves(way(*arguments)) for way in (loop, scan)), strict=True)
        for expected, found in pairs:
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("cell", "theirs"), [("gru", nn.GRUCell), ("lstm", nn.LSTMCell)])
def test_gated_cells_are_those_of_flax(cell, theirs):
    gates = {"gru": "zrn", "lstm": "ifgo"}[cell]
    weights, (state, features, _) = drawn(cell), sequence(cell)
    ours, output = load_cell(cell).step(
        weights, state, load_cell(cell).inputs(weights, features[0])
    )
    for tower in range(TOWERS):
        mine = jax.tree.map(lambda leaf, t=tower: leaf[t], weights)
        parts = {
            name: jnp.split(mine[name], len(gates), axis=-1)
            for name in ("inputs", "bias", "recurrent")
        }
        params = {}
        for i, gate in enumerate(gates):
            params[f"i{gate}"] = {"kernel": parts["inputs"][i]}
            params[f"h{gate}"] = {"kernel": parts["recurrent"][i]}
            where = f"h{gate}" if cell == "lstm" else f"i{gate}"
            params[where]["bias"] = parts["bias"][i]
        if cell == "gru":
            params["hn"]["bias"] = jnp.zeros(HIDDEN)
        carry = jnp.split(state[tower], 2, axis=-1)[::-1] if cell == "lstm" else state[tower]
        found = theirs(HIDDEN).apply({"params": params}, carry, features[0, tower])
        np.testing.assert_allclose(output[tower], found[1], rtol=1e-5, atol=1e-6)
        kept = jnp.concatenate(found[0][::-1], axis=-1) if cell == "lstm" else found[0]
        np.testing.assert_allclose(ours[tower], kept, rtol=1e-5, atol=1e-6)


def test_a_linear_unit_remembers_for_as_long_as_its_eigenvalue_says():
    cell, weights = load_cell("lru"), drawn("lru", towers=1)
    size = np.exp(-np.exp(np.asarray(weights["decay"][0])))
    angle = np.exp(np.asarray(weights["phase"][0]))
    state = jnp.ones((1, 1, 2 * HIDDEN)) * jnp.repeat(jnp.array([1.0, 0.0]), HIDDEN)
    for _ in range(10):
        state, _ = cell.step(weights, state, jnp.zeros((1, 1, 3 * HIDDEN)))
    expected = (size * np.exp(1j * angle)) ** 10
    np.testing.assert_allclose(state[0, 0], [*expected.real, *expected.imag], rtol=1e-4)
    assert (size < 1).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cell": "rnn"}, "cell must be one of none, gru, lstm, lru, actual: 'rnn'"),
        ({"batch_size": 20}, "batch_size must be a multiple of n_steps = 25 with a cell"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY_GRU, **changes)
