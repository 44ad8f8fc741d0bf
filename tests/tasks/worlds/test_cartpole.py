import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from popgym.envs.noisy_position_only_cartpole import NoisyPositionOnlyCartPoleHard
from popgym.envs.position_only_cartpole import PositionOnlyCartPoleHard
from popgym.envs.velocity_only_cartpole import VelocityOnlyCartPoleHard
from popgym.wrappers import PreviousAction
from stable_baselines3.common.env_checker import check_env as check_sb3_env

from adastack.tasks.drawing.canvas import Slots
from adastack.tasks.functional import FunctionalTaskEnv
from adastack.tasks.worlds.cartpole.environment import SHOWN, MaskedCartPoleEnv
from adastack.tasks.worlds.cartpole.functional import MaskedCartPole, PhysicsState

POPGYM = {"velocity": VelocityOnlyCartPoleHard, "position": PositionOnlyCartPoleHard}


def balanced(state, rng):
    """A push that keeps the pole up for a good while, with some noise."""
    x, speed, angle, spin = state
    if rng.random() < 0.1:
        return int(rng.integers(2))
    return int(angle + 0.3 * spin + 0.03 * x + 0.06 * speed > 0)


@pytest.mark.parametrize("shows", SHOWN)
def test_episodes_are_those_of_popgym_bit_for_bit(shows):
    rng, lengths = np.random.default_rng(0), []
    for seed in range(12):
        theirs, ours = POPGYM[shows](), MaskedCartPoleEnv(shows)
        theirs.reset(seed=seed)
        ours.reset(seed=seed)
        assert (theirs.get_state() == ours.state.astype(np.float32)).all()
        done, steps = False, 0
        while not done:
            action = balanced(theirs.get_state(), rng) if seed % 2 else int(rng.integers(2))
            expected, got = theirs.step(action), ours.step(action)
            assert got[0].dtype == expected[0].dtype == np.float32
            assert (got[0] == expected[0]).all()
            assert got[1:4] == expected[1:4]
            done, steps = expected[2] or expected[3], steps + 1
            assert got[4]["attempt_over"] == done
            assert got[4]["success"] == (steps == 600 and not expected[2])
        lengths.append(steps)
    assert max(lengths) == 600
    assert min(lengths) < 60


def test_noise_and_the_previous_action_are_those_of_popgym():
    theirs = PreviousAction(NoisyPositionOnlyCartPoleHard())
    ours = MaskedCartPoleEnv("position", time_limit=200, noise=0.3, previous_action=True)
    rng = np.random.default_rng(1)
    for seed in range(4):
        (seen, last), _ = theirs.reset(seed=seed)
        got, _ = ours.reset(seed=seed)
        done, steps = False, 0
        while not done:
            assert got.dtype == np.float32
            assert got.tolist() == [*seen.tolist(), last]
            assert got in ours.observation_space
            action = balanced(ours.state, rng)
            (seen, last), reward, *over, _ = theirs.step(action)
            got, ours_reward, *ours_over, _ = ours.step(action)
            assert (reward, over) == (ours_reward, ours_over)
            done, steps = any(over), steps + 1
        assert last == action
    assert steps > 50


def test_the_functional_task_has_noise_and_the_previous_action_too():
    task = MaskedCartPole("position", noise=0.3, previous_action=True)
    plain = MaskedCartPole("position")
    keys = jax.random.split(jax.random.key(0), 2000)
    states, seen = jax.vmap(task.reset)(keys)
    same, exact = jax.vmap(plain.reset)(keys)
    assert (states.physics == same.physics).all()
    assert same.noise is None
    assert (seen[:, 2] == 0).all()
    off = np.asarray(seen[:, :2] - exact)[:, 0]
    assert (abs(off.mean()), off.std()) == pytest.approx((0, 0.3), abs=0.02)
    actions = jnp.arange(2000) % 2
    after = jax.vmap(task.step)(keys, states, actions)
    assert (after.observation[:, 2] == actions).all()
    assert all(row in task.observation_space for row in np.asarray(after.observation))
    moved = np.asarray(after.state.noise - states.noise)
    assert (moved != 0).all()


@pytest.mark.parametrize("make", [MaskedCartPoleEnv, MaskedCartPole])
def test_noise_is_at_least_nothing(make):
    with pytest.raises(ValueError, match=r"noise must be a number of at least 0, actual: -0\.1"):
        make("position", noise=-0.1)


