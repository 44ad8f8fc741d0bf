"""Distributions over actions, sampled independently and multiplied.

A head turns a row of network outputs into a distribution. `Product` joins the head of the
environment action and the head of the memory action; nothing is quantised, so a Gaussian stands
beside a categorical.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

LOG_2PI = math.log(2 * math.pi)


class Head(Protocol):
    """What a distribution must offer; ``outputs`` has ``n_outputs`` entries on its last axis."""

    @property
    def n_outputs(self) -> int:
        """Network outputs the head takes."""

    def sample(self, outputs: Array, key: Array) -> Array:
        """Draws actions."""

    @property
    def n_noise(self) -> int:
        """Uniform numbers behind one draw of `sample_with`."""

    def sample_with(self, outputs: Array, uniform: Array) -> Array:
        """Draws actions by given uniform numbers, ``n_noise`` for each."""

    def mode(self, outputs: Array) -> Array:
        """The likeliest action."""

    def log_prob(self, outputs: Array, action: Array) -> Array:
        """Log-probability, or density, of actions."""

    def entropy(self, outputs: Array) -> Array:
        """Entropy in nats."""


@dataclass(frozen=True)
class Categorical:
    """Independent choices, one of ``sizes[i]`` each; actions have one entry per choice."""

    sizes: tuple[int, ...]

    @property
    def n_outputs(self) -> int:
        """One logit per option."""
        return sum(self.sizes)

    def _log_probs(self, outputs: Array) -> list[Array]:
        parts = jnp.split(outputs, np.cumsum(self.sizes)[:-1].tolist(), axis=-1)
        return [jax.nn.log_softmax(part) for part in parts]

    def sample(self, outputs: Array, key: Array) -> Array:
        """Draws actions by inverting the cumulative probabilities."""
        uniform = jax.random.uniform(key, (*outputs.shape[:-1], len(self.sizes)))
        draws = [
            draw(cumulative(jnp.exp(log_probs)), uniform[..., i])
            for i, log_probs in enumerate(self._log_probs(outputs))
        ]
        return jnp.stack(draws, axis=-1)

    @property
    def n_noise(self) -> int:
        """One number per option."""
        return self.n_outputs

    def sample_with(self, outputs: Array, uniform: Array) -> Array:
        """The option with the largest logit plus Gumbel noise, for each choice."""
        noisy = outputs - jnp.log(-jnp.log(uniform))
        parts = jnp.split(noisy, np.cumsum(self.sizes)[:-1].tolist(), axis=-1)
        return jnp.stack([jnp.argmax(part, -1) for part in parts], axis=-1)

    def mode(self, outputs: Array) -> Array:
        """The likeliest option of each choice."""
        return jnp.stack([jnp.argmax(part, -1) for part in self._log_probs(outputs)], axis=-1)

    def log_prob(self, outputs: Array, action: Array) -> Array:
        """Sum over the choices."""
        total = jnp.zeros(outputs.shape[:-1])
        for i, (size, log_probs) in enumerate(
            zip(self.sizes, self._log_probs(outputs), strict=True)
        ):
            chosen = jax.nn.one_hot(action[..., i].astype(jnp.int32), size)
            total += jnp.sum(log_probs * chosen, axis=-1)
        return total

    def entropy(self, outputs: Array) -> Array:
        """Sum over the choices."""
        parts = [-jnp.sum(jnp.exp(p) * p, axis=-1) for p in self._log_probs(outputs)]
        return sum(parts, jnp.zeros(()))


@dataclass(frozen=True)
class Gaussian:
    """A diagonal Gaussian; outputs are the means, then the logarithms of the deviations."""

    size: int

    @property
    def n_outputs(self) -> int:
        """A mean and a log-deviation per dimension."""
        return 2 * self.size

    def sample(self, outputs: Array, key: Array) -> Array:
        """Draws actions."""
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        return mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)

    @property
    def n_noise(self) -> int:
        """One number per dimension."""
        return self.size

    def sample_with(self, outputs: Array, uniform: Array) -> Array:
        """Draws actions by inverting the normal distribution."""
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        return mean + jnp.exp(log_std) * jax.scipy.special.ndtri(uniform)

    def mode(self, outputs: Array) -> Array:
        """The mean."""
        return outputs[..., : self.size]

    def log_prob(self, outputs: Array, action: Array) -> Array:
        """Log-density, summed over dimensions."""
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        z = (action - mean) * jnp.exp(-log_std)
        return -jnp.sum(0.5 * z**2 + log_std + 0.5 * LOG_2PI, axis=-1)

    def entropy(self, outputs: Array) -> Array:
        """Differential entropy, summed over dimensions."""
        return jnp.sum(outputs[..., self.size :] + 0.5 + 0.5 * LOG_2PI, axis=-1)


@dataclass(frozen=True)
class Bernoulli:
    """Independent coins; outputs are logits, actions are 0 or 1."""

    size: int

    @property
    def n_outputs(self) -> int:
        """One logit per coin."""
        return self.size

    def sample(self, outputs: Array, key: Array) -> Array:
        """Throws the coins."""
        uniform = jax.random.uniform(key, outputs.shape)
        return (uniform < jax.nn.sigmoid(outputs)).astype(jnp.int32)

    @property
    def n_noise(self) -> int:
        """One number per coin."""
        return self.size

    def sample_with(self, outputs: Array, uniform: Array) -> Array:
        """Throws the coins by given numbers."""
        return (uniform < jax.nn.sigmoid(outputs)).astype(jnp.int32)

    def mode(self, outputs: Array) -> Array:
        """The likelier side of each coin."""
        return (outputs > 0).astype(jnp.int32)

    def log_prob(self, outputs: Array, action: Array) -> Array:
        """Sum over the coins."""
        return -jnp.sum(jax.nn.softplus(jnp.where(action > 0, -outputs, outputs)), axis=-1)

    def entropy(self, outputs: Array) -> Array:
        """Sum over the coins."""
        chance = jax.nn.sigmoid(outputs)
        return jnp.sum(jax.nn.softplus(outputs) - chance * outputs, axis=-1)


@dataclass(frozen=True)
class Product:
    """Independent heads side by side; an action is a tuple with one entry per head."""

    heads: tuple[Head, ...]

    @property
    def n_outputs(self) -> int:
        """What all heads take together."""
        return sum(head.n_outputs for head in self.heads)

    def split(self, outputs: Array) -> list[Array]:
        """The outputs of each head."""
        ends = np.cumsum([head.n_outputs for head in self.heads])[:-1].tolist()
        return jnp.split(outputs, ends, axis=-1)

    def sample(self, outputs: Array, key: Array) -> tuple[Array, ...]:
        """Draws from each head on its own."""
        keys = jax.random.split(key, len(self.heads))
        parts = self.split(outputs)
        return tuple(h.sample(p, k) for h, p, k in zip(self.heads, parts, keys, strict=True))

    def mode(self, outputs: Array) -> tuple[Array, ...]:
        """The likeliest action of each head."""
        parts = self.split(outputs)
        return tuple(head.mode(part) for head, part in zip(self.heads, parts, strict=True))

    def log_probs(self, outputs: Array, actions: Sequence[Array]) -> Array:
        """(..., heads): the log-probability of each head's action."""
        parts = zip(self.heads, self.split(outputs), actions, strict=True)
        return jnp.stack([head.log_prob(part, act) for head, part, act in parts], axis=-1)

    def entropies(self, outputs: Array) -> Array:
        """(..., heads): the entropy of each head."""
        parts = zip(self.heads, self.split(outputs), strict=True)
        shape = outputs.shape[:-1]
        return jnp.stack(
            [jnp.broadcast_to(head.entropy(part), shape) for head, part in parts], axis=-1
        )


def joined_actions(actions: Sequence[Array]) -> Array:
    """(..., entries): the actions of all heads side by side, as numbers of one kind."""
    return jnp.concatenate(actions, axis=1).astype(jnp.float32)


def joint_log_probs(outputs: Array, n_actions: int, n_memory: int, form: str) -> Array:
    """Log-probabilities of all pairs, at ``memory_action * n_actions + env_action``."""
    if form == "flat":
        return jax.nn.log_softmax(outputs)
    env = jax.nn.log_softmax(outputs[..., :n_actions])
    memory = jax.nn.log_softmax(outputs[..., n_actions : n_actions + n_memory])
    joint = memory[..., :, None] + env[..., None, :]
    return joint.reshape(*outputs.shape[:-1], n_memory * n_actions)


def cumulative(probability: Array) -> Array:
    """Cumulative probabilities without the last, so that every draw falls on an option."""
    return jnp.cumsum(probability, axis=-1)[..., :-1]


def draw(cdf: Array, uniform: Array) -> Array:
    """Inverts `cumulative` at uniform numbers in [0, 1)."""
    return jnp.sum(uniform[..., None] >= cdf, axis=-1, dtype=jnp.int32)
