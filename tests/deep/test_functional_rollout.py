"""The compiled rollout of functional tasks: the host's rollout, step for step."""

from functools import cache

import jax
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from adastack.deep.buffer import PADDING
from adastack.deep.functional import FunctionalTrainer, Learner
from adastack.deep.functional_session import FunctionalSession
from adastack.deep.host import Worker
from adastack.deep.settings import PPOSettings
from adastack.tasks import resolve
from adastack.tasks.functional_vector import FunctionalTaskVectorEnv
from adastack.tasks.worlds.cartpole.functional import MaskedCartPole
from adastack.tasks.worlds.cube.functional import Cube
from adastack.tasks.worlds.minigrid.functional import MiniGridMemory
from adastack.tasks.worlds.popgym.pendulum import PositionOnlyPendulum
from adastack.tasks.worlds.popgym.repeat import RepeatFirst
from adastack.wrappers import vector
from trainers import advance, assert_same_arrays

ENVS, STEPS, UPDATES = 5, 24, 3
TINY = PPOSettings(
    hidden=8, n_envs=ENVS, n_steps=STEPS, batch_size=60, n_epochs=2, learning_rate=1e-2
)
CUBE = Cube(depth=1, time_limit=9)
"""Episodes end by solving and by running out of time, many in each rollout."""
SHORT_POLE = MaskedCartPole("position", time_limit=11)
PENDULUM = PositionOnlyPendulum(time_limit=11)


shared_trainer = cache(FunctionalTrainer)


@cache
def rollout_of(trainer):
    return jax.jit(trainer.rollout)


POLE = {"padding": "reset", "normalize_observation": True, "critic_clock": True}
"""Time limits are bootstrapped by a critic with a clock."""
DENSE = {
    "count_once": True, "hold_noise": 20, "look_back": True, "scale_reward": True,
    "critic_clock": True, "dense_gae_lambda": 0.5,
}  # fmt: skip
"""Settings whose behaviour depends on how dense rewards are."""


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


def envs_of(task):
    return FunctionalTaskVectorEnv(task, ENVS, AutoresetMode.SAME_STEP)


