"""Held noise: distributed as the policy says, the same while a period lasts, counted once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from adastack.deep import exploration
from adastack.deep.agent import StackAgent
from adastack.deep.exploration import (
    Held,
    Periods,
    decisions,
    first_noise,
    looks_back,
    noise,
    once,
    periods,
    renewed,
    with_density,
)
from adastack.deep.explorer import Exploring
from adastack.deep.heads import Bernoulli, Categorical, Gaussian
from adastack.deep.settings import PPOSettings, settings_for

MANY = 200_000


def test_hashed_noise_is_uniform_and_independent():
    seeds = jnp.arange(MANY, dtype=jnp.uint32)
    numbers = np.asarray(noise(seeds, jnp.zeros(MANY, jnp.uint32), 3))
    assert numbers.min() > 0
    assert numbers.max() < 1
    counts = np.histogram(numbers[:, 0], 20, (0, 1))[0]
    assert np.abs(counts - MANY / 20).max() < 5 * np.sqrt(MANY / 20)
    assert np.abs(np.corrcoef(numbers.T) - np.eye(3)).max() < 0.01


@pytest.mark.parametrize(
    ("head", "outputs"),
    [
        (Categorical((3, 2)), [0.0, 1.0, -1.0, 0.3, -0.3]),
        (Bernoulli(2), [0.5, -2.0]),
        (Gaussian(1), [0.7, -0.2]),
    ],
    ids=["categorical", "bernoulli", "gaussian"],
)
def test_a_single_draw_is_distributed_as_the_policy_says(head, outputs):
    rows = jnp.tile(jnp.asarray(outputs), (MANY, 1))
    seeds = jnp.arange(MANY, dtype=jnp.uint32)
    held = np.asarray(head.sample_with(rows, noise(seeds, seeds * 0, head.n_noise)), float)
    fresh = np.asarray(head.sample(rows, jax.random.key(0)), float)
    np.testing.assert_allclose(held.mean(axis=0), fresh.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(held.std(axis=0), fresh.std(axis=0), atol=0.01)


def test_periods_have_all_lengths_and_end_with_episodes():
    held = first_noise(jnp.arange(2000, dtype=jnp.uint32)[:, None])
    longest, none = Periods(*[jnp.asarray([1000.0])] * 2), jnp.zeros(2000, bool)
    held = renewed(held, none, jax.random.key(0), longest)
    lengths = np.asarray(held.left[:, 0])
    thirds = [(lengths < 10).mean(), ((lengths >= 10) & (lengths < 100)).mean()]
    np.testing.assert_allclose(thirds, 1 / 3, atol=0.05)
    after = renewed(held, none, jax.random.key(1), longest)
    goes_on = lengths > 0
    assert (np.asarray(after.seed == held.seed)[:, 0] == goes_on).all()
    ended = renewed(held, ~none, jax.random.key(1), longest)
    assert not (ended.seed == held.seed).any()
    fresh = Periods(*[jnp.asarray([1.0])] * 2)
    anew = renewed(held, none, jax.random.key(1), fresh)
    again = renewed(anew, none, jax.random.key(2), fresh)
    assert (np.asarray(again.left) == 0)[~goes_on].all()


def test_noise_that_is_no_longer_held_is_drawn_anew_at_once():
    held = Held(jnp.asarray([[7, 7]], jnp.uint32), jnp.asarray([[90, 90]]))
    longest, none = (
        periods(PPOSettings(hold_noise=100), [Categorical((2,))] * 2),
        jnp.zeros(1, bool),
    )
    goes_on = renewed(held, none, jax.random.key(0), longest)
    assert goes_on.left.tolist() == [[89, 89]]
    after = renewed(with_density(held, jnp.asarray(True)), none, jax.random.key(0), longest)
    assert after.left.tolist() == [[0, 89]], "the memory's noise goes on, the action's does not"
    assert (after.seed == held.seed).tolist() == [[False, True]]


def test_a_held_decision_counts_once():
    decision = jnp.asarray([[[1]], [[1]], [[2]], [[1]]])
    np.testing.assert_allclose(
        np.asarray(once(decision, jnp.ones((4, 1), bool), 1)).ravel(),
        np.array([1, 1, 3, 1]) / 3 / 0.5,
        rtol=1e-6,
    )


def test_cuts_tell_far_observations_apart_more_often_than_near_ones():
    seeds = jnp.arange(5000, dtype=jnp.uint32)
    situation_of = jax.jit(exploration.situation_of_numbers)

    def apart(distance):
        first = jnp.zeros((5000, 2, 3))
        second = first.at[:, 0, 0].set(distance)
        situations = [situation_of(x, seeds) for x in (first, second)]
        return float((situations[0] != situations[1]).mean())

    assert apart(0.0) == 0
    assert 0 < apart(0.1) < apart(1.0) < apart(3.0) < 0.9


def test_the_same_situation_gets_the_same_choice_until_the_period_ends():
    held = Held(jnp.asarray([[7], [8]], jnp.uint32), jnp.asarray([[3], [3]]))
    situation = jnp.asarray([5, 5], jnp.uint32)
    first, again = (noise(held.seed[:, 0], situation, 4) for _ in range(2))
    assert (first == again).all()
    assert (first[0] != first[1]).all(), "environments explore on their own"
    assert decisions(held.seed[:, 0], situation)[0] != decisions(held.seed[:, 0], situation)[1]


def test_half_of_the_periods_of_the_memory_noise_ignore_the_newest_slot():
    seeds = jax.random.bits(jax.random.key(0), (1000,))
    held = Held(jnp.stack([seeds, seeds], axis=1), jnp.full((1000, 2), 9))
    back = np.asarray(looks_back(held, 1))
    assert 0.4 < back.mean() < 0.6
    assert looks_back(with_density(held, jnp.asarray(True)), 1).all(), (
        "where rewards are dense, all"
    )
    size = {"n_envs": 1000, "n_steps": 2, "batch_size": 1000}
    settings = settings_for("default", "ppo", size | {"keep_rare": False})
    agent = StackAgent(spaces.Discrete(4), spaces.Discrete(4), "adaptive", 2, settings)
    params, _ = agent.init(0)
    # A policy of chance: nothing but noise decides.
    params["params"]["policy"] = jax.tree.map(jnp.zeros_like, params["params"]["policy"])
    memory, met = [], []
    for newest in range(4):
        stack = [jnp.broadcast_to(jnp.asarray([2, newest]), (1000, 2))]
        joined, decision, _ = agent.explored(params, stack, Exploring(held, None), 0, 0)
        memory.append(np.asarray(joined[:, -1]))
        met.append(np.asarray(decision))
    kept = (np.stack(memory) == memory[0]).all(axis=0)
    assert kept[back].all(), "whatever comes"
    assert kept[~back].mean() < 0.3
    same = (np.stack(met) == met[0]).all(axis=0)
    np.testing.assert_array_equal(same[:, 1], back)
    assert not same[:, 0].any(), "actions look at all slots"
