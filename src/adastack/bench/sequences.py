"""How much faster sequence networks learn than by reading every row of a minibatch by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.bench.figure import Figure, interleaved
from adastack.deep.finite import FiniteTrainer, Learner
from adastack.deep.settings import PPOSettings
from adastack.deep.update import Batch, Evaluate, Schedule, descend, loss
from adastack.process import induce
from adastack.tasks import passive_tmaze
from adastack.tasks.finite import FiniteTask

NETS = ("lstm", "transformer")
REPEATS = 15
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
    return [
        Figure(
            f"{net}, {name}: beside every row by itself",
            _ratio(net, task, rule, k),
            "x",
            targets[net],
        )
        for name, task, rule, k, targets in cases
        for net in NETS
    ]


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