def test_the_positions_do_not_leak_at_a_reset():
    theirs, ours = VelocityOnlyCartPoleHard(), MaskedCartPoleEnv("velocity")
    leaked, _ = theirs.reset(seed=3)
    seen, _ = ours.reset(seed=3)
    state = theirs.get_state()
    assert (leaked == state[[0, 2]]).all()
    assert (seen == state[[1, 3]]).all()
    task = MaskedCartPole("velocity")
    state, seen = task.reset(jax.random.key(0))
    assert (seen == state.physics[jnp.array([1, 3])]).all()


@pytest.mark.parametrize("shows", SHOWN)
def test_the_functional_task_agrees_with_popgym_from_every_state(shows):
    rng = np.random.default_rng(1)
    physics = rng.uniform([-2.5, -3, -0.25, -3], [2.5, 3, 0.25, 3], (400, 4)).astype(np.float32)
    clocks = rng.choice([0, 100, 598, 599], 400).astype(np.int32)
    actions = rng.integers(0, 2, 400).astype(np.int32)
    task = MaskedCartPole(shows)
    step = jax.jit(jax.vmap(task.step, in_axes=(None, 0, 0)))
    ours = jax.device_get(step(jax.random.key(0), PhysicsState(physics, clocks), actions))
    theirs = POPGYM[shows]()
    theirs.reset(seed=0)
    for i in range(400):
        theirs.state, theirs.num_steps = physics[i].astype(np.float64), int(clocks[i])
        theirs.steps_beyond_terminated = None
        seen, reward, terminated, truncated, _ = theirs.step(int(actions[i]))
        np.testing.assert_allclose(ours.observation[i], seen, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ours.state.physics[i], theirs.get_state(), rtol=1e-5, atol=1e-6)
        assert ours.reward[i] == np.float32(reward)
        assert (ours.terminated[i], ours.truncated[i]) == (terminated, truncated)
        assert ours.extras["success"][i] == (truncated and not terminated)
    assert ours.terminated.any()
    assert not ours.terminated.all()


def test_episodes_begin_as_in_popgym():
    states, _ = jax.vmap(MaskedCartPole().reset)(jax.random.split(jax.random.key(0), 1000))
    physics = np.asarray(states.physics)
    assert np.abs(physics).max() <= 0.05
    np.testing.assert_allclose(physics.mean(axis=0), 0, atol=0.004)
    np.testing.assert_allclose(physics.std(axis=0), 0.1 / np.sqrt(12), rtol=0.05)


@pytest.mark.parametrize("shows", SHOWN)
def test_checkers_find_nothing(shows):
    check_env(MaskedCartPoleEnv(shows), skip_render_check=True)
    check_sb3_env(MaskedCartPoleEnv(shows))
    check_env(FunctionalTaskEnv(MaskedCartPole(shows)), skip_render_check=True)


@pytest.mark.parametrize("shows", SHOWN)
def test_pictures_of_environment_and_functional_task_are_the_same(shows):
    env = MaskedCartPoleEnv(shows, render_mode="rgb_array")
    with pytest.raises(ResetNeeded, match="nothing to draw yet"):
        env.render()
    seen, _ = env.reset(seed=0)
    slots, ages = np.stack([seen, 5 * seen, seen]), np.array([-1, 2, 0])
    ours = env.render_with_memory(slots, ages, 1)
    state = PhysicsState(env.state, 0)
    assert (ours == MaskedCartPole(shows).draw(state, Slots(slots, ages, 1))).all()
    bare = env.render()
    assert (ours[: len(bare), : bare.shape[1]] == bare).all()
    env.step(1)
    assert (env.render() != bare).any()


@pytest.mark.parametrize("make", [MaskedCartPoleEnv, MaskedCartPole])
def test_bad_options_are_refused(make):
    with pytest.raises(ValueError, match=r"expected shows of \('position', 'velocity'\)"):
        make("angle")
    with pytest.raises(ValueError, match="time_limit must be an integer of at least 1"):
        make("velocity", 0)


def test_bad_actions_are_refused_and_change_nothing():
    env = MaskedCartPoleEnv()
    with pytest.raises(ResetNeeded, match="no episode to step in"):
        env.step(0)
    env.reset(seed=0)
    before = env.state.copy()
    with pytest.raises(ValueError, match=r"expected an action in 0\.\.1, actual: 2"):
        env.step(2)
    assert (env.state == before).all()
