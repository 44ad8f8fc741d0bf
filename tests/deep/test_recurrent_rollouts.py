"""What a cell carries through rollouts: learned from as it was, bootstrapped, reset, resumed."""

from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from adastack.deep.finite_recurrent import RecurrentFiniteTrainer
from adastack.deep.finite_recurrent_session import RecurrentFiniteSession
from adastack.deep.functional import FunctionalTrainer
from adastack.deep.functional_session import FunctionalSession
from adastack.deep.gym_session import GymSession
from adastack.deep.host import Worker
from adastack.deep.recurrent import stepped
from adastack.deep.units import Change, no_units
from adastack.process import induce
from adastack.tasks import passive_tmaze, resolve
from adastack.tasks.functional_vector import FunctionalTaskVectorEnv
from adastack.tasks.worlds.cartpole.functional import MaskedCartPole
from trainers import TINY_GRU, advance, assert_same_arrays, shared_functional_trainer

SHORT_POLE = MaskedCartPole("position", time_limit=11)
"""Every episode of an untrained agent ends in a rollout, some by their time limit."""


def one_seed(tree):
    return jax.tree.map(lambda leaf: leaf[0], tree)


@cache
def finite(continual=False, **changes):
    task = passive_tmaze(4, continual=continual)
    return RecurrentFiniteTrainer(induce(task, "adaptive", 2), replace(TINY_GRU, **changes))


def finite_steps(of, seed=0):
    """Two rollouts, the second of which begins within episodes."""
    learner = one_seed(of.init([seed]))
    rollout = jax.jit(of.rollout)
    env, _ = rollout(learner.params, learner.env, jax.random.key(1))
    after, steps = rollout(learner.params, env, jax.random.key(2))
    return learner.params, env, after, steps


def replayed(of, params, env, steps):
    """Log-probabilities of the actions and values, by one step after the other."""
    carry, found = env.carry, []
    over = np.asarray(steps.over) & (not of.task.continual)
    stacks = jnp.asarray(of.induced.stacks)

    @jax.jit
    def step(agent, carry, joint):
        inputs = of.network.inputs_of(params, stacks[agent])
        outputs, value, carry = stepped(of.network.net, params, inputs, carry)
        return of.network.evaluation(outputs, value, joint), carry

    for t, joint in enumerate(steps.joint):
        evaluation, carry = step(steps.agent[t], carry, joint)
        found.append(evaluation)
        carry = np.where(over[t][:, None], 0, carry)
    return found, carry


@pytest.mark.parametrize(("continual", "tables"), [(False, True), (True, False)])
def test_the_update_sees_a_finite_rollout_as_it_was(continual, tables):
    of = finite(continual, tables=tables)
    params, env, after, steps = finite_steps(of)
    assert np.asarray(steps.over).any()
    assert np.asarray(env.carry).any()
    expected, carry = replayed(of, params, env, steps)
    np.testing.assert_allclose(after.carry, carry, atol=1e-5)
    reward = np.zeros(steps.over.shape, np.float32)
    rest = no_units(), Change(), steps, reward, after.agent, env.carry
    _, batch = jax.jit(of._batch)(params, None, *rest)
    log_prob = np.concatenate([each.log_prob for each in expected])
    value = np.concatenate([each.value for each in expected])
    np.testing.assert_allclose(batch.log_prob, log_prob, atol=1e-5)
    # Sequences of some environments are evaluated as in company.
    chosen = jnp.array([2, 0])
    inputs = jax.tree.map(lambda leaf: leaf[:, chosen], batch.inputs)
    found = jax.jit(of.network.evaluate)(params, inputs, steps.joint[:, chosen].reshape(-1))
    shape = (*steps.joint.shape, -1)
    np.testing.assert_allclose(
        found.log_prob,
        log_prob.reshape(shape)[:, chosen].reshape(len(found.log_prob), -1),
        atol=1e-5,
    )
    np.testing.assert_allclose(found.value, value.reshape(shape)[:, chosen].reshape(-1), atol=1e-5)
    # The state goes on where attempts end in a continual task; elsewhere it begins anew.
    last_over = np.asarray(steps.over)[-1]
    ended = ~np.asarray(after.carry).any(axis=(0, 2))
    assert ended.tolist() == (last_over & (not continual)).tolist()


def test_a_finite_time_limit_is_bootstrapped_with_the_carried_state():
    task = replace(passive_tmaze(6), time_limit=5)
    of = RecurrentFiniteTrainer(induce(task, "adaptive", 2), TINY_GRU)
    params, env, _, steps = finite_steps(of)
    action, memory = np.asarray(steps.joint) % 4, np.asarray(steps.joint) // 4
    at = np.asarray(steps.state), action, np.asarray(steps.outcome)
    cut = np.asarray(steps.over) & ~task.ends[at]
    assert cut.any()
    assert (np.asarray(steps.bootstrap)[~cut] == 0).all()
    carry, over = env.carry, np.asarray(steps.over)
    tables, stacks = of.envs.tables, jnp.asarray(of.induced.stacks)

    @jax.jit
    def step(agent, carry):
        inputs = of.network.inputs_of(params, stacks[agent])
        _, value, carry = stepped(of.network.net, params, inputs, carry)
        return value, carry

    for t in range(TINY_GRU.n_steps):
        _, carry = step(np.asarray(steps.agent[t]), carry)
        seen = task.observation[task.next_state[tuple(part[t] for part in at)]]
        pushed = np.asarray(tables.push)[np.asarray(steps.agent[t]), memory[t], seen]
        value, _ = step(np.maximum(pushed, 0).astype(steps.agent.dtype), carry)
        np.testing.assert_allclose(
            np.asarray(steps.bootstrap[t])[cut[t]], np.asarray(value)[cut[t]], atol=1e-5
        )
        carry = np.where(over[t][:, None], 0, carry)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"normalize_observation": True, "hold_noise": 50}, {}])
