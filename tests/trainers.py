"""Trainers that several tests share, so that their programs are compiled once; and sessions."""

import numpy as np

from adastack.deep.host import HostTrainer

_TRAINERS = {}


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
