"""A wait is one decision: closed forms, a slow definition, and what it lets PPO learn."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from adastack.deep.advantages import advantages_and_returns
from adastack.deep.agent import Rollout, StackAgent
from adastack.deep.exploration import once, periods
from adastack.deep.finite import FiniteTrainer
from adastack.deep.gae import decision_advantages, decision_returns, generalised_advantages
from adastack.deep.heads import Bernoulli, Categorical, Gaussian
from adastack.deep.settings import PRESETS, settings_for
from adastack.deep.units import Counted
from adastack.deep.update import _rows_that_count
from adastack.deep.waits import Decided, no_wait, standing, waited
from adastack.process.induced import induce
from adastack.process.policy import memory_rule
from adastack.tasks.registry import resolve
from adastack.training import RunSpec, make_session

GAMMA = 0.9


def one(*values):
    return [jnp.asarray([value]) for value in values]


def walk(changes, rewards, uniform=0.99, longest=0):
    """What one environment's steps decide; a choice is its step's number."""
    wait, found, done = no_wait(jnp.zeros(1, jnp.int32), longest), [], []
    for i, (changed, reward) in enumerate(zip(changes, rewards, strict=True)):
        choice = standing(wait, jnp.asarray([i]))
        wait, decided = waited(wait, choice, *one(changed, True, reward, uniform), GAMMA)
        done.append((bool(decided.done[0]), int(choice[0])))
        found.append((float(decided.paid[0]), float(decided.discount[0])))
    return wait, done, found


def test_a_choice_stands_until_something_changes():
    wait, done, found = walk([False, False, True, True], [0.0, 0.0, 1.0, 5.0], longest=100)
    assert done == [(False, 0), (False, 0), (True, 0), (True, 3)]
    # Three steps of one decision: the reward came after two of them.
    assert found[2] == pytest.approx((GAMMA ** (1 + np.log(2)), GAMMA ** (1 + np.log(3))))
    assert found[3] == pytest.approx((5.0, GAMMA)), "a step that changes something is as ever"
    assert int(wait.longest[0]) == 100


def test_what_changes_nothing_is_given_up():
    _, done, _ = walk([False] * 12, [0.0] * 12, uniform=0.6, longest=1)
    # 1 + int(4 * 0.6) steps are waited, and one more gives up.
    assert [over for over, _ in done] == [False, False, False, True] * 3
    assert [choice for _, choice in done] == [0] * 4 + [4] * 4 + [8] * 4


def test_how_long_a_wait_can_be_worth_it_is_learned_from_all_environments():
    wait = no_wait(jnp.zeros(3, jnp.int32))._replace(lasted=jnp.asarray([9, 29, 0]))
    args = jnp.asarray([True, True, True]), jnp.asarray([True, False, True]), jnp.zeros(3)
    after, _ = waited(wait, wait.choice, *args, jnp.full(3, 0.5), GAMMA)
    assert after.longest.tolist() == [10, 10, 10], "a time limit led nowhere"


def test_a_choice_that_never_led_anywhere_is_given_up_sooner():
    wait = no_wait(jnp.zeros(3, jnp.int32), kinds=4)
    wait = wait._replace(lasted=jnp.asarray([79, 0, 0]))
    choice, nothing = jnp.asarray([2, 2, 3]), jnp.zeros(3)
    changed = jnp.asarray([True, False, False])
    almost_one = jnp.full(3, 0.999)
    after, _ = waited(wait, choice, changed, changed, nothing, almost_one, GAMMA)
    assert after.longest.tolist() == [[0, 0, 80, 0]] * 3
    after, _ = waited(
        after._replace(lasted=jnp.zeros(3, jnp.int32)), choice, ~changed & False, changed, nothing,
        almost_one, GAMMA,
    )  # fmt: skip
    # Four times 80 where the choice has led that far, four times 80 / 8 where another one has.
    assert after.limit.tolist() == [1 + 319, 1 + 319, 1 + 39]


def test_advantages_of_single_steps_are_the_usual_ones():
    rng = np.random.default_rng(0)
    reward, value, following = (jnp.asarray(x, jnp.float32) for x in rng.normal(size=(3, 40, 2)))
    over = jnp.asarray(rng.random((40, 2)) < 0.2)
    decided = Decided(jnp.ones_like(over), reward, jnp.full(over.shape, GAMMA))
    rest = (value, following, over, over)
    np.testing.assert_allclose(
        decision_advantages(decided, *rest, 0.8),
        generalised_advantages(reward, *rest, GAMMA, 0.8),
        rtol=1e-5, atol=1e-6,
    )  # fmt: skip


def test_advantages_of_decisions_are_those_of_the_rollout_without_the_waits():
    rng = np.random.default_rng(1)
    n = 50
    done, over = rng.random(n) < 0.4, rng.random(n) < 0.2
    done |= over
    paid, value, following = rng.normal(size=(3, n))
    discount = rng.uniform(0.5, 1, n)
    found = decision_advantages(
        Decided(*(jnp.asarray(x)[:, None] for x in (done, paid, discount))),
        *(jnp.asarray(x)[:, None] for x in (value, following, over, over)),
        0.8,
    )
    expected, later = {}, 0.0
    for t in np.flatnonzero(done)[::-1]:
        delta = paid[t] + discount[t] * (0 if over[t] else following[t]) - value[t]
        later = expected[t] = delta + (0 if over[t] else discount[t] * 0.8 * later)
    for t, advantage in expected.items():
        assert float(found[t, 0]) == pytest.approx(advantage, rel=1e-4, abs=1e-5)


def test_returns_of_decisions_hold_what_was_paid_while_waiting():
    # Two waits of two steps, paid 1 at each step; the second begins after the first.
    _, done, found = walk([False, True, False, True], [1.0] * 4, longest=100)
    assert [over for over, _ in done] == [False, True, False, True]
    paid, discount = (jnp.asarray(x)[:, None] for x in np.transpose(found))
    decided = Decided(jnp.asarray([over for over, _ in done])[:, None], paid, discount)
    wait, rest = 1 + GAMMA, GAMMA ** (1 + np.log(2))
    returns = decision_returns(decided, jnp.zeros((4, 1), bool))[:, 0]
    assert float(returns[3]) == pytest.approx(wait)
    assert float(returns[1]) == pytest.approx(wait + rest * wait)
    cut = decision_returns(decided, jnp.asarray([[False], [True], [False], [True]]))[:, 0]
    assert float(cut[1]) == pytest.approx(wait)


def test_without_a_critic_a_reward_during_a_wait_is_learned_from():
    agent = StackAgent(
        spaces.Discrete(2), spaces.Discrete(2), "adaptive", 2,
        settings_for("default", "grpo", {"n_envs": 1, "n_steps": 2, "batch_size": 2}),
    )  # fmt: skip
    done = np.array([[False], [True]])
    paid, nothing = np.array([[1.0], [1.0]], np.float32), np.zeros((2, 1), np.float32)
    decided = Decided(jnp.asarray(done), jnp.asarray(paid), jnp.full((2, 1), GAMMA))
    reward = np.array([[1.0], [0.0]], np.float32)  # Paid at the first step, before the last.
    rollout = Rollout([], None, None, reward, done, done, nothing, None, decided)
    counts = Counted(reward, decided, GAMMA)
    outcomes = agent._outcomes(rollout, jnp.zeros(2), jnp.zeros(1), counts)
    advantage, _ = advantages_and_returns(outcomes, agent.settings.gae_lambda)
    assert float(advantage[1, 0]) == 1.0


def test_only_steps_that_decide_something_are_learned_from():
    counts = jnp.asarray([False, True, False, True, True, False])
    chosen = settings_for("default", "ppo", {"n_envs": 1, "n_steps": 6, "batch_size": 2})
    found = _rows_that_count(jax.random.key(0), counts, replace(chosen, n_epochs=2))
    assert found.shape == (2 * 3, 2)
    for epoch in np.asarray(found).reshape(2, 6):
        assert sorted(epoch[:3]) == sorted(epoch[3:]) == [1, 3, 4], "each as often as the others"
    more = _rows_that_count(jax.random.key(0), jnp.ones(9, bool), replace(chosen, n_epochs=2))
    assert all(len(set(epoch)) == 6 for epoch in np.asarray(more).reshape(2, 6).tolist())


def test_a_held_decision_that_is_met_in_several_waits_counts_once():
    decision = jnp.asarray([[[1]], [[1]], [[2]], [[1]]])
    done = jnp.asarray([[True], [False], [True], [True]])
    weight = np.asarray(once(decision, done, 1))
    assert weight.ravel() == pytest.approx([0.75, 0, 1.5, 0.75])
    other = np.arange(4)[:, None, None]
    both = once(jnp.concatenate([decision, other], axis=1), jnp.repeat(done, 2, axis=1), 1, True)
    assert np.asarray(both)[:, :1] == pytest.approx(weight), "each environment counts alike"
    assert once(jnp.zeros((4, 1, 0)), done, 2)[:, 0].tolist() == [[1, 1], [0, 0], [1, 1], [1, 1]]


def held_in(n_envs, **settings):
    """Settings that hold noise for up to 50 steps."""
    return replace(PRESETS["league"], n_envs=n_envs, batch_size=100, hold_noise=50, **settings)


def test_every_second_environment_holds_its_noise():
    sparse = periods(held_in(3), [Categorical((3,)), Categorical((2,))]).sparse
    assert sparse.tolist() == [[50, 50], [1, 1], [50, 50]]


def test_every_fourth_environment_holds_real_valued_actions_and_nothing_else():
    heads = [Gaussian(2), Categorical((2,))]
    for each in periods(held_in(8), heads):
        assert each[:, 0].tolist() == [1] * 8
    for each in periods(held_in(8, hold_real=True), heads):
        assert each[:, 0].tolist() == [1, 1, 1, 50] * 2
        assert each[3].tolist() == each[7].tolist() == [50, 1]


def test_where_rewards_are_dense_three_of_four_hold_the_noise_of_the_memory_alone():
    dense = periods(held_in(8), [Bernoulli(1), Categorical((2,))]).dense
    assert dense[:, 0].tolist() == [1] * 8
    assert dense[:, 1].tolist() == [50, 50, 50, 1] * 2


def test_in_a_rollout_over_tables_a_choice_stands_while_the_stack_stays():
    induced = induce(resolve("passive-tmaze:length=40").finite(), memory_rule("adaptive", True), 2)
    trainer = FiniteTrainer(induced, PRESETS["default"])
    learner = trainer.init([0])
    seeds = jnp.asarray([0])
    env = learner.env

    @jax.jit
    def rolled_out(params, env):
        output = jax.lax.map(trainer.network.output_table, params)
        return jax.vmap(trainer.envs.rollout_table)(output, env, jax.vmap(jax.random.key)(seeds))

    _, steps = rolled_out(learner.params, env)
    agent, joint, done = (np.asarray(x)[0] for x in (steps.agent, steps.joint, steps.decided.done))
    same = ~done[:-1]
    assert 0.5 < same.mean() < 0.99, "a corridor is mostly waiting"
    assert (agent[1:] == agent[:-1])[same].all()
    assert (joint[1:] == joint[:-1])[same].all()
    changed = (agent[1:] != agent[:-1]) | np.asarray(steps.over)[0][:-1]
    assert done[:-1][changed].all()


def successes(task, k, steps, seeds, **overrides):
    asked = {"memory": "adaptive", "algo": "ppo", "preset": "default"}
    spec = RunSpec(task=task, stack_size=k, steps=steps, seeds=seeds, overrides=overrides, **asked)
    session = make_session(spec.document())
    session.start()
    while not session.finished:
        session.advance()
    return [row["success"] for row in session.evaluate(None, 100, True, 0)[0]]


@pytest.mark.slow
@pytest.mark.parametrize("length", [200, 1000])
def test_a_long_maze_is_learned_in_some_hundred_attempts(length):
    assert successes(f"passive-tmaze:length={length}", 2, 300 * length, [7]) == [1.0]


@pytest.mark.slow
def test_without_it_the_maze_is_not_learned():
    assert successes("passive-tmaze:length=1000", 2, 300_000, [7], count_once=False) != [1.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "k"), [("xormaze", 3), ("active-tmaze:length=32,continual=true", 2)]
)
def test_one_preset_learns_all_of_them(task, k):
    assert successes(task, k, 1_000_000, [7, 8]) == [1.0, 1.0]
