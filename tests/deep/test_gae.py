"""Advantages against closed forms and a loop that does it the slow way."""

import jax.numpy as jnp
import numpy as np
import pytest

from adastack.deep.gae import generalised_advantages, monte_carlo_returns

GAMMA, LAMBDA = 0.9, 0.8


def slow(reward, value, next_value, terminated, over):
    """The definition: discounted sums of the errors to the end of each episode."""
    n = len(reward)
    delta = reward + GAMMA * next_value * (1 - terminated) - value
    advantage = np.zeros(n)
    for t in range(n):
        weight = 1.0
        for later in range(t, n):
            advantage[t] += weight * delta[later]
            if over[later]:
                break
            weight *= GAMMA * LAMBDA
    return advantage


def random_case(n=30):
    rng = np.random.default_rng(3)
    over = rng.random(n) < 0.2
    terminated = over & (rng.random(n) < 0.5)
    return *rng.normal(size=(3, n)), terminated, over


def test_advantages_match_the_definition():
    case = random_case()
    batched = [jnp.asarray(part)[:, None] for part in case]
    found = generalised_advantages(*batched, GAMMA, LAMBDA)[:, 0]
    np.testing.assert_allclose(found, slow(*case), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("terminated", "over", "last"),
    [(1, 1, 1 - 5), (0, 1, 1 + GAMMA * 7 - 5), (0, 0, 1 + GAMMA * 7 - 5)],
    ids=["termination drops the future", "a time limit keeps it", "so does a continual task"],
)
def test_what_follows_the_last_step(terminated, over, last):
    def column(*values):
        return jnp.asarray(values, jnp.float32)[:, None]

    found = generalised_advantages(
        column(0, 1),
        column(5, 5),
        column(5, 7),
        column(0, terminated) > 0,
        column(0, over) > 0,
        GAMMA,
        LAMBDA,
    )[:, 0]
    first = GAMMA * 5 - 5 + GAMMA * LAMBDA * last
    np.testing.assert_allclose(found, [first, last], rtol=1e-5)


def test_constant_reward_without_end_has_the_geometric_value():
    value = jnp.full((50, 2), 1 / (1 - GAMMA))
    never = jnp.zeros((50, 2), bool)
    found = generalised_advantages(jnp.ones((50, 2)), value, value, never, never, GAMMA, LAMBDA)
    np.testing.assert_allclose(found, 0, atol=1e-4)


def test_returns_stop_at_episode_ends():
    reward = jnp.array([[1.0], [2], [4], [8]])
    over = jnp.array([[False], [True], [False], [False]])
    found = monte_carlo_returns(reward, over, 0.5)[:, 0]
    assert found.tolist() == [2, 2, 8, 8]
