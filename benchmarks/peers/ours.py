"""adastack's PPO on a T-maze without a stack: a cell over an MLP, no tables of agent states."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from tmaze import LENGTH
from worker import LAYERS, N_STEPS, Case, serve

from adastack.deep.finite import FiniteTrainer
from adastack.deep.finite_recurrent import RecurrentFiniteTrainer
from adastack.deep.settings import PPOSettings
from adastack.process import induce
from adastack.tasks import passive_tmaze


def make(case: Case) -> Callable[[int], object]:
    """A trainer whose chunks are whole turns."""
    settings = PPOSettings(
        cell=case.cell, hidden=LAYERS[0], n_envs=case.n_envs, n_steps=N_STEPS,
        batch_size=case.batch_size, n_epochs=case.n_epochs, tables=False,
    )  # fmt: skip
    kind = FiniteTrainer if case.cell == "none" else RecurrentFiniteTrainer
    trainer = kind(induce(passive_tmaze(LENGTH), "none", 1), settings)
    learner, seeds, done = trainer.init([0]), jnp.arange(1), 0

    def train(updates: int) -> None:
        nonlocal learner, done
        learner, *_ = trainer.chunk(learner, seeds, done, updates, 10**6, capacity=updates)
        jax.block_until_ready(learner)
        done += updates

    return train


serve(make)
