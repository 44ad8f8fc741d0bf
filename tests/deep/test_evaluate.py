"""A network's policy as a function of stacks."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest

from adastack.deep.initial import initial_params
from adastack.deep.networks import ActorCritic, act
from adastack.deep.networks.observations import Leaf
from adastack.deep.policies import log_probabilities, stack_policy


@pytest.mark.parametrize("form", ["factored", "flat"])
def test_chances_are_those_of_the_heads(form):
    n_actions, n_memory = 4, 3
    n_outputs = n_actions + n_memory if form == "factored" else n_actions * n_memory
    net = ActorCritic(Leaf("onehot", (5,)), "mlp", n_outputs, hidden=16)
    params = initial_params(net, np.zeros((1, 3), np.int32), seed=0)
    params["params"]["policy"]["kernel"] *= 100  # Far from uniform.
    stack = (0, 3, 2)
    logits = np.asarray(net.apply(params, jnp.array([stack]))[0][0], np.float64)
    weights = np.exp(logits)
    if form == "factored":
        action, memory = weights[:4] / weights[:4].sum(), weights[4:] / weights[4:].sum()
        expected = np.outer(memory, action).ravel()
    else:
        expected = weights / weights.sum()
    chances = log_probabilities(partial(act, net), n_actions, n_memory, form)
    found = stack_policy(chances, params, greedy=False)(stack)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    best = stack_policy(chances, params, greedy=True)(stack)
    assert best.tolist() == np.eye(12)[expected.argmax()].tolist()
