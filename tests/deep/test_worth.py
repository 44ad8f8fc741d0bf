"""What memory actions are worth: closed forms, where it counts, that it is learned."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from adastack.deep.advantages import Outcomes, Paid, scaled_advantages
from adastack.deep.agent import Rollout, StackAgent
from adastack.deep.gae import generalised_advantages
from adastack.deep.heads import Categorical, Gaussian, Product
from adastack.deep.settings import settings_for
from adastack.deep.units import WITHIN, Change, counted, no_units, updated_units
from adastack.deep.waits import Decided
from adastack.deep.worth import values_alone, worth_of

STEPS, ENVS, K = 25, 4, 3
ON = settings_for("default", "ppo", {"critic_worth": True})
RNG = np.random.default_rng(0)


def test_what_memory_actions_are_worth_is_nothing_on_average():
    value = RNG.normal(size=(5, 1 + K)).astype(np.float32)
    logits = RNG.normal(size=(5, K)).astype(np.float32)
    chance = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    worths = np.stack([worth_of(value, logits, np.full(5, m)) for m in range(K)], axis=1)
    np.testing.assert_allclose((chance * worths).sum(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(np.diff(worths), np.diff(value[:, 1:]), atol=1e-5)
    np.testing.assert_array_equal(values_alone(value), value[:, 0])
    slope = jax.grad(lambda logits: worth_of(value, logits, jnp.zeros(5)).sum())(logits)
    np.testing.assert_array_equal(slope, 0)  # The critic does not move the policy.


@pytest.mark.parametrize("head", [Categorical((4,)), Gaussian(2)], ids=["moves", "torques"])
def test_where_rewards_are_dense_and_vary_both_heads_are_judged_by_it(head):
    shape, going_on = (STEPS, ENVS), np.zeros((STEPS, ENVS), bool)
    value, following, given = RNG.normal(size=(3, *shape)).astype(np.float32)
    cases = [(RNG.choice([-1.0, 1.0], shape), True), (np.zeros(shape), False)]
    for reward, applies in [*cases, (np.ones(shape), False)]:
        paid = Paid(jnp.asarray(reward, jnp.float32), going_on)
        units, _ = updated_units(ON, no_units(), *paid)
        counts = counted(ON, units, paid.reward, None)
        rest = (following, going_on, going_on, counts.gamma)
        outcomes = Outcomes(counts.reward, None, value, *rest)
        _, advantage, returns = scaled_advantages(
            ON, Product((head, Categorical((K,)))), units, outcomes, paid,
            jnp.ones((*shape, 2)), given,
        )  # fmt: skip
        action, memory = np.moveaxis(np.asarray(advantage), -1, 0)
        usual = generalised_advantages(counts.reward, value, *rest, ON.gae_lambda)
        np.testing.assert_allclose(returns, usual + value, atol=1e-5)
        if not applies:
            np.testing.assert_array_equal(action, memory)
            continue
        own = np.asarray(generalised_advantages(counts.reward, given, *rest, ON.gae_lambda))
        centred = own - own.mean()
        expected = centred / max(1, np.sqrt((centred**2).mean()))  # Each step is an outcome.
        np.testing.assert_allclose(action, expected, atol=1e-5)
        np.testing.assert_allclose(memory, (given - value) / WITHIN, atol=1e-6)
        assert np.abs(action - memory).max() > 0.1


def test_it_follows_the_critics_unit():
    worth = {"kernel": jnp.ones((2, K))}
    layer = {"kernel": jnp.ones((2, 1)), "bias": jnp.ones(1)}
    change = Change(jnp.asarray(0.25), jnp.asarray(0.5))
    after = change.of_critic({"params": {"value": layer, "worth": worth}})["params"]
    np.testing.assert_array_equal(after["worth"]["kernel"], 0.25 * np.ones((2, K)))


@cache
def stack_agent(critic_worth):
    size = {"n_envs": ENVS, "n_steps": STEPS, "batch_size": 50, "n_epochs": 4, "hidden": 16}
    settings = settings_for("default", "ppo", size | {"critic_worth": critic_worth})
    box = spaces.Box(-1, 1, (2,), np.float32)
    return StackAgent(box, spaces.Discrete(3), "adaptive", K, settings)


def rollout_of(rng, reward_of):
    """A rollout of random stacks and actions that goes on and on."""
    rows, shape = 1 + ENVS * K + STEPS * ENVS, (STEPS, ENVS)
    columns = [rng.normal(size=(rows, 2)).astype(np.float32), np.arange(rows, dtype=np.float32)]
    slots = rng.integers(1, rows, (STEPS + 1, ENVS, K)).astype(np.int32)
    action = rng.integers(0, [3, K], (*shape, 2)).astype(np.float32)
    reward = reward_of(action).astype(np.float32)
    never, always = np.zeros(shape, bool), np.ones(shape, bool)
    decision = rng.integers(0, 2**32, (*shape, 2), dtype=np.uint32)
    decided = Decided(always, reward, np.full(shape, 0.9995, np.float32))
    return Rollout(columns, slots, action, reward, never, never, 0 * reward, decision, decided)


def learned(agent, reward_of, updates):
    params, moments = agent.init(0)
    rng = np.random.default_rng(1)
    for i in range(updates):
        rollout = rollout_of(rng, reward_of)
        params, moments, _ = agent.learn(params, moments, rollout, 0, i, np.float32(0.0))
    return jax.tree.map(np.asarray, params)


def test_the_critic_learns_what_each_memory_action_is_worth():
    """Paid is the memory action: 1, 0 or -1 at once, and nothing that lasts."""
    agent = stack_agent(True)
    params = learned(agent, lambda action: 1 - action[..., 1], 60)
    stacks = [np.zeros((1, K, 2), np.float32), np.zeros((1, K), np.float32)]
    value = agent._net(params, agent.inputs.normalise(params, stacks), None)[1]
    said = np.asarray(value)[0, 1:]
    paid_more = np.diff(said)
    assert (paid_more < 0).all(), said
    assert said[0] - said[2] > 0.3


def test_where_rewards_are_sparse_nothing_changes():
    """Up to rounding: so what was learned without it is learned with it."""

    def seldom(action):
        return np.where(np.arange(STEPS)[:, None] == STEPS - 1, action[..., 0], 0)

    ours, theirs = (learned(stack_agent(worth), seldom, 3)["params"] for worth in (True, False))
    assert not ours.pop("worth")["kernel"].any()
    jax.tree.map(partial(np.testing.assert_allclose, atol=1e-6), ours, theirs)


def test_who_does_not_estimate_it():
    for off in (
        {"cell": "gru"},
        {"action_form": "flat"},
        {"critic": False},
        {"count_once": False},
        {"scale_reward": False},
    ):
        assert not settings_for("default", "ppo", {"critic_worth": True} | off).estimates_worth
    assert ON.estimates_worth
