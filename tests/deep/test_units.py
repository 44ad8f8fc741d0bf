"""The size of rewards does not matter: closed forms, and the same weights bit for bit."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from adastack.deep.agent import Rollout, StackAgent
from adastack.deep.finite import FiniteTrainer
from adastack.deep.settings import PRESETS, settings_for
from adastack.deep.units import (
    WITHIN,
    Change,
    counted,
    no_units,
    scaled,
    updated_units,
    with_bonus,
)
from adastack.deep.update import Schedule
from adastack.deep.waits import Decided
from adastack.process.induced import induce
from adastack.process.policy import memory_rule
from adastack.tasks.registry import resolve

SETTINGS = PRESETS["default"]
GAMMA = SETTINGS.gamma
FACTORS = [2.0**-7, 1.0, 2.0**10]
"""Powers of two, by which numbers are scaled without rounding."""


def rewards(*paid):
    return jnp.asarray(paid, jnp.float32)


ENDS = jnp.asarray([True])
"""All rewards come at ends."""


def changed(units, *paid):
    units, change = updated_units(SETTINGS, units, rewards(*paid), ENDS)
    return units, *map(float, change)


def test_the_unit_is_half_the_range_and_the_critic_begins_at_the_largest_reward():
    units, factor, shift = changed(no_units(), 0, 0)
    assert (float(units.reward), factor, shift) == (0, 1, 0), "nothing is known yet"
    for scale in (0.25, 64):
        _, factor, shift = changed(units, scale, -scale)
        assert (factor, shift) == (1, 0), "it began at 1"
        after, factor, shift = changed(units, 0, scale)
        assert (float(after.value), factor, shift) == (scale / 2, 1, 1), "two units are the most"
        after, factor, shift = changed(units, -scale, -scale)
        assert (float(after.value), factor, shift) == (scale / 2, 1, -1), "nothing is the most"


def test_a_larger_reward_leaves_values_and_raises_what_is_hoped_for():
    units, *_ = changed(no_units(), -0.5, 0.5)
    values = jnp.asarray([1.0, -3.0])
    after, change = updated_units(SETTINGS, units, rewards(0, 2.0), ENDS)
    said = np.asarray(values * units.value)
    assert np.asarray(change.of_values(values) * after.value) == pytest.approx(said + 1.5)
    assert changed(after, 1.0)[1:] == (1, 0)


def with_returns(units, size, weight):
    returns = jnp.full((5, 2), size)
    return scaled(SETTINGS, units, 0 * returns, returns, returns > 0, weight)[0]


def test_where_returns_are_many_rewards_the_critic_counts_in_larger_units():
    units, *_ = changed(no_units(), 0.1, -0.1)
    units = with_returns(units, 300.0, None)  # 30, in units of 0.1.
    units, change = updated_units(SETTINGS, units, rewards(0.1), ENDS)
    assert float(units.value) == pytest.approx(30 / WITHIN)
    assert float(change.of_values(jnp.asarray(300.0))) == pytest.approx(WITHIN)
    units = with_returns(units, 1e9, jnp.zeros((5, 2, 2)))
    assert float(units.returns) == pytest.approx(900), "what does not count is left out"


def test_where_each_step_is_paid_less_is_looked_ahead():
    decided = Decided(jnp.asarray([True, True]), rewards(1, 2), rewards(GAMMA, GAMMA**2))
    for paid, over, gamma in (
        ([-1.0, 1.0], [True, True], GAMMA),
        ([0.5, 0.5], [False, False], 0.99),
        ([-0.01, 1.0], [False, True], GAMMA),
        ([0.0, 0.5], [False, False], 0.995),
    ):
        units, _ = updated_units(SETTINGS, no_units(), rewards(*paid), jnp.asarray(over))
        found = counted(SETTINGS, units, rewards(*paid), decided)
        assert float(found.gamma) == pytest.approx(gamma)
        assert found.decided.discount.tolist() == pytest.approx([gamma, gamma**2])
        assert found.decided.paid.tolist() == pytest.approx(
            [1 / float(units.value), 2 / float(units.value)]
        )


def test_the_last_layer_of_the_critic_follows_its_unit():
    layer = {"kernel": jnp.asarray([[2.0], [3.0]]), "bias": jnp.asarray([1.0])}
    params = {"params": {"value": layer, "policy": layer}, "seen": 7}
    inputs, change = jnp.asarray([[0.5, -1.0]]), Change(jnp.asarray(0.25), jnp.asarray(0.5))
    after = change.of_critic(params)
    said = [inputs @ of["params"]["value"]["kernel"] + of["params"]["value"]["bias"]
            for of in (params, after)]  # fmt: skip
    assert float(said[1][0, 0]) == pytest.approx(0.25 * float(said[0][0, 0]) + 0.5)
    assert after["params"]["policy"] is layer
    assert after["seen"] == 7


@cache
def stack_agent(**overrides):
    """One agent for each setting, so that its update is compiled once."""
    size = {"n_envs": 2, "n_steps": 8, "batch_size": 8, "n_epochs": 2, "hidden": 8}
    settings = settings_for("default", "ppo", size | overrides)
    return StackAgent(
        spaces.Box(-1, 1, (3,), np.float32), spaces.Discrete(3), "adaptive", 2, settings
    )


def rollout_of(agent, factor, rng):
    """A rollout with rewards at a third of its steps, some of them ends."""
    steps, envs, k = agent.settings.n_steps, agent.settings.n_envs, agent.stack_size
    rows = 1 + envs * k + steps * envs
    stored_at = np.arange(rows, dtype=np.float32)
    columns = [rng.normal(size=(rows, 3)).astype(np.float32), stored_at][: len(agent.inputs.stored)]
    slots = rng.integers(1, rows, (steps + 1, envs, k)).astype(np.int32)
    action = rng.integers(0, [3, 2], (steps, envs, 2)).astype(np.float32)
    paid = rng.random((steps, envs)) < 0.3
    reward = (factor * np.where(paid, rng.choice([-1.0, 0.5], paid.shape), 0)).astype(np.float32)
    over = paid & (rng.random(paid.shape) < 0.5)
    decision = rng.integers(0, 9, (steps, envs, 2)).astype(np.uint32)
    done = over | (rng.random(paid.shape) < 0.8)
    decided = Decided(done, reward, np.full(paid.shape, 0.9995, np.float32))
    return Rollout(columns, slots, action, reward, over, over, 0 * reward, decision, decided)


def learned(factor, **overrides):
    """Parameters and units after some updates, with rewards of all sizes."""
    agent = stack_agent(**overrides)
    params, moments = agent.init(0)
    rng = np.random.default_rng(1)
    for i, size in enumerate((0.0, 0.01, 1.0, 1.0)):
        rollout = rollout_of(agent, np.float32(factor * size), rng)
        params, moments, _ = agent.learn(params, moments, rollout, 0, i, np.float32(0.1 * i))
    return jax.tree.map(np.asarray, params), moments[1]


def assert_same(found, expected):
    jax.tree.map(np.testing.assert_array_equal, found, expected)


@pytest.mark.slow
def test_an_update_does_not_depend_on_the_size_of_rewards():
    (one, units), *others = (learned(factor) for factor in (1.0, FACTORS[0], FACTORS[2]))
    assert units.paid.tolist() == [-1, 0.5]
    for params, _ in others:
        assert_same(params, one)
    (plain, _), (small, _) = (learned(factor, scale_reward=False) for factor in FACTORS[:2])
    policies = [params["params"]["policy"]["kernel"] for params in (plain, small)]
    assert np.abs(policies[0] - policies[1]).max() > 1e-4, "without it, it does"


@pytest.mark.slow
def test_nor_does_what_is_learned_from_a_rollout_over_tables():
    task = resolve("active-tmaze:length=3").finite()
    trainer = FiniteTrainer(induce(task, memory_rule("adaptive", True), 2), SETTINGS)
    first = jax.tree.map(lambda leaf: leaf[0], trainer.init([3]))
    table = trainer.network.output_table(first.params)
    env, steps = jax.jit(trainer.envs.rollout_table)(table, first.env, jax.random.key(3))
    found = []

    @jax.jit
    def learn_from(units, steps, reward):
        units, change = updated_units(SETTINGS, units, reward, steps.over)
        rest = steps, reward, env, first.chain
        units, batch, _ = trainer._decisions(first.params, None, units, change, *rest)
        return change.of_critic(first.params), units, batch

    for factor in FACTORS:
        reward = trainer.envs.log(steps).reward * factor
        assert float(jnp.abs(reward).max()) == factor, "the mazes pay 1"
        decided = steps.decided._replace(paid=steps.decided.paid * factor)
        params, units, batch = learn_from(no_units(), steps._replace(decided=decided), reward)
        assert units.paid.tolist() == [-factor, factor]
        found.append(jax.tree.map(np.asarray, (params, batch)))
    assert_same(found[0], found[1])
    assert_same(found[2], found[1])


@pytest.mark.parametrize(("rate", "factor"), [(0.02, 1.0), (0.3, 3.0)], ids=["sparse", "dense"])
def test_dense_rewards_raise_the_bonus_of_the_action_alone(rate, factor):
    units = no_units()._replace(paid=jnp.asarray([-1.0, 0.5]), rate=jnp.asarray(rate))
    schedule = Schedule(*map(jnp.asarray, (1e-3, 0.03, 0.02)))
    raised = with_bonus(schedule, units)
    assert float(raised.entropy) == pytest.approx(factor * 0.03)
    assert (raised.learning_rate, raised.memory_entropy) == schedule[::2]
