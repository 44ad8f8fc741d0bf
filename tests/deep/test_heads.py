"""Log-probabilities and entropies against scipy, and draws against probabilities."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, softmax

from adastack.deep.heads import Bernoulli, Categorical, Gaussian, Product, joint_log_probs

RNG = np.random.default_rng(0)


def test_categorical_matches_scipy():
    outputs = RNG.normal(size=(6, 5))
    action = np.stack([RNG.integers(2, size=6), RNG.integers(3, size=6)], axis=1)
    head = Categorical((2, 3))
    first, second = softmax(outputs[:, :2], axis=1), softmax(outputs[:, 2:], axis=1)
    rows = np.arange(6)
    expected = np.log(first[rows, action[:, 0]]) + np.log(second[rows, action[:, 1]])
    np.testing.assert_allclose(head.log_prob(outputs, action), expected, rtol=1e-5)
    entropy = stats.entropy(first, axis=1) + stats.entropy(second, axis=1)
    np.testing.assert_allclose(head.entropy(jnp.asarray(outputs)), entropy, rtol=1e-5)


def test_gaussian_matches_scipy():
    mean, log_std = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))
    action = RNG.normal(size=(4, 3))
    outputs = jnp.asarray(np.concatenate([mean, log_std], axis=1))
    normal = stats.norm(mean, np.exp(log_std))
    head = Gaussian(3)
    np.testing.assert_allclose(
        head.log_prob(outputs, action), normal.logpdf(action).sum(axis=1), rtol=1e-4
    )
    np.testing.assert_allclose(head.entropy(outputs), normal.entropy().sum(axis=1), rtol=1e-5)


def test_bernoulli_matches_scipy():
    logits = RNG.normal(size=(4, 3)) * 3
    action = RNG.integers(2, size=(4, 3))
    coins = stats.bernoulli(expit(logits))
    head = Bernoulli(3)
    np.testing.assert_allclose(
        head.log_prob(jnp.asarray(logits), action), coins.logpmf(action).sum(axis=1), rtol=1e-4
    )
    np.testing.assert_allclose(
        head.entropy(jnp.asarray(logits)), coins.entropy().sum(axis=1), rtol=1e-4
    )


def test_a_hybrid_of_gaussian_and_categorical_matches_scipy():
    hybrid = Product((Gaussian(2), Categorical((3,))))
    outputs = RNG.normal(size=(5, 7))
    box, slot = RNG.normal(size=(5, 2)), RNG.integers(3, size=(5, 1))
    gaussian = stats.norm(outputs[:, :2], np.exp(outputs[:, 2:4])).logpdf(box).sum(axis=1)
    chosen = np.log(softmax(outputs[:, 4:], axis=1)[np.arange(5), slot[:, 0]])
    np.testing.assert_allclose(
        hybrid.log_probs(jnp.asarray(outputs), (box, slot)),
        np.stack([gaussian, chosen], axis=1),
        rtol=1e-4,
    )
    drawn = hybrid.sample(jnp.asarray(outputs), jax.random.key(0))
    assert drawn[0].shape == (5, 2)
    assert drawn[1].shape == (5, 1)


@pytest.mark.parametrize(
    ("head", "outputs", "expected"),
    [
        (Categorical((3,)), np.log([0.2, 0.3, 0.5]), 1.3),
        (Gaussian(1), [1.5, np.log(0.5)], 1.5),
        (Bernoulli(1), [np.log(3)], 0.75),
    ],
)
def test_draws_follow_the_distribution(head, outputs, expected):
    rows = jnp.tile(jnp.asarray(outputs, jnp.float32), (40_000, 1))
    drawn = np.asarray(head.sample(rows, jax.random.key(1)))
    spread = drawn.std() / np.sqrt(len(drawn))
    assert abs(drawn.mean() - expected) < 4 * spread


def test_modes_are_the_likeliest():
    assert Categorical((2, 3)).mode(jnp.array([[0.0, 1, 5, 2, 3]])).tolist() == [[1, 0]]
    assert Gaussian(2).mode(jnp.array([[1.0, 2, 0, 0]])).tolist() == [[1, 2]]
    assert Bernoulli(2).mode(jnp.array([[-1.0, 2]])).tolist() == [[0, 1]]


def test_the_joint_of_two_heads_is_their_product_at_the_flat_index():
    outputs = RNG.normal(size=(2, 7))
    joint = joint_log_probs(jnp.asarray(outputs), 4, 3, "factored")
    env, memory = softmax(outputs[:, :4], axis=1), softmax(outputs[:, 4:], axis=1)
    for memory_action in range(3):
        for action in range(4):
            np.testing.assert_allclose(
                np.exp(joint[:, memory_action * 4 + action]),
                env[:, action] * memory[:, memory_action],
                rtol=1e-5,
            )
