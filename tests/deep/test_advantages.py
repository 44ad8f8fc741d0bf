"""Each head's own advantage: closed forms, who has one, and what it is good for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adastack import Agent
from adastack.deep.advantages import Outcomes, Paid, advantages_and_returns, scaled_advantages
from adastack.deep.gae import generalised_advantages
from adastack.deep.heads import Categorical, Gaussian, Product
from adastack.deep.settings import settings_for
from adastack.deep.units import counted, no_units, updated_units
from adastack.deep.update import Batch, Evaluation, Schedule, loss

STEPS, ENVS = 12, 3
OWN = {"dense_gae_lambda": 0.5}
SETTINGS = settings_for("default", "ppo", OWN)
TWO = Product((Categorical((4,)), Categorical((2,))))
GOING_ON = np.zeros((STEPS, ENVS), bool)


def some(seed, *more):
    return np.random.default_rng(seed).normal(size=(STEPS, ENVS, *more)).astype(np.float32)


def of(reward, over=GOING_ON, heads=TWO, settings=SETTINGS, weighted=True):
    """The advantages of a rollout, and the outcomes that they were made from."""
    paid = Paid(jnp.asarray(reward), jnp.asarray(over))
    units, _ = updated_units(settings, no_units(), *paid)
    counts = counted(settings, units, paid.reward, None)
    outcomes = Outcomes(counts.reward, None, some(1), some(2), over, over, counts.gamma)
    weight = jnp.ones((STEPS, ENVS, 2)) if weighted else None
    _, advantage, returns = scaled_advantages(settings, heads, units, outcomes, paid, weight)
    return np.asarray(advantage), np.asarray(returns), outcomes


VARIED = np.random.default_rng(0).choice([-1, 1], (STEPS, ENVS)).astype(np.float32)


def test_with_dense_rewards_an_action_looks_less_far_ahead_than_the_memory():
    advantage, returns, outcomes = of(VARIED)
    assert advantage.shape == (STEPS, ENVS, 2)
    rest = (outcomes.value, outcomes.next_value, GOING_ON, GOING_ON, outcomes.gamma)
    for head, gae_lambda in enumerate((SETTINGS.dense_gae_lambda, SETTINGS.gae_lambda)):
        plain = np.asarray(generalised_advantages(outcomes.reward, *rest, gae_lambda))
        centred = plain - plain.mean()
        expected = centred / max(1, np.sqrt((centred**2).mean()))  # Each step is an outcome.
        np.testing.assert_allclose(advantage[..., head], expected, atol=1e-5)
    usual, _ = advantages_and_returns(outcomes, SETTINGS.gae_lambda)
    np.testing.assert_allclose(returns, usual + outcomes.value, atol=1e-6)
    assert np.abs(advantage[..., 0] - advantage[..., 1]).max() > 0.1


SPARSE = np.where(np.arange(STEPS)[:, None] == STEPS - 1, VARIED, 0)


@pytest.mark.parametrize(
    ("reward", "over"),
    [
        (np.ones_like(VARIED), GOING_ON),
        (SPARSE, SPARSE != 0),
        (np.where(SPARSE, 9 * VARIED, 1), SPARSE != 0),
    ],
    ids=["all alike", "at the end", "all alike but at the end"],
)
def test_elsewhere_both_heads_have_the_same(reward, over):
    advantage, _, _ = of(reward, over)
    np.testing.assert_array_equal(advantage[..., 0], advantage[..., 1])


@pytest.mark.parametrize(
    ("heads", "overrides", "weighted"),
    [
        (Product((Gaussian(1), Categorical((2,)))), {}, True),
        (Product((Categorical((8,)),)), {}, True),
        (TWO, {}, False),
        (TWO, {"dense_gae_lambda": None}, True),
    ],
    ids=["torques", "one head", "one ratio", "not asked for"],
)
def test_who_has_one_advantage_only(heads, overrides, weighted):
    settings = settings_for("default", "ppo", OWN | overrides)
    advantage, _, _ = of(VARIED, heads=heads, settings=settings, weighted=weighted)
    assert advantage.shape == (STEPS, ENVS)


def test_each_head_is_moved_by_its_own_advantage():
    rows = 5
    zero = Schedule(*[jnp.zeros(())] * 3)

    def slopes(advantage):
        batch = Batch(
            None, None, jnp.zeros((rows, 2)), advantage, jnp.zeros(rows), jnp.ones((rows, 2))
        )

        def evaluate(params, _, __):
            return Evaluation(params, jnp.zeros((rows, 2)), jnp.zeros(rows))

        return jax.grad(loss)(jnp.zeros((rows, 2)), batch, zero, evaluate, SETTINGS)

    own = jnp.asarray(some(3, 2)[:rows, 0])
    np.testing.assert_allclose(slopes(own), -own / rows, atol=1e-6)
    shared = slopes(own[:, 0])
    np.testing.assert_allclose(shared, -own[:, [0, 0]] / rows, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["repeat-first:length=6", "popgym-repeat-first"])
def test_trainers_use_it_where_rewards_are_dense_and_vary(task):
    """Over tables and compiled: one update gives another policy with it than without."""
    small = {"n_envs": 4, "n_steps": 8, "batch_size": 32, "n_epochs": 1, "hidden": 8}
    found = []
    for more in ({}, OWN):
        agent = Agent(task, k=2, algo="ppo", preset="default", seed=1, **small, **more)
        agent.learn(small["n_envs"] * small["n_steps"], progress=False)
        found.append(agent._session.params_of(0)["params"])
    kernels = [np.asarray(params["policy"]["kernel"]) for params in found]
    assert np.abs(kernels[0] - kernels[1]).max() > 1e-7


@pytest.mark.parametrize("value", ["abc", True, 2, -0.1, float("nan")])
def test_other_values_are_refused(value):
    with pytest.raises(ValueError, match="dense_gae_lambda must be"):
        settings_for("default", "ppo", {"dense_gae_lambda": value})


@pytest.mark.slow
def test_one_card_is_kept_for_hundreds_of_others():
    """Learned from nothing by two seeds: about one of ten ends with some of the suits only."""
    found = []
    for seed in (1, 2):
        agent = Agent("popgym-repeat-first:level=medium", k=2, algo="ppo", seed=seed, **OWN)
        found.append(agent.learn(600_000, progress=False).evaluate(episodes=20)["return"])
    assert max(found) >= 0.99, "chance is -0.5"
