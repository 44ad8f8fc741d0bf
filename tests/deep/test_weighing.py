"""Evictions weighed by the stacks they would leave: closed forms, real rollouts, where it holds."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from adastack import Agent
from adastack.deep.advantages import Outcomes, Paid, scaled_advantages
from adastack.deep.agent import Rollout, StackAgent
from adastack.deep.functional import FunctionalTrainer
from adastack.deep.gae import generalised_advantages
from adastack.deep.habits import with_habit
from adastack.deep.heads import Categorical, Gaussian, Product
from adastack.deep.settings import settings_for
from adastack.deep.units import Counted, counted, no_units, updated_units
from adastack.deep.waits import Decided
from adastack.deep.weighing import Weighed, memory_objective, rows_after, worths
from adastack.memory import get_rule
from adastack.tasks.registry import resolve

STEPS, ENVS, K = 25, 4, 3
ON = settings_for("default", "ppo", {})
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_rows_after_an_eviction_are_those_of_a_list(k):
    slots, newest = RNG.integers(0, 99, (20, k)), RNG.integers(100, 200, 20)
    evicted = RNG.integers(0, k, 20)
    found = rows_after(jnp.asarray(slots), jnp.asarray(newest), jnp.asarray(evicted))
    for stack, new, slot, after in zip(slots.tolist(), newest, evicted, found, strict=True):
        del stack[slot]
        assert after.tolist() == [*stack, new]


def test_what_memory_actions_are_worth_is_nothing_on_average():
    values = RNG.normal(size=(5, K)).astype(np.float32)
    log_probs = jax.nn.log_softmax(RNG.normal(size=(5, K)).astype(np.float32))
    found = worths(values, log_probs)
    np.testing.assert_allclose((np.exp(log_probs) * found).sum(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(np.diff(found), np.diff(values), atol=1e-5)


def test_logits_move_by_what_each_is_worth_and_no_further_than_the_clip():
    """An eviction of small chance, too: following the gradient ends there and nowhere else."""
    worth = np.array([[0.1, -0.05, 0.0], [9.0, -9.0, 0.0]], np.float32)
    old = jax.nn.log_softmax(np.array([[0, 0, 0], [-3.0, 1, 0]], np.float32))
    weighed = Weighed(jnp.asarray(worth), old, jnp.array([True, True]))

    def objective(logits):
        return memory_objective(weighed, jax.nn.log_softmax(logits), jnp.zeros(2), 0.2).sum()

    np.testing.assert_allclose(objective(old), 0, atol=1e-6)
    target = np.asarray(jax.nn.softmax(old + np.clip(worth, -0.2, 0.2)))
    np.testing.assert_allclose(jax.grad(objective)(old), target - np.exp(old), rtol=1e-3, atol=1e-6)
    logits, climb = old, jax.jit(lambda logits: logits + jax.grad(objective)(logits))
    for _ in range(2000):
        logits = climb(logits)
    np.testing.assert_allclose(jax.nn.softmax(logits), target, rtol=1e-3)
    assert target[1, 0] > 1.2 * np.exp(old[1, 0])


def test_where_it_does_not_apply_what_was_taken_counts():
    weighed = Weighed(jnp.ones((2, K)), jnp.zeros((2, K)), jnp.array([False, True]))
    sampled = jnp.array([7.0, 7.0])
    found = memory_objective(weighed, jnp.zeros((2, K)), sampled, 0.2)
    np.testing.assert_array_equal(found, [7, 0])


@pytest.mark.parametrize("head", [Categorical((4,)), Gaussian(2)], ids=["moves", "torques"])
def test_the_action_is_judged_against_the_eviction_where_rewards_are_dense_and_vary(head):
    shape, going_on = (STEPS, ENVS), np.zeros((STEPS, ENVS), bool)
    value, following, eviction_worth = RNG.normal(size=(3, *shape)).astype(np.float32)
    cases = [(RNG.choice([-1.0, 1.0], shape), True), (np.zeros(shape), False)]
    for reward, applies in [*cases, (np.ones(shape), False)]:
        paid = Paid(jnp.asarray(reward, jnp.float32), going_on)
        units, _ = updated_units(ON, no_units(), *paid)
        counts = counted(ON, units, paid.reward, None)
        rest = (following, going_on, going_on, counts.gamma)
        outcomes = Outcomes(counts.reward, None, value, *rest)
        _, advantage, returns = scaled_advantages(
            ON, Product((head, Categorical((K,)))), units, outcomes, paid,
            jnp.ones((*shape, 2)), eviction_worth,
        )  # fmt: skip
        action, memory = np.moveaxis(np.asarray(advantage), -1, 0)
        usual = generalised_advantages(counts.reward, value, *rest, ON.gae_lambda)
        np.testing.assert_allclose(returns, usual + value, atol=1e-5)
        if not applies:
            np.testing.assert_array_equal(action, memory)
            continue
        own = np.asarray(
            generalised_advantages(counts.reward, value + eviction_worth, *rest, ON.gae_lambda)
        )
        centred = own - own.mean()
        expected = centred / max(1, np.sqrt((centred**2).mean()))  # Each step is an outcome.
        np.testing.assert_allclose(action, expected, atol=1e-5)


# Real rollouts.


@cache
def trainer(memory, k):
    size = {"n_envs": ENVS, "n_steps": STEPS, "batch_size": 50, "n_epochs": 1, "hidden": 16}
    task = resolve("popgym-repeat-first").functional()
    return FunctionalTrainer(task, memory, k, settings_for("default", "ppo", size))


@cache
def weighed_rollout(memory, k):
    """A rollout in which episodes begin and end, its columns, and what was weighed."""
    made = trainer(memory, k)
    learner, env, rolls = made.start(3), None, jax.jit(made.rollout)
    for i in range(3):
        env, rollout, _ = rolls(learner.params, env or learner.env, 3, i)
    columns = made.inputs.normalise(learner.params, rollout.columns)
    actions = rollout.action.reshape(STEPS * ENVS, -1)
    _, evaluation, _ = made._as_rolled_out(learner.params, columns, rollout, actions)
    found = made._weighed(
        learner.params, columns, rollout, evaluation.memory_log_probs, counts_of(rollout),
        jnp.asarray(True),
    )  # fmt: skip
    return learner, rollout, columns, evaluation, found


def counts_of(rollout):
    """Decisions of one to five steps: discounts that differ."""
    discount = jnp.asarray(0.9 ** np.random.default_rng(5).integers(1, 6, (STEPS, ENVS)))
    return Counted(rollout.reward, rollout.decided._replace(discount=discount), 0.5)


@pytest.mark.parametrize(("memory", "k"), [("adaptive_full", 2), ("adaptive", 3), ("push_skip", 3)])
def test_every_eviction_is_worth_what_the_stack_after_it_is(memory, k):
    """Beside a plain loop over the steps of a real rollout, one memory action at a time."""
    made = trainer(memory, k)
    learner, rollout, columns, evaluation, (weighed, of_taken) = weighed_rollout(memory, k)
    slots, rule = np.asarray(rollout.slots), get_rule(memory)
    assert rollout.over.any()
    for step in range(STEPS):
        for env in range(ENVS):
            row = step * ENVS + env
            if rollout.over[step, env]:
                np.testing.assert_array_equal(weighed.worth[row], 0)
                continue
            stack, stacks = slots[step, env].tolist(), []
            filled = sum(at != 0 for at in stack)
            for action in range(made.n_memory):
                after = [*stack, slots[step + 1, env, -1]]
                del after[rule.table(k)[action, filled]]
                stacks.append(after)
            taken = int(rollout.action[step, env, -1])
            assert stacks[taken] == slots[step + 1, env].tolist()
            values = made._at_rows(learner.params, columns, jnp.asarray(stacks))[1]
            chance = np.exp(np.asarray(evaluation.memory_log_probs[row]))
            discount = counts_of(rollout).decided.discount[step, env]
            expected = discount * (values - (chance * values).sum())
            np.testing.assert_allclose(3 * weighed.worth[row], expected, atol=1e-5)
            own = 0 if with_habit(ENVS)[env] else expected[taken]
            np.testing.assert_allclose(of_taken[step, env], own, atol=1e-5)


def test_nothing_is_weighed_where_rewards_are_sparse():
    made = trainer("adaptive", 3)
    learner, rollout, columns, evaluation, _ = weighed_rollout("adaptive", 3)
    weighed, of_taken = made._weighed(
        learner.params, columns, rollout, evaluation.memory_log_probs, counts_of(rollout),
        jnp.asarray(False),
    )  # fmt: skip
    assert not weighed.worth.any()
    assert not of_taken.any()
    own = ~np.asarray(with_habit(ENVS))
    np.testing.assert_array_equal((made._weights(rollout, weighed)[..., -1] > 0).any(axis=0), own)


def test_habits_teach_the_memory_action_where_it_is_weighed():
    """What the stacks of a habit are worth says what to evict, whoever evicted."""
    made = trainer("adaptive", 3)
    *_, (weighed, _) = weighed_rollout("adaptive", 3)
    _, rollout, *_ = weighed_rollout("adaptive", 3)
    weight = np.asarray(made._weights(rollout, weighed))
    assert (weight[..., -1] > 0).any(axis=0).all()


@cache
def stack_agent(critic_worth, memory="adaptive"):
    size = {"n_envs": ENVS, "n_steps": STEPS, "batch_size": 50, "n_epochs": 4, "hidden": 16}
    settings = settings_for("default", "ppo", size | {"critic_worth": critic_worth})
    box = spaces.Box(-1, 1, (2,), np.float32)
    return StackAgent(box, spaces.Discrete(3), memory, K, settings)


def rollout_of(rng, reward_of):
    """A rollout of random observations, of which the stacks keep whatever they may."""
    rows, shape = 1 + ENVS * K + STEPS * ENVS, (STEPS, ENVS)
    columns = [rng.normal(size=(rows, 2)).astype(np.float32), np.arange(rows, dtype=np.float32)]
    slots = rng.integers(1, rows, (STEPS + 1, ENVS, K)).astype(np.int32)
    action = rng.integers(0, [3, K], (*shape, 2)).astype(np.float32)
    reward = reward_of(columns[0][slots[:-1]], action).astype(np.float32)
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


def test_what_pays_is_kept_though_evictions_were_random_and_told_nothing():
    """Paid is what stacks hold, however they came to hold it: the sum of their first numbers."""
    agent = stack_agent(True)
    params = learned(agent, lambda stacks, action: stacks[..., 0].sum(axis=-1), 60)
    stacks = np.random.default_rng(2).normal(size=(500, K, 2)).astype(np.float32)
    action, _ = agent.mode(params, [jnp.asarray(stacks)])
    least = stacks[..., 0].argmin(axis=1)
    assert (np.asarray(action)[:, -1] == least).mean() > 0.8


def test_where_rewards_are_sparse_nothing_changes():
    """Up to rounding: so what was learned without it is learned with it."""

    def seldom(stacks, action):
        return np.where(np.arange(STEPS)[:, None] == STEPS - 1, action[..., 0], 0)

    ours, theirs = (learned(stack_agent(worth), seldom, 3)["params"] for worth in (True, False))
    jax.tree.map(partial(np.testing.assert_allclose, atol=1e-6), ours, theirs)


def test_who_does_not_weigh_evictions():
    for off in (
        {"cell": "gru"},
        {"action_form": "flat"},
        {"critic": False},
        {"count_once": False},
        {"scale_reward": False},
        {"padding": "reset"},
        {"critic_worth": False},
    ):
        assert not settings_for("default", "ppo", off).weighs_evictions
    assert ON.weighs_evictions
    assert stack_agent(True)._weighs
    assert not stack_agent(True, "frame")._weighs  # There is nothing to choose.


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_one_card_is_kept_for_hundreds_of_others_with_the_defaults(seed):
    agent = Agent("popgym-repeat-first:level=medium", k=2, seed=seed)
    found = agent.learn(300_000, progress=False).evaluate(episodes=20)
    assert found["return"] >= 0.99, "chance is -0.5"
