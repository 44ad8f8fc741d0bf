"""A Transformer over the slots; it reads the newest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.deep.networks.observations import Spec, n_features
from adastack.deep.networks.prefixes import Prefixes
from adastack.deep.networks.slots import from_oldest, look_up, newest
from adastack.deep.networks.visited import Part

EPSILON = 1e-6
SCORES_PER_SLOT = 800
"""So many scores, of all heads and layers, take as long as the layers of one slot."""
MOST_PREFIXES = 2048
"""The scores of more would take hundreds of megabytes."""


class Body(nn.Module):
    """Two causal layers over embedded slots with learned positions; the last token."""

    hidden: int
    layers: int = 2
    heads: int = 4

    @nn.compact
    def __call__(self, features: Array, filled: Array | None = None) -> Array:
        """(batch, k, features) -> (batch, hidden); all slots are read, or the filled ones."""
        k = features.shape[1]
        position = self.param("position", nn.initializers.normal(0.02), (k, self.hidden))
        x = nn.Dense(self.hidden)(from_oldest(features, filled)) + position
        for layer in range(self.layers):
            # Only the last token is read, so the last layer asks for it alone.
            last = layer == self.layers - 1
            mask: Array | None = jnp.tril(jnp.ones((k, k), bool))[None, None]
            keys = nn.LayerNorm()(x)
            queries = keys
            if last:
                queries, x = newest(keys, filled)[:, None], newest(x, filled)[:, None]
                mask = _read(k, filled)
            x = x + nn.MultiHeadDotProductAttention(self.heads)(queries, keys, mask=mask)
            wide = nn.relu(nn.Dense(2 * self.hidden)(nn.LayerNorm()(x)))
            x = x + nn.Dense(self.hidden)(wide)
        return cast(Array, nn.LayerNorm()(x[:, 0]))


def _read(k: int, filled: Array | None) -> Array | None:
    """(batch, 1, 1, k): which slots are read, in the order of `from_oldest`; all, if None."""
    return None if filled is None else (jnp.arange(k) < filled[:, None])[:, None, None]


def read(bodies: Sequence[Any], features: Sequence[Array], filled: Array | None) -> list[Array]:
    """What each body says of a batch of stacks, as `Body` does, in less time.

    Args:
        bodies: The weights of each.
        features: For each, (batch, k, features).
        filled: (batch,): how many slots are read; all, if None.
    """
    k = features[0].shape[1]
    mask = jnp.tril(jnp.ones((k, k), bool))
    if filled is not None:
        # Slots stay where they are: empty ones are not attended to, and positions are counted
        # from the oldest that is filled.
        begin = (k - filled)[:, None]
        mask = (mask & (jnp.arange(k) >= begin)[:, None])[:, None]
        places = jnp.maximum(jnp.arange(k) - begin, 0)

    def tower(body: Any, features: Array) -> Array:
        position = body["position"] if filled is None else look_up(body["position"], places)
        embedded = _dense(body["Dense_0"], features) + position
        return _layers(body, embedded, mask, None)[:, 0]

    return [tower(body, each) for body, each in zip(bodies, features, strict=True)]


def read_prefixes(bodies: Sequence[Any], prefixes: Prefixes | Part) -> list[Array]:
    """What each body says of all stacks of one-hot symbols, or of a part: (stacks, hidden)."""
    symbol, depth, end = (
        jnp.asarray(part) for part in (prefixes.symbol, prefixes.depth, prefixes.end)
    )
    sees = jnp.asarray(prefixes.sees)

    def tower(body: Any) -> Array:
        symbols = body["Dense_0"]["kernel"] + body["Dense_0"]["bias"]
        embedded = look_up(symbols, symbol) + look_up(body["position"], depth)
        return _layers(body, embedded, sees, end)

    return [tower(body) for body in bodies]


def tokens(prefixes: Prefixes) -> float:
    """How many slots' worth of work one pass over the prefixes is."""
    n = len(prefixes)
    # A prefix is scored against all others, whether it sees them or not.
    return n + n**2 / SCORES_PER_SLOT if n <= MOST_PREFIXES else math.inf


def _layers(body: Any, x: Array, mask: Array, end: Array | None) -> Array:
    """(..., tokens, hidden) -> (..., ends, hidden): the last tokens after all layers.

    Args:
        body: The weights.
        x: The embedded tokens.
        mask: (..., heads or 1, tokens, tokens): which tokens each attends to.
        end: Which tokens are read; the last, if None.
    """
    for layer in range(Body.layers):
        keys = _normalised(body[f"LayerNorm_{2 * layer}"], x)
        queries = keys
        if layer == Body.layers - 1:
            queries, x, mask = _ends(keys, end), _ends(x, end), _ends(mask, end)
        x = x + _attended(body[f"MultiHeadDotProductAttention_{layer}"], queries, keys, mask)
        normal = _normalised(body[f"LayerNorm_{2 * layer + 1}"], x)
        wide = nn.relu(_dense(body[f"Dense_{2 * layer + 1}"], normal))
        x = x + _dense(body[f"Dense_{2 * layer + 2}"], wide)
    return _normalised(body[f"LayerNorm_{2 * Body.layers}"], x)


def _ends(rows: Array, end: Array | None) -> Array:
    if end is None:
        return rows[..., -1:, :]
    return rows[end] if rows.dtype == bool else look_up(rows, end)


def _attended(layer: Any, queries: Array, keys: Array, mask: Array) -> Array:
    """What the queries find among the keys, by all heads."""
    query, key, value = (
        _by_head(layer[name], x) for name, x in (("query", queries), ("key", keys), ("value", keys))
    )
    scores = query @ jnp.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    weights = jax.nn.softmax(jnp.where(mask, scores, np.finfo(scores.dtype).min))
    found = jnp.swapaxes(weights @ value, -2, -3)
    joined = found.reshape(*found.shape[:-2], -1)
    out = layer["out"]
    projected: Array = joined @ out["kernel"].reshape(joined.shape[-1], -1) + out["bias"]
    return projected


def _by_head(layer: Any, x: Array) -> Array:
    """(..., tokens, hidden) -> (..., heads, tokens, hidden / heads)."""
    kernel = layer["kernel"]
    projected = x @ kernel.reshape(len(kernel), -1) + layer["bias"].reshape(-1)
    return jnp.swapaxes(projected.reshape(*x.shape[:-1], *kernel.shape[1:]), -2, -3)


def _dense(layer: Any, x: Array) -> Array:
    return cast(Array, x @ layer["kernel"] + layer["bias"])


def _normalised(layer: Any, x: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = jax.lax.rsqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    return cast(Array, centred * deviation * layer["scale"] + layer["bias"])


def gain(path: Sequence[str]) -> float | None:
    """The gain of an orthogonal layer: there is none here."""
    return None


def sizes(spec: Spec, stack_size: int, hidden: int, convolve: bool) -> tuple[int, int]:
    """At least so many weights, and numbers per row of a minibatch, grow with the stack."""
    scores = Body.heads * stack_size**2
    return stack_size * hidden, stack_size * n_features(spec, convolve) + scores
