"""Exploration noise that is held: the same in the same situation until a period ends.

Keeping a cue pays only if it is kept at every step of a long delay, and noise that is drawn anew at
each step hardly ever does that. Here the noise of a choice is a hash of (the period's seed, the
situation, the option): each choice on its own is still distributed as the policy says, so
log-probabilities stay as they are, but a situation that comes back gets the same choice. A period
ends with the episode, or after a number of steps drawn log-uniformly, so that all time scales are
explored.

In half of its periods the memory action's noise does not look at the newest slot: what is held is
then kept, or not, whatever comes. Otherwise keeping a cue among changing observations would take as
many choices that are right as there are observations.

With dense rewards an action shows its worth at once, and only memory has to be explored for long.
Held action noise would be credited to the memory action, because both persist for the same number
of steps. So action noise is then drawn anew at each step, and three of four environments hold the
memory action's noise, regardless of the newest observation (one of these three has a habit instead,
if there are any: `adastack.deep.habits`).

Actions that are real numbers cancel out if their noise is drawn anew at each step: a cart that is
pushed to and fro stays where it is, however the rewards come. So with ``hold_real`` the fourth of
four environments, which holds no memory noise, holds that of such an action (as gSDE does, Raffin
et al. 2022).

Stacks of symbols are told apart exactly. Stacks of real numbers are told apart by a few random cuts
through the normalised observations, drawn anew with each period.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from adastack.deep.heads import Gaussian, Head
from adastack.deep.settings import PPOSettings
from adastack.deep.waits import Decided

CUTS = 4
"""A period has up to so many cuts; none makes all observations alike."""


class Held(NamedTuple):
    """The noise of the environments, (environments, heads)."""

    seed: Array
    """What the noise of this period is hashed from."""
    left: Array
    """Steps until the period ends."""
    dense: Array | None = None
    """Whether rewards are dense, for all alike; known during a rollout only, and not saved."""


class Periods(NamedTuple):
    """(environments, heads): the longest period of each; 1 draws noise anew at each step."""

    sparse: Array
    dense: Array
    """The same where rewards are dense."""


def periods(settings: PPOSettings, heads: Sequence[Head]) -> Periods:
    """The longest periods of the environments.

    Where rewards are sparse, every second environment holds its noise. The others explore as usual:
    where the way to an outcome is a walk rather than a habit, noise that stays makes an agent run
    in circles. Real-valued actions are held in every fourth, alone, if at all: what they do adds
    up, and more would keep them from learning to be precise.

    Args:
        settings: The settings.
        heads: Those of the policy; the first is the action's.
    """
    env, later = jnp.arange(settings.n_envs)[:, None], jnp.arange(len(heads)) > 0
    real = jnp.asarray([isinstance(head, Gaussian) for head in heads])
    sparse, dense = env % 2 == 0, (env % 4 != 3) & later
    alone = (env % 4 == 3) & settings.hold_real
    held = (jnp.where(real, alone, choices) for choices in (sparse, dense))
    return Periods(*(jnp.where(each, float(settings.hold_noise), 1.0) for each in held))


def first_noise(bits: Array) -> Held:
    """Noise that begins with random bits (environments, heads)."""
    return Held(bits.astype(jnp.uint32), jnp.zeros(bits.shape, jnp.int32))


def with_density(held: Held, dense: Array | None) -> Held:
    """The noise of a rollout, with whether rewards are dense as of the last update."""
    return held._replace(dense=dense)


def renewed(held: Held, over: Array, key: Array, longest: Periods) -> Held:
    """The noise after a step: drawn anew where an episode or a period is over.

    Args:
        held: The noise so far.
        over: (environments,): whether the step ended an episode.
        key: Where new seeds and lengths come from.
        longest: The longest period of each head; see `periods`.
    """
    seeds, lengths = jax.random.split(key)
    most = longest.sparse
    if held.dense is not None:
        most = jnp.where(held.dense, longest.dense, longest.sparse)
    anew = over[:, None] | (held.left <= 0) | (held.left > most)
    uniform = jax.random.uniform(lengths, held.left.shape)
    length = jnp.exp(uniform * jnp.log(most)).astype(jnp.int32)
    # A period of one step is over after the step that it is drawn for.
    length = jnp.where(most > 1, length, 0)
    seed = jax.random.bits(seeds, held.seed.shape)
    left = jnp.where(anew, length, held.left - 1)
    return held._replace(seed=jnp.where(anew, seed, held.seed), left=left)


def hashed(*words: Array | int) -> Array:
    """A hash of numbers, (broadcast shape,) of 32 bits."""
    state = jnp.asarray(0x9E3779B9, jnp.uint32)
    for word in words:
        word = jnp.asarray(word).astype(jnp.uint32)
        state = _mixed(state ^ (word + jnp.uint32(0x9E3779B9) + (state << 6) + (state >> 2)))
    return state


def _mixed(x: Array) -> Array:
    x = (x ^ (x >> 16)) * jnp.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * jnp.uint32(0x846CA68B)
    return x ^ (x >> 16)


def uniform_of(bits: Array) -> Array:
    """Hashes as numbers strictly between 0 and 1."""
    return ((bits >> 8).astype(jnp.float32) + 0.5) / 16777216.0


def gaussian_of(bits: Array) -> Array:
    """Hashes as standard normal numbers."""
    return jax.scipy.special.ndtri(uniform_of(bits))


def noise(seed: Array, situation: Array, count: int) -> Array:
    """(environments, count): uniform numbers, the same for the same seed and situation."""
    return uniform_of(hashed(seed[:, None], situation[:, None], jnp.arange(count)))


def decisions(seed: Array, situation: Array) -> Array:
    """A number for each held decision: steps that share it share their noise."""
    return hashed(seed, situation, 21)


def once(decision: Array, done: Array, n_heads: int, by_env: bool = False) -> Array:
    """Weights that let a held decision count once, however many steps it was met in.

    Args:
        decision: (steps, environments, heads); no heads if no noise is held.
        done: (steps, environments): the steps that count, those with which a wait was over.
        n_heads: The heads of the policy.
        by_env: Let each environment count as much as the others: one that holds its noise makes few
            decisions, but is not to be outvoted.

    Returns:
        (steps, environments, heads): 0 where nothing counts, on average 1 elsewhere.
    """
    if not decision.shape[-1]:
        return jnp.repeat(done[..., None].astype(jnp.float32), n_heads, axis=-1)
    met = ((decision[:, None] == decision[None]) & done[:, None, :, None]).sum(axis=0)
    weight = done[..., None] / jnp.maximum(met, 1).astype(jnp.float32)
    if by_env:
        return weight * done.sum(axis=0)[:, None] / jnp.maximum(weight.sum(axis=0), 1e-9)
    number = jnp.maximum(done.sum(), 1)
    return weight * number / jnp.maximum(weight.sum(axis=(0, 1)), 1e-9)


def weights_of(
    settings: PPOSettings, decision: Array, decided: Decided | None, n_heads: int
) -> Array | None:
    """(steps, environments, heads): how much the steps of a rollout count, if not all alike."""
    if not settings.count_once:
        return None
    done = jnp.ones(decision.shape[:2], jnp.bool_) if decided is None else decided.done
    return once(decision, done, n_heads, settings.look_back)


def looks_back(held: Held, head: int) -> Array:
    """(environments,): whether a head's noise leaves the newest slot out in its period."""
    half = hashed(held.seed[:, head], 76) % 2 == 1
    return half if held.dense is None else half | held.dense


