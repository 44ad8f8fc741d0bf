"""One policy update: PPO's clipped objective over minibatches, with or without a critic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]
from jax import Array

from adastack.deep.network_table import NETWORKS
from adastack.deep.settings import PPOSettings
from adastack.deep.weighing import Weighed, memory_objective

Params = Any

DECAY, DECAY_SQUARES = 0.9, 0.999
"""How slowly Adam forgets gradients and their squares."""
LANES = 8
SLOTS_AT_ONCE = 512
"""What a sequence network computes of so many slots stays in a core's cache; of a whole minibatch
of long stacks it does not, and each step then takes twice as long."""
LEAST_ROWS = 4
"""Fewer rows would leave products too small."""


class Batch(NamedTuple):
    """Steps to learn from, one per row; with a cell, step by step of all environments."""

    inputs: Any
    """What the network is evaluated on; with a cell, environments are on the second axis."""
    action: Any
    """What was done."""
    log_prob: Array
    """(rows, heads): how likely that was."""
    advantage: Array
    """(rows,), or (rows, heads) if each head has its own: how much better it was than expected."""
    returns: Array
    """What the critic should say."""
    weight: Array | None = None
    """(rows, heads): how much each row counts, if a decision counts once."""
    weighed: Weighed | None = None
    """What each memory action is worth, if the memory action may be learned from that."""


def batch_of(
    at: Any, action: Any, log_prob: Array, advantage: Array, returns: Array, weight: Array | None
) -> Batch:
    """Steps or decisions of all environments, (time, environments, ...), as rows."""
    n = returns.size
    flat = None if weight is None else weight.reshape(n, -1)
    by_row = advantage.reshape(n, *advantage.shape[returns.ndim :])
    return Batch(at, action, log_prob.reshape(n, -1), by_row, returns.reshape(-1), flat)


class Evaluation(NamedTuple):
    """Log-probabilities, entropies and values of a batch."""

    log_prob: Array
    """(rows, heads)."""
    entropy: Array
    """(rows, heads): of the environment action, then of the memory action."""
    value: Array
    """(rows,)."""
    memory_log_probs: Array | None = None
    """(rows, memory actions): of all of them, if they are weighed against each other."""


Evaluate = Callable[[Params, Any, Any], Evaluation]
"""(params, inputs, action) -> Evaluation; rollouts differ in this function alone."""


class Schedule(NamedTuple):
    """The settings that change while a run goes on."""

    learning_rate: Array
    entropy: Array
    memory_entropy: Array


def schedule_at(settings: PPOSettings, progress: Array) -> Schedule:
    """The schedule at a fraction of the run."""
    start, end = settings.learning_rate, settings.learning_rate_end
    fall = jnp.maximum(0.0, 1.0 - progress / settings.entropy_until)
    weight = fall if settings.anneal_entropy else jnp.ones_like(progress)
    return Schedule(
        start + (end - start) * progress,
        settings.entropy * weight,
        settings.memory_entropy * weight,
    )


def loss(
    params: Params, batch: Batch, schedule: Schedule, evaluate: Evaluate, settings: PPOSettings
) -> Array:
    """The clipped objective, the value loss and the entropies, as one number to make small.

    A mean over rows: advantages are standardised before, as those of a whole minibatch.
    """
    evaluation = evaluate(params, batch.inputs, batch.action)
    total, value_loss, weight = _losses(evaluation, batch, settings)
    if settings.critic:
        total += settings.value_coef * value_loss
    bonus = jnp.stack([schedule.entropy, schedule.memory_entropy])[: weight.shape[1]]
    return total - (bonus * (weight * evaluation.entropy).mean(axis=0)).sum()


def _losses(
    evaluation: Evaluation, batch: Batch, settings: PPOSettings
) -> tuple[Array, Array, Array]:
    """The policy's loss, the critic's, and the weights of the rows, (rows, heads)."""
    if batch.weight is None:
        ratio = jnp.exp(evaluation.log_prob.sum(axis=1) - batch.log_prob.sum(axis=1))[:, None]
        weight = jnp.ones_like(evaluation.entropy)
    else:
        # Each head has its own decisions, so each has its own ratio.
        weight = batch.weight
        moved = jnp.where(weight > 0, evaluation.log_prob - batch.log_prob, 0.0)
        ratio = jnp.exp(moved)
    clipped = jnp.clip(ratio, 1 - settings.clip_range, 1 + settings.clip_range)
    advantage = batch.advantage
    advantage = advantage[:, None] if advantage.ndim == 1 else advantage
    gain = jnp.minimum(ratio * advantage, clipped * advantage)
    if batch.weighed is not None and evaluation.memory_log_probs is not None:
        memory = memory_objective(
            batch.weighed, evaluation.memory_log_probs, gain[:, -1], settings.clip_range
        )
        gain = gain.at[:, -1].set(memory)
    policy_loss = -(weight[:, : gain.shape[1]] * gain).mean(axis=0).sum()
    if not settings.critic:
        return policy_loss, jnp.zeros(()), weight
    errors = (batch.returns - evaluation.value) ** 2
    return policy_loss, jnp.mean(critic_weight(weight) * errors), weight


def critic_weight(weight: Array) -> Array:
    """(...,): how much rows count for the critic, from (..., heads): as for the memory action.

    Where that is not learned from, as for the environment action.
    """
    return jnp.where(weight[..., -1] > 0, weight[..., -1], weight[..., 0])


def _measured(params: Params, batch: Batch, evaluate: Evaluate, settings: PPOSettings) -> Array:
    """(6,): what `adastack.process.events.LEARNING` names after the loss."""
    evaluation = evaluate(params, batch.inputs, batch.action)
    policy_loss, value_loss, _ = _losses(evaluation, batch, settings)
    moved = evaluation.log_prob - batch.log_prob
    if batch.weight is None:
        moved = moved.sum(axis=1)[:, None]
    else:
        moved = jnp.where(batch.weight > 0, moved, 0.0)
    entropy = evaluation.entropy.mean(axis=0)
    return jnp.stack(
        [
            policy_loss,
            value_loss,
            entropy[0],
            entropy[1] if len(entropy) > 1 else jnp.nan,
            jnp.mean(jnp.exp(moved) - 1 - moved, axis=0).sum(),
            jnp.mean(jnp.abs(jnp.exp(moved) - 1) > settings.clip_range),
        ]
    )


def optimiser(settings: PPOSettings) -> optax.GradientTransformation:
    """Adam, whose first state this makes; its steps are taken in `descend`."""
    return optax.scale_by_adam(DECAY, DECAY_SQUARES, eps=settings.adam_eps)


def descend(
    params: Params, moments: Any, gradient: Params, rate: Array, settings: PPOSettings
) -> tuple[Params, Any]:
    """One step of Adam along a gradient that is shortened if it is too long.

    What optax gives, up to rounding, in half the time: the corrections of the moments are
    factors of the step, so that each weight costs one root and one division.
    """
    shrink = jnp.minimum(1.0, settings.max_grad_norm / (jnp.sqrt(_squares(gradient)) + 1e-6))
    count = moments.count + 1
    step_size = rate / (1 - DECAY**count)
    correction = 1 / jnp.sqrt(1 - DECAY_SQUARES**count)

    def move(weight: Array, mean: Array, square: Array, slope: Array) -> tuple[Array, Array, Array]:
        slope = slope * shrink
        mean = DECAY * mean + (1 - DECAY) * slope
        square = DECAY_SQUARES * square + (1 - DECAY_SQUARES) * slope**2
        moved = weight - step_size * mean / (jnp.sqrt(square) * correction + settings.adam_eps)
        return moved, mean, square

    moved = jax.tree.map(move, params, moments.mu, moments.nu, gradient)
    parts = jax.tree.transpose(jax.tree.structure(params), jax.tree.structure((0, 0, 0)), moved)
    return parts[0], optax.ScaleByAdamState(count, *parts[1:])


def _squares(tree: Params) -> Array:
    """The sum of all squares, in as many lanes as a CPU adds up at once."""
    total = jnp.zeros(())
    for leaf in jax.tree.leaves(tree):
        rows = leaf.reshape(-1, LANES) if leaf.size % LANES == 0 else leaf.reshape(-1, 1)
        total += jnp.sum(jnp.sum(rows**2, axis=0))
    return total


def update(
    params: Params,
    moments: Any,
    batch: Batch,
    key: Array,
    schedule: Schedule,
    evaluate: Evaluate,
    settings: PPOSettings,
    pieces: int = 1,
) -> tuple[Params, Any, Array]:
    """All epochs over the minibatches; returns parameters, moments and `LEARNING`.

    That is the mean loss and, measured on the last minibatch once all is done, how things stand.
    Minibatches are evaluated in so many ``pieces``.
    """
    counts = None
    if settings.waits:
        assert batch.weight is not None
        counts = batch.weight[:, 0] > 0
        rows = _rows_that_count(key, counts, settings)
    else:
        rows = _minibatch_rows(key, settings)

    def step(carry: tuple[Params, Any], row: Array) -> tuple[tuple[Params, Any], Array]:
        params, moments = carry
        part = _minibatch(batch, row, settings)
        value, gradient = _value_and_gradient(params, part, schedule, evaluate, settings, pieces)
        return descend(params, moments, gradient, schedule.learning_rate, settings), value

    def learn() -> tuple[tuple[Params, Any], Array]:
        return jax.lax.scan(step, (params, moments), rows)

    if counts is None:
        (params, moments), losses = learn()
    else:
        nothing = (params, moments), jnp.zeros(len(rows))
        (params, moments), losses = jax.lax.cond(counts.any(), learn, lambda: nothing)
    measured = _measured(params, _minibatch(batch, rows[-1], settings), evaluate, settings)
    return params, moments, jnp.concatenate([losses.mean()[None], measured])


def pieces_for(settings: PPOSettings, stack_size: int) -> int:
    """In how many pieces minibatches of stacks are evaluated: one, where that is as fast."""
    if settings.recurrent or not NETWORKS[settings.net].sequence:
        return 1
    fit = range(LEAST_ROWS, max(LEAST_ROWS, SLOTS_AT_ONCE // stack_size) + 1)
    rows = [n for n in fit if settings.batch_size % n == 0]
    return settings.batch_size // rows[-1] if rows else 1


def _value_and_gradient(
    params: Params, part: Batch, schedule: Schedule, evaluate: Evaluate, settings: PPOSettings,
    pieces: int,
) -> tuple[Array, Params]:  # fmt: skip
    """The loss of a minibatch and its gradient, added up over pieces of it."""

    def of(piece: Batch) -> tuple[Array, Params]:
        found: tuple[Array, Params] = jax.value_and_grad(loss)(
            params, piece, schedule, evaluate, settings
        )
        return found

    if pieces == 1:
        return of(part)

    def add(total: tuple[Array, Params], piece: Batch) -> tuple[tuple[Array, Params], None]:
        return jax.tree.map(lambda so_far, more: so_far + more / pieces, total, of(piece)), None

    cut = jax.tree.map(lambda leaf: leaf.reshape(pieces, -1, *leaf.shape[1:]), part)
    nothing = jnp.zeros(()), jax.tree.map(jnp.zeros_like, params)
    total: tuple[Array, Params] = jax.lax.scan(add, nothing, cut)[0]
    return total


def _minibatch(batch: Batch, row: Array, settings: PPOSettings) -> Batch:
    """What `_rows_of` gives, with advantages standardised if they are to be."""
    part = _rows_of(batch, row, settings)
    advantage = part.advantage
    if not settings.normalize_advantage or len(advantage) < 2:
        return part
    deviation = jnp.std(advantage, axis=0, ddof=1)
    return part._replace(advantage=(advantage - advantage.mean(axis=0)) / (deviation + 1e-8))


def _rows_of(batch: Batch, row: Array, settings: PPOSettings) -> Batch:
    """The chosen rows, or, with a cell, those of the chosen environments."""
    if not len(row):
        return batch
    if not settings.recurrent:
        chosen: Batch = jax.tree.map(lambda leaf: leaf[row], batch)
        return chosen

    def of_envs(leaf: Array) -> Array:
        by_step = leaf.reshape(settings.n_steps, settings.n_envs, *leaf.shape[1:])
        return by_step[:, row].reshape(-1, *leaf.shape[1:])

    rest: Batch = jax.tree.map(of_envs, batch._replace(inputs=None))
    return rest._replace(inputs=jax.tree.map(lambda leaf: leaf[:, row], batch.inputs))


def _minibatch_rows(key: Array, settings: PPOSettings) -> Array:
    """(minibatches of all epochs, rows or environments): a fresh shuffle for each epoch."""
    n, epochs = settings.steps_per_update, settings.n_epochs
    if settings.recurrent:
        n = settings.n_envs
    if settings.n_minibatches == 1:
        return jnp.zeros((epochs, 0), jnp.int32)
    order = jnp.argsort(jax.random.bits(key, (epochs, n)), axis=1)
    return order.reshape(epochs * settings.n_minibatches, -1)


def _rows_that_count(key: Array, counts: Array, settings: PPOSettings) -> Array:
    """(minibatches of all epochs, rows): those that count, each about as often as the others."""
    shuffled = jnp.argsort(jax.random.bits(key, (settings.n_epochs, len(counts))), axis=1)
    # Rows that count first, in their order; what is missing is filled by going round.
    order = jnp.argsort(~counts[shuffled], axis=1, stable=True)
    first = jnp.take_along_axis(shuffled, order, axis=1)
    number = jnp.maximum(counts.sum(), 1)
    rows = first[:, jnp.arange(settings.steps_per_update) % number]
    return rows.reshape(settings.n_epochs * settings.n_minibatches, -1)
