"""The ports of POPGym beside the package's own environments, from the same state and draws."""

import jax
import numpy as np
import popgym.envs
import pytest
from gymnasium.spaces import Box
from popgym.wrappers import PreviousAction as PackagePreviousAction

from adastack.tasks import resolve
from adastack.tasks.functional_previous_action import PreviousAction
from adastack.tasks.worlds.cartpole.functional import MaskedCartPole
from adastack.tasks.worlds.popgym.levels import GAMES, LEVELS, popgym_task
from tasks.worlds.popgym_package import STATES, Draws, flat, package, package_action
from tasks.worlds.popgym_players import ALL_SEEING

MOVING = ("cartpole", "pendulum")
EPISODES = 3
CASES = [
    pytest.param(game, level, marks=[] if level == "easy" else [pytest.mark.slow])
    for game in GAMES
    for level in LEVELS
]


def actions_of(task, rng, n=1100):
    space = task.action_space
    if isinstance(space, Box):
        return rng.uniform(1.2 * space.low, 1.2 * space.high, (n, *space.shape)).astype(np.float32)
    return rng.integers(space.n, size=n).astype(np.int32)


def draw_of(task, key, after):
    """What the package would have had to draw."""
    noise = getattr(after.state, "noise", None)
    return jax.random.uniform(key) if noise is None else noise


@pytest.mark.parametrize(("game", "level"), CASES)
def test_a_port_steps_as_the_package_does(game, level):
    task, theirs, rng = popgym_task(game, level), package(game, level), np.random.default_rng(0)
    step, moving = jax.jit(task.step), game.endswith(MOVING)
    best = ALL_SEEING.get(game)
    ends = set()
    for seed in range(EPISODES):
        seen, _ = theirs.reset(seed=seed)
        state = STATES[game](theirs)
        if not moving:
            np.testing.assert_array_equal(np.ravel(task.observe(state)), flat(seen))
        for t, action in enumerate(actions_of(task, rng)):
            if best and seed and (seed == 1 or rng.random() < 0.7):
                action = np.int32(best(task, state))
            if moving:  # Single precision drifts away over hundreds of steps.
                state = STATES[game](theirs)
            key = jax.random.key(1000 * seed + t)
            ours = jax.device_get(step(key, state, action))
            theirs.np_random = Draws(draw_of(task, key, ours))
            seen, reward, terminated, truncated, _ = theirs.step(package_action(theirs, action))
            np.testing.assert_allclose(np.ravel(ours.observation), flat(seen), rtol=1e-5, atol=1e-5)
            assert ours.reward == pytest.approx(reward, rel=1e-5, abs=1e-7)
            assert (ours.terminated, ours.truncated) == (terminated, truncated), t
            assert ours.extras["attempt_over"] == (terminated or truncated)
            state = ours.state
            if terminated or truncated:
                break
        ends.add((terminated, truncated, bool(ours.extras["success"])))
    assert (False, False, False) not in ends
    if game in ("battleship", "concentration", "mine-sweeper", "labyrinth-escape"):
        assert (True, False, True) in ends
        assert len(ends) > 1


def sizes(space):
    return space.nvec.tolist() if hasattr(space, "nvec") else [int(space.n)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("game", GAMES)
def test_a_port_has_the_spaces_of_the_package(game, level):
    ours, theirs = popgym_task(game, level), package(game, level)
    space = theirs.observation_space
    if isinstance(space, Box):
        assert ours.observation_space == space
    else:
        parts = space if hasattr(space, "spaces") else [space]
        assert sizes(ours.observation_space) == [size for part in parts for size in sizes(part)]
    if isinstance(theirs.action_space, Box):
        assert ours.action_space == theirs.action_space
    else:
        assert ours.action_space.n == np.prod(sizes(theirs.action_space))


@pytest.mark.parametrize("game", ["repeat-first", "autoencode", "battleship"])
def test_the_previous_action_is_that_of_the_package(game):
    task, theirs = (
        popgym_task(game, previous_action=True),
        PackagePreviousAction(package(game, "easy")),
    )
    step, rng = jax.jit(task.step), np.random.default_rng(1)
    seen, _ = theirs.reset(seed=3)
    state, first = task.reset(jax.random.key(0))
    state = state._replace(task=STATES[game](theirs.unwrapped))
    assert first[-1] == flat(seen)[-1] == 0
    for action in actions_of(task, rng)[:20]:
        ours = step(jax.random.key(0), state, action)
        (*seen, last), *_ = theirs.step(package_action(theirs.unwrapped, action))
        assert ours.observation[:-1].tolist() == list(seen)
        assert (package_action(theirs.unwrapped, ours.observation[-1]) == last).all()
        assert np.asarray(ours.observation) in task.observation_space
        state = ours.state


def test_a_pendulum_shows_the_previous_torque_as_a_number():
    task = popgym_task("position-only-pendulum", previous_action=True)
    state, seen = task.reset(jax.random.key(0))
    assert seen[2] == 0
    after = task.step(jax.random.key(0), state, np.array([-1.5], np.float32))
    assert after.observation[2] == -1.5
    assert task.observation_space.high.tolist() == [1, 1, 2]
    inner = task.task.step(jax.random.key(0), state.task, np.array([-1.5], np.float32))
    assert (after.observation[:2] == inner.observation).all()
    assert after.reward == inner.reward


def test_the_previous_action_is_of_the_kind_of_what_is_seen():
    with pytest.raises(TypeError, match="expected symbols and a Discrete action, or a Box and a"):
        PreviousAction(MaskedCartPole())


def test_the_cartpoles_are_those_that_exist_already():
    assert popgym_task("velocity-only-cartpole", "hard") == MaskedCartPole("velocity")
    noisy = popgym_task("noisy-cartpole", "hard", previous_action=True)
    assert noisy == MaskedCartPole("position", 200, 0.3, previous_action=True)


def test_velocities_are_what_is_seen_after_a_reset_unlike_in_the_package():
    theirs = package("velocity-only-cartpole", "easy")
    leaked, _ = theirs.reset(seed=0)
    state = STATES["velocity-only-cartpole"](theirs)
    assert leaked.tolist() == state.physics[[0, 2]].tolist()
    seen = popgym_task("velocity-only-cartpole").observe(state)
    assert seen.tolist() == state.physics[[1, 3]].tolist()


def test_ports_and_the_package_are_told_apart_by_name():
    assert resolve("popgym-repeat-first:level=hard").functional().decks == 16
    assert resolve("popgym-repeat-first").functional().decks == 1
    both = resolve("popgym-battleship:level=medium,previous_action=true").functional()
    assert both == PreviousAction(popgym_task("battleship", "medium"))
    assert resolve("popgym-RepeatFirstEasy-v0").kind == "host"
    assert resolve("repeat-first").kind == "finite"
    with pytest.raises(ValueError, match=r"expected a level of \('easy', 'medium', 'hard'\)"):
        resolve("popgym-repeat-first:level=harder").functional()


def test_every_game_of_the_package_has_a_port():
    games = {type(package(game, "easy")) for game in GAMES}
    assert set(popgym.envs.ALL_EASY) <= games
