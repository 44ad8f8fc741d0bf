"""How much faster sequence networks learn than by reading every row of a minibatch by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from adastack.bench.figure import Figure, interleaved
from adastack.deep.finite import FiniteTrainer
from adastack.deep.settings import PPOSettings
from adastack.deep.update import Batch, Evaluate, Schedule, descend, loss
from adastack.process import induce
from adastack.tasks import passive_tmaze
from adastack.tasks.finite import FiniteTask

NETS = ("lstm", "transformer")
REPEATS = 15


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
    ways = {"plain": trainer.network.evaluate_plainly, "ours": trainer.network.evaluate}
    times = interleaved({name: _step(trainer, way) for name, way in ways.items()}, REPEATS)
    return times["plain"] / times["ours"]


def _step(trainer: FiniteTrainer, evaluate: Evaluate) -> Callable[[], Any]:
    """A gradient step on a minibatch of random agent states."""
    s, network = trainer.settings, trainer.network
    learner = jax.tree.map(lambda leaf: leaf[0], trainer.init([0]))
    rng = np.random.default_rng(0)
    agent = rng.integers(trainer.induced.n_agent_states, size=s.batch_size)
    joint = rng.integers(network.n_actions * network.n_memory, size=s.batch_size)
    advantage, returns = rng.normal(size=(2, s.batch_size)).astype(np.float32)
    found = network.evaluate(learner.params, jnp.asarray(agent), jnp.asarray(joint))
    batch = Batch(agent, joint, found.log_prob, advantage, returns)
    schedule = Schedule(*(jnp.float32(value) for value in (s.learning_rate, 0.0, 0.0)))

    @jax.jit
    def step(params: Any, moments: Any) -> Any:
        gradient = jax.grad(loss)(params, batch, schedule, evaluate, s)
        return descend(params, moments, gradient, schedule.learning_rate, s)

    wait: Any = jax.block_until_ready
    return lambda: wait(step(learner.params, learner.moments[0]))
