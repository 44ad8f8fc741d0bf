"""How much faster sequence networks learn than by reading every row of a minibatch by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete
from jax import Array

from adastack.bench.figure import Figure, interleaved
from adastack.deep.agent import StackAgent
from adastack.deep.finite import FiniteTrainer, Learner
from adastack.deep.settings import PPOSettings
from adastack.deep.update import Batch, Evaluate, Schedule, descend, loss, pieces_for, update
from adastack.process import induce
from adastack.tasks import passive_tmaze
from adastack.tasks.finite import FiniteTask

NETS = ("lstm", "transformer")
REPEATS, FEW = 15, 3
Learn = Callable[[Evaluate], Any]
Way = Callable[[Array, Learn], Any]
"""Calls a gradient step on agent states with the `evaluate` that is to be timed."""


def measure() -> list[Figure]:
    """The ratios of the time of one gradient step, Adam's step included."""
    long, short = passive_tmaze(64, random_length=True), passive_tmaze(16)
    cases: list[tuple[str, FiniteTask, str, int, dict[str, float]]] = [
        ("FS(64)", long, "frame", 64, {"lstm": 30, "transformer": 18}),
        ("FS(16)", short, "frame", 16, {"lstm": 8, "transformer": 8}),
        ("AS(2)", short, "adaptive", 2, {"lstm": 1.5, "transformer": 1.5}),
    ]
    by_prefix = [
        Figure(
            f"{net}, {name}: beside every row by itself",
            _ratio(net, task, rule, k),
            "x",
            targets[net],
        )
        for name, task, rule, k, targets in cases
        for net in NETS
    ]
    in_pieces = [
        Figure(f"{net}, FS(50) of real numbers: beside a minibatch in one piece", _pieces(net),
               "x", 1.5)
        for net in NETS
    ]  # fmt: skip
    return by_prefix + in_pieces


def _pieces(net: str, stack_size: int = 50, rows: int = 1024) -> float:
    """How many times as fast an update is whose minibatches are read in pieces.

    Two epochs of four minibatches of 256 rows, as many as the presets of worlds have.
    """
    settings = PPOSettings(net=net, n_steps=rows, batch_size=rows // 4, n_epochs=2)
    agent = StackAgent(Box(-1, 1, (13,)), Discrete(4), "frame", stack_size, settings)
    params, (moments, _) = agent.init(0)
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(1 + stack_size + rows, 13)).astype(np.float32)
    evaluate = agent.evaluates(params, [jnp.asarray(numbers)], None)
    windows = 1 + jnp.arange(rows)[:, None] + jnp.arange(stack_size)
    action = jnp.zeros((rows, 2))
    found = evaluate(params["params"], windows, action)
    advantage, returns = jnp.asarray(rng.normal(size=(2, rows)).astype(np.float32))
    batch = Batch(windows, action, found.log_prob, advantage, returns)
    schedule = Schedule(*(jnp.float32(value) for value in (settings.learning_rate, 0.0, 0.0)))
    wait: Any = jax.block_until_ready

    def learning_in(pieces: int) -> Callable[[], Any]:
        @jax.jit
        def learn(weights: Any, moments: Any, batch: Batch) -> Any:
            key = jax.random.key(0)
            return update(weights, moments, batch, key, schedule, evaluate, settings, pieces)

        return lambda: wait(learn(params["params"], moments, batch))

    pieces = {"one": 1, "ours": pieces_for(settings, stack_size)}
    times = interleaved({name: learning_in(n) for name, n in pieces.items()}, FEW)
    return times["one"] / times["ours"]


def _ratio(net: str, task: FiniteTask, rule: str, stack_size: int) -> float:
    trainer = FiniteTrainer(induce(task, rule, stack_size), PPOSettings(net=net))
    network, learner = trainer.network, trainer.init([0])
    _, _, steps = jax.jit(trainer.rollouts)(learner, jax.vmap(jax.random.key)(jnp.zeros(1, int)))
    one = jax.tree.map(lambda leaf: leaf[0], learner)
    batch = _batch(trainer, one, steps.agent[0].reshape(-1), steps.joint[0].reshape(-1))

    def plain(agent: Array, learn: Learn) -> Any:
        return learn(network.evaluate_plainly)

    ways: dict[str, Way] = {"plain": plain, "ours": network.learn_from}
    takes = {name: _step(trainer, one, batch, way) for name, way in ways.items()}
    times = interleaved(takes, REPEATS)
    return times["plain"] / times["ours"]


def _batch(trainer: FiniteTrainer, learner: Learner, agent: Array, joint: Array) -> Batch:
    """The steps of a rollout, with random advantages."""
    rng = np.random.default_rng(0)
    advantage, returns = rng.normal(size=(2, len(agent))).astype(np.float32)
    found = trainer.network.evaluate(learner.params, agent, joint)
    return Batch(agent, joint, found.log_prob, jnp.asarray(advantage), jnp.asarray(returns))


def _step(trainer: FiniteTrainer, learner: Learner, batch: Batch, way: Way) -> Callable[[], Any]:
    """A gradient step on a minibatch."""
    s = trainer.settings
    schedule = Schedule(*(jnp.float32(value) for value in (s.learning_rate, 0.0, 0.0)))

    @jax.jit
    def step(params: Any, moments: Any, batch: Batch) -> Any:
        def learn(evaluate: Evaluate) -> Any:
            gradient = jax.grad(loss)(params, batch, schedule, evaluate, s)
            return descend(params, moments, gradient, schedule.learning_rate, s)

        return way(batch.inputs, learn)

    wait: Any = jax.block_until_ready
    return lambda: wait(step(learner.params, learner.moments[0], batch))