@pytest.mark.parametrize(
    ("task", "memory", "k", "more"),
    [
        slow(CUBE, "adaptive", 3, {}),
        slow(CUBE, "frame", 2, {"padding": "reset"}),
        slow(CUBE, "push_skip", 3, {"action_form": "flat"}),
        slow(MiniGridMemory(7), "adaptive", 2, {"padding": "reset", "normalize_observation": True}),
        slow(SHORT_POLE, "adaptive", 2, POLE),
        (RepeatFirst(), "adaptive", 2, DENSE),
        slow(PENDULUM, "adaptive", 2, {"count_once": True}),
    ],
    ids=[
        *("cube-adaptive", "cube-frame", "cube-push_skip-flat", "minigrid", "cartpole"),
        *("one-symbol-count-once", "torques"),
    ],
)
def test_compiled_and_host_rollouts_make_the_same_rollouts_and_updates(task, memory, k, more):
    settings = PPOSettings(**{**TINY.__dict__, **more})
    trainer = shared_trainer(task, memory, k, settings)
    worker, learner = Worker(trainer, envs_of(task), seed=4), trainer.start(4)
    worker.restart(0)
    ended = []
    for update in range(UPDATES):
        exploring = trainer.explorer.with_density(learner.env.exploring, learner.moments)
        before = learner.env._replace(exploring=exploring)
        env, rollout, log = rollout_of(trainer)(learner.params, before, 4, update)
        # Typed as the host does it: Python numbers would be another program.
        rest = (np.int32(4), np.int32(update), np.float32(update / UPDATES))
        if task is SHORT_POLE:
            learner, log, loss = trainer.advance(learner, *rest)
        else:  # The same in two parts, of which the host has compiled one already.
            *learned, loss = trainer.learn(learner.params, learner.moments, rollout, *rest)
            learner = Learner(*learned, env)
        reward, flags, evicted, their_loss = worker.advance(update, UPDATES)
        np.testing.assert_array_equal(rollout.slots, worker.buffer.slots)
        for ours, theirs in zip(rollout.columns, worker.buffer.columns, strict=True):
            np.testing.assert_allclose(ours[1:], theirs[1:], rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(log.flags, flags)
        np.testing.assert_array_equal(log.evicted, evicted)
        # Torques are real numbers, rounded otherwise in another program, and so are their costs.
        rounding = 1e-7 if task is PENDULUM else 0
        np.testing.assert_allclose(log.reward, reward, rtol=1e-6, atol=rounding)
        np.testing.assert_allclose(loss, their_loss, rtol=1e-3, atol=1e-5)
        ended.append((np.asarray(rollout.terminated), np.asarray(rollout.over)))
        cut = np.asarray(rollout.over & ~rollout.terminated)
        assert (np.asarray(rollout.bootstrap)[cut] != 0).all()
        assert (np.asarray(rollout.bootstrap)[~cut] == 0).all()
    for ours, theirs in zip(
        jax.tree.leaves(learner.params), jax.tree.leaves(worker.params), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)
    if task is CUBE:
        terminated, over = np.stack(ended)[:, 0], np.stack(ended)[:, 1]
        assert terminated.any()
        assert (over & ~terminated).any()


def test_the_stacks_are_those_of_the_wrapper():
    trainer = shared_trainer(CUBE, "adaptive", 3, TINY)
    learner = trainer.start(2)
    _, rollout, _ = rollout_of(trainer)(learner.params, learner.env, 2, 0)
    stacks = np.asarray(rollout.columns[0])[np.asarray(rollout.slots)]
    env = vector.AdaptiveStack(envs_of(CUBE), 3, padding_type="empty")
    seed = int(np.random.default_rng([2, 2, 0]).integers(2**31))
    observation, _ = env.reset(seed=seed)
    filled = np.asarray(rollout.slots) != PADDING
    np.testing.assert_array_equal(observation[filled[0]], stacks[0][filled[0]])
    for t, action in enumerate(np.asarray(rollout.action, np.int64)):
        observation, reward, terminated, truncated, _ = env.step(action)
        now = filled[t + 1]
        np.testing.assert_array_equal(env.slot_ages >= 0, now)
        np.testing.assert_array_equal(observation[now], stacks[t + 1][now])
        np.testing.assert_array_equal(reward, rollout.reward[t])
        np.testing.assert_array_equal(terminated, rollout.terminated[t])
        np.testing.assert_array_equal(terminated | truncated, rollout.over[t])


@pytest.fixture(autouse=True)
def _compiled_once(monkeypatch):
    monkeypatch.setattr("adastack.deep.functional_session.FunctionalTrainer", shared_trainer)


def session(seeds, updates=4):
    steps = updates * TINY.steps_per_update
    settings = PPOSettings(**{**TINY.__dict__, "normalize_observation": True})
    name = "position-only-cartpole:time_limit=11"
    return FunctionalSession(resolve(name), "adaptive", 2, settings, seeds, steps)


def test_a_run_goes_on_where_it_stopped():
    whole, first, second = session([0, 1]), session([0, 1]), session([0, 1])
    whole.start()
    advance(whole, 4)
    first.start()
    advance(first, 1)
    second.restore(*first.checkpoint())
    advance(second, 3)
    assert_same_arrays(whole.checkpoint()[0], second.checkpoint()[0])
    assert whole.evaluate(None, 6, True, 0) == second.evaluate(None, 6, True, 0)


def test_a_seed_is_the_same_alone_and_in_company():
    alone, together = session([7]), session([3, 7])
    for one in (alone, together):
        one.start()
        advance(one, 2)
    name = "seed7.params['params']['policy']['kernel']"
    mine = alone.checkpoint()[0][name]
    np.testing.assert_array_equal(mine, together.checkpoint()[0][name])
    assert (mine != together.checkpoint()[0][name.replace("7", "3")]).any()


def test_playing_leaves_the_learner_as_it_is():
    one = session([0])
    one.start()
    advance(one, 1)
    before = one.checkpoint()[0]
    assert one.evaluate(None, 3, False, 1)[0][0]["attempts"] == 3
    assert_same_arrays(before, one.checkpoint()[0])