def test_compiled_and_host_rollouts_carry_the_same(more):
    settings = replace(TINY_GRU, **more)
    trainer = FunctionalTrainer(SHORT_POLE, "adaptive", 2, settings)
    envs = FunctionalTaskVectorEnv(SHORT_POLE, TINY_GRU.n_envs, AutoresetMode.SAME_STEP)
    worker, learner = Worker(trainer, envs, seed=4), trainer.start(4)
    worker.restart(0)
    rollout_of = jax.jit(trainer.rollout)
    for update in range(2):
        env, rollout, log = rollout_of(learner.params, learner.env, 4, update)
        _, evaluation, _ = as_rolled_out_by(trainer)(learner.params, rollout)
        check_against_steps(trainer, learner.params, rollout, evaluation, env.carry)
        # Typed as the host does it: Python numbers would be another program.
        rest = (np.int32(4), np.int32(update), np.float32(update / 2))
        learned = trainer.learn(learner.params, learner.moments, rollout, *rest)
        learner = learner._replace(params=learned[0], moments=learned[1], env=env)
        _, flags, _, learning = worker.advance(update, 2)
        np.testing.assert_array_equal(rollout.slots, worker.buffer.slots)
        np.testing.assert_array_equal(log.flags, flags)
        np.testing.assert_allclose(env.carry, worker.carry, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(learned[2], learning, rtol=1e-2, atol=1e-4)
        cut = np.asarray(rollout.over & ~rollout.terminated)
        assert cut.any()
        assert (np.asarray(rollout.bootstrap)[cut] != 0).all()


@cache
def as_rolled_out_by(trainer):
    def found(params, rollout):
        columns = trainer.inputs.normalise(params, rollout.columns)
        actions = rollout.action.reshape(TINY_GRU.steps_per_update, -1)
        return trainer._as_rolled_out(params, columns, rollout, actions)

    return jax.jit(found)


@cache
def step_of(trainer):
    def step(params, column, slots, carry, action):
        filled = (slots != 0).sum(axis=1)
        value = trainer.value_of(params, [column[slots]], filled, carry)
        outputs, carry = trainer._outputs(params, [column[slots]], filled, carry)
        return value, trainer.heads.log_probs(outputs, trainer._parts(action)), carry

    return jax.jit(step)


def check_against_steps(trainer, params, rollout, evaluation, last_carry):
    """The update's first log-probabilities and values are those of the rollout's own steps."""
    carry, log_probs, values = rollout.carry, [], []
    for t in range(TINY_GRU.n_steps):
        value, log_prob, carry = step_of(trainer)(
            params, rollout.columns[0], rollout.slots[t], carry, rollout.action[t]
        )
        values.append(value)
        log_probs.append(log_prob)
        carry = jnp.where(jnp.asarray(rollout.over[t])[:, None], 0.0, carry)
    np.testing.assert_allclose(evaluation.log_prob, jnp.concatenate(log_probs), atol=1e-5)
    np.testing.assert_allclose(evaluation.value, jnp.concatenate(values), atol=1e-5)
    np.testing.assert_allclose(carry, last_carry, atol=1e-5)


# Sessions: resumed bit for bit, evaluated, watched.


shared_finite = cache(
    lambda name, settings: RecurrentFiniteTrainer(
        induce(resolve(name).finite(), "none", 1), settings
    )
)
MAZE = "passive-tmaze:length=4"


def finite_session():
    steps = 4 * TINY_GRU.steps_per_update
    return RecurrentFiniteSession(resolve(MAZE).finite(), "none", 1, TINY_GRU, [0, 1], steps)


def functional_session():
    steps = 4 * TINY_GRU.steps_per_update
    name = "position-only-cartpole:time_limit=11"
    return FunctionalSession(resolve(name), "none", 1, TINY_GRU, [0, 1], steps)


def host_session():
    steps = 4 * TINY_GRU.steps_per_update
    return GymSession(resolve("CartPole-v1"), "none", 1, TINY_GRU, [0, 1], steps)


@pytest.mark.slow
@pytest.mark.parametrize("make", [finite_session, functional_session, host_session])
def test_a_run_goes_on_where_it_stopped(make, monkeypatch):
    monkeypatch.setattr("adastack.deep.gym_session.RESTART", 2)
    monkeypatch.setattr(
        "adastack.deep.functional_session.FunctionalTrainer", shared_functional_trainer
    )
    monkeypatch.setattr("adastack.deep.finite_session.LOG_BYTES", 1)  # One update in a chunk.
    monkeypatch.setattr(
        RecurrentFiniteSession, "make_trainer", lambda *_: shared_finite(MAZE, TINY_GRU)
    )
    whole = make()
    if make is host_session:
        monkeypatch.setattr("adastack.deep.gym_session.HostTrainer", lambda *_: whole.agent)
    first, second = make(), make()
    for session in (whole, first):
        session.start()
    advance(whole, 4)
    advance(first, 2)
    assert first.savable
    arrays, meta = first.checkpoint()
    if make is not host_session:  # Whose environments begin anew where it is saved.
        (name, *_) = (name for name in arrays if name.endswith(".carry"))
        assert np.asarray(arrays[name]).any()
        with pytest.raises(ValueError, match="must be finite"):
            make().restore({**arrays, name: np.full_like(arrays[name], np.nan)}, meta)
    second.restore(arrays, meta)
    advance(second, 2)
    assert_same_arrays(whole.checkpoint()[0], second.checkpoint()[0])
    assert whole.evaluate(None, 6, True, 0) == second.evaluate(None, 6, True, 0)