def situation_of_symbols(slots: Array) -> Array:
    """(environments,): a hash of the symbols in the slots, (environments, k, entries)."""
    flat = slots.reshape(len(slots), -1)
    return hashed(*(flat[:, i] for i in range(flat.shape[1])))


def situation_of_numbers(slots: Array, seed: Array) -> Array:
    """(environments,): on which side of the period's random cuts each slot lies.

    Args:
        slots: (environments, k, features): normalised numbers.
        seed: (environments,): of the period.
    """
    cut = jnp.arange(CUTS)
    seeds = hashed(seed[:, None], cut, 70)
    features = slots.shape[-1]
    direction = gaussian_of(hashed(seeds[..., None], jnp.arange(features), 74))
    direction /= jnp.sqrt((direction**2).sum(axis=-1, keepdims=True))
    single = jax.nn.one_hot(hashed(seeds, 71) % jnp.uint32(features), features)
    along = jnp.where((uniform_of(hashed(seeds, 75)) < 0.5)[..., None], single, direction)
    used = cut < (hashed(seed, 73) % jnp.uint32(CUTS + 1))[:, None]
    side = jnp.einsum("ekd,ecd->ekc", slots, along) > gaussian_of(hashed(seeds, 72))[:, None]
    cells = ((side & used[:, None]).astype(jnp.uint32) << cut.astype(jnp.uint32)).sum(axis=-1)
    return situation_of_symbols(cells[..., None])
