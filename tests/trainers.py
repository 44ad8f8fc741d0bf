"""Trainers that several tests share, so that their programs are compiled once."""

from adastack.deep.host import HostTrainer

_TRAINERS = {}


def shared_host_trainer(env, *rest):
    """One trainer for all environments with the same spaces; stands in for `HostTrainer`."""
    spaces = (env.single_observation_space, env.single_action_space)
    key = (*map(repr, spaces), env.num_envs, *rest)
    if key not in _TRAINERS:
        _TRAINERS[key] = HostTrainer(env, *rest)
    return _TRAINERS[key]
