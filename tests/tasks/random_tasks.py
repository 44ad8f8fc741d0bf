"""Finite tasks drawn at random, for properties that must hold for all of them."""

import numpy as np

from adastack.tasks import FiniteTask


def random_task(seed, n_states=6, n_actions=3, n_outcomes=3, n_observations=3, **fields):
    """A task with chance in every step, outcomes of probability zero among them."""
    rng = np.random.default_rng(seed)
    shape = (n_states, n_actions, n_outcomes)
    probability = rng.dirichlet(np.ones(n_outcomes), shape[:2])
    probability[rng.random(shape[:2]) < 0.3] = np.eye(n_outcomes)[rng.integers(n_outcomes)]
    start = rng.dirichlet(np.ones(n_states)) * (np.arange(n_states) % 2 == 0)
    return FiniteTask(
        **{
            "name": f"random-{seed}",
            "observation": rng.integers(n_observations, size=n_states),
            "next_state": rng.integers(n_states, size=shape),
            "probability": probability,
            "reward": rng.normal(size=shape),
            "ends": rng.random(shape) < 0.15,
            "start": start / start.sum(),
            "observation_names": tuple("abcdefgh"[:n_observations]),
            "action_names": tuple("uvwxyz"[:n_actions]),
            "cue": rng.integers(-1, n_observations, size=(n_states, 2)),
            **fields,
        }
    )
