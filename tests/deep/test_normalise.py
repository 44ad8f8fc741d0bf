"""Running statistics of observations."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from adastack.deep.agent import StackAgent
from adastack.deep.gym_session import GymSession
from adastack.deep.normalise import LIMIT, no_stats, normalised, updated_stats
from adastack.deep.settings import PPOSettings
from adastack.tasks import resolve

SETTINGS = PPOSettings(
    hidden=8, n_envs=3, n_steps=20, batch_size=30, n_epochs=1, normalize_observation=True
)


def test_statistics_in_parts_are_those_of_the_whole():
    rows = np.random.default_rng(0).normal([5, -3, 0], [0.1, 20, 1], (300, 3)).astype(np.float32)
    seen = no_stats((3,))
    np.testing.assert_allclose(normalised(seen, rows / 30), rows / 30, rtol=1e-5)
    for part in np.split(rows, [10, 11, 200]):
        seen = updated_stats(seen, jnp.asarray(part), jnp.ones_like(part, bool))
    np.testing.assert_allclose(seen.mean, rows.mean(0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(seen.variance, rows.var(0), rtol=1e-3)
    units = np.asarray(normalised(seen, rows))
    np.testing.assert_allclose(units.mean(0), 0, atol=1e-3)
    np.testing.assert_allclose(units.std(0), 1, atol=1e-3)


def test_extremes_are_cut_and_constants_are_not_blown_up():
    seen = updated_stats(no_stats(()), jnp.full(10, 3.0), jnp.ones(10, bool))
    np.testing.assert_allclose(normalised(seen, jnp.array([3.0, 3.00001])), [0, 0.01], rtol=0.05)
    assert normalised(seen, jnp.array(1e9)) == LIMIT


def test_a_run_sees_every_observation_once_and_freezes_them_to_play():
    session = GymSession(resolve("CartPole-v1"), "adaptive", 2, SETTINGS, [0], 120)
    worker, rows = session.workers[0], []
    for _ in range(2):
        session.advance()
        rows.append(worker.buffer.columns[0][worker.buffer.head :].copy())
    seen = worker.params["seen"]["0"]
    assert (seen.number == 120).all()
    np.testing.assert_allclose(seen.mean, np.concatenate(rows).mean(0), rtol=1e-3, atol=1e-5)
    session.evaluate(None, 5, True, 0)
    assert worker.params["seen"]["0"].number[0] == 120
    arrays, meta = session.checkpoint()
    other = GymSession(resolve("CartPole-v1"), "adaptive", 2, SETTINGS, [0], 120)
    other.restore(arrays, meta)
    np.testing.assert_array_equal(other.workers[0].params["seen"]["0"].mean, seen.mean)


def test_what_is_hidden_does_not_count_and_stays_zero():
    rows = np.array([[2.0, 0.0], [0.0, 0.0], [4.0, 0.0]], np.float32)
    seen = updated_stats(no_stats((2,)), jnp.asarray(rows), rows != 0)
    np.testing.assert_allclose(seen.mean, [3, 0])
    np.testing.assert_allclose(seen.variance, [1, 1])
    np.testing.assert_array_equal(seen.number, [2, 0])


def test_an_empty_slot_is_zero_and_has_no_flags():
    session = GymSession(resolve("CartPole-v1"), "adaptive", 3, SETTINGS, [0], 60)
    session.advance()
    worker = session.workers[0]
    worker.restart(5)
    agent: StackAgent = session.agent
    shown = agent.inputs.normalise(worker.params, [jnp.asarray(worker.buffer.current()[0])])[0]
    assert shown.shape == (3, 3, 8)
    np.testing.assert_array_equal(shown[:, :-1], 0)
    np.testing.assert_array_equal(shown[:, -1, 4:], 1)


def test_symbols_are_normalised_one_by_one():
    space, settings = spaces.Box(0, 2, (2,), np.uint8), replace(SETTINGS, net="lstm")
    agent = StackAgent(space, spaces.Discrete(2), "adaptive", 2, settings)
    params, _ = agent.init(0)
    columns = [np.array([[3, 3], [0, 1], [0, 2], [0, 1], [0, 2]], np.uint8)]
    after = agent.inputs.with_stats(params, columns, 4)["seen"]["0"]
    np.testing.assert_allclose(after.mean, [1, 0, 0, 0, 0.5, 0.5])
    shown = agent.inputs.normalise({"seen": {"0": after}}, [jnp.asarray(columns[0][None])])[0]
    np.testing.assert_allclose(shown[0, 1], [0, 0, 0, 0, 1, -1], atol=1e-5)
