"""Observations that come back are read once, and nothing else changes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.deep import agent as agent_module
from adastack.deep.distinct import sizes_for, switch
from adastack.deep.functional import FunctionalTrainer
from adastack.deep.networks.observations import Leaf
from adastack.deep.settings import PPOSettings
from adastack.tasks import resolve

WORLD = resolve("minigrid-memory:size=7").functional()
SMALL = {"n_envs": 8, "n_steps": 32, "batch_size": 128, "n_epochs": 2, "hidden": 16}


def trainer(**changed):
    return FunctionalTrainer(WORLD, "adaptive", 3, PPOSettings(**(SMALL | changed)))


@jax.jit
def grouped(column):
    """How many rows were enough, and the column put together from them."""

    def few(distinct):
        return jnp.int32(len(distinct.row)), column[distinct.row][distinct.which]

    return switch(column, [2, 16], few, lambda: (jnp.int32(len(column)), column))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 60]))
def test_rows_are_told_apart_and_found_again(seed, options):
    column = np.random.default_rng(seed).integers(options, size=(64, 2, 1), dtype=np.uint8)
    n_different = len(np.unique(column.reshape(64, -1), axis=0))
    size, shown = grouped(jnp.asarray(column))
    assert size == (2 if n_different <= 2 else 16 if n_different <= 16 else 64)
    np.testing.assert_array_equal(shown, column)


@pytest.mark.parametrize("changed", [{}, {"normalize_observation": True, "critic_clock": True}])
def test_an_update_learns_what_it_learns_row_by_row(changed, monkeypatch):
    by_view = trainer(**changed)
    learner = by_view.start(0)
    _, rollout, _ = jax.jit(by_view.rollout)(learner.params, learner.env, 0, 0)
    n_views = len(np.unique(np.asarray(rollout.columns[0]).reshape(-1, 7 * 7 * 3), axis=0))
    assert n_views <= SMALL["batch_size"] / 2, "the rollout should show few views"
    monkeypatch.setattr(agent_module, "sizes_for", lambda *_: [])
    by_row = trainer(**changed)
    what = (rollout, np.int32(0), np.int32(0), np.float32(0))
    found = by_view.learned(learner.params, learner.moments, *what)
    expected = by_row.learned(learner.params, learner.moments, *what)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5), found, expected)
    for body in ("actor_body", "critic_body"):
        before, after = (p["params"][body]["Dense_0"]["kernel"] for p in (learner.params, found[0]))
        assert abs(after - before).max() > 5e-4, "the first layer should have been trained"


def test_gradients_are_those_of_every_row():
    made = trainer(critic_clock=True)
    learner = made.start(1)
    _, rollout, _ = jax.jit(made.rollout)(learner.params, learner.env, 1, 0)
    columns, rows = rollout.columns, jnp.asarray(rollout.slots[:-1].reshape(-1, 3))

    def total(read):
        def of(params):
            outputs, value = read(params)
            return jnp.sin(outputs).sum() + jnp.cos(value).sum()

        return jax.grad(of)(learner.params)

    by_row = total(lambda params: made._at_rows(params, columns, rows))
    by_view = switch(
        columns[0],
        [len(columns[0])],
        lambda distinct: total(lambda params: made._at_distinct(params, columns, distinct, rows)),
        lambda: by_row,
    )
    for found, expected in zip(jax.tree.leaves(by_view), jax.tree.leaves(by_row), strict=True):
        scale = max(1.0, float(abs(expected).max()))
        np.testing.assert_allclose(found / scale, expected / scale, atol=1e-5)


def test_it_is_for_wide_symbols_and_networks_that_join_their_slots():
    wide, narrow = Leaf("onehot", (400,)), Leaf("onehot", (4,))
    assert sizes_for(wide, 2, PPOSettings()) == [32, 48, 64]
    assert sizes_for(wide, 2, PPOSettings(batch_size=2)) == [1]
    assert not sizes_for(narrow, 2, PPOSettings())
    assert not sizes_for(Leaf("box", (400,)), 2, PPOSettings())
    assert not sizes_for(wide, 2, PPOSettings(net="lstm"))
    assert not sizes_for(wide, 2, PPOSettings(cell="gru"))
