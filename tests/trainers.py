"""Trainers that several tests share, so that their programs are compiled once; and sessions."""

from dataclasses import fields
from functools import cache

import numpy as np

from adastack.deep.finite import FiniteTrainer
from adastack.deep.finite_recurrent import RecurrentFiniteTrainer
from adastack.deep.finite_recurrent_session import RecurrentFiniteSession
from adastack.deep.finite_session import FiniteSession
from adastack.deep.functional import FunctionalTrainer
from adastack.deep.host import HostTrainer
from adastack.deep.settings import PPOSettings

TINY_GRU = PPOSettings(
    hidden=8, n_envs=4, n_steps=25, batch_size=50, n_epochs=2, learning_rate=1e-2, cell="gru"
)
_TRAINERS = {}
shared_functional_trainer = cache(FunctionalTrainer)


def share_trainers(monkeypatch):
    """Sessions with equal tasks, memories and settings use one trainer, which has no state."""
    monkeypatch.setattr("adastack.deep.gym_session.HostTrainer", shared_host_trainer)
    monkeypatch.setattr(
        "adastack.deep.functional_session.FunctionalTrainer", shared_functional_trainer
    )
    for session, trainer in (
        (FiniteSession, FiniteTrainer),
        (RecurrentFiniteSession, RecurrentFiniteTrainer),
    ):
        shared = staticmethod(_shared_finite_trainer(trainer))
        monkeypatch.setattr(session, "make_trainer", shared)


def _shared_finite_trainer(kind):
    """Stands in for a trainer of finite tasks: one for all tasks and memories that are equal."""

    def shared(induced, settings):
        task = induced.task
        parts = [getattr(task, each.name) for each in fields(task) if each.name != "picture"]
        content = map(_hashable, (*parts, induced.stacks, induced.push))
        key = (kind, settings, induced.rule, *content)
        if key not in _TRAINERS:
            _TRAINERS[key] = kind(induced, settings)
        return _TRAINERS[key]

    return shared


def _hashable(value):
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value


def shared_host_trainer(env, *rest):
    """One trainer for all environments with the same spaces; stands in for `HostTrainer`."""
    spaces = (env.single_observation_space, env.single_action_space)
    key = (*map(repr, spaces), env.num_envs, *rest)
    if key not in _TRAINERS:
        _TRAINERS[key] = HostTrainer(env, *rest)
    return _TRAINERS[key]


def advance(session, updates):
    """Makes some updates."""
    for _ in range(updates):
        session.advance()


def assert_same_arrays(ours, theirs):
    """Bit for bit."""
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name])
