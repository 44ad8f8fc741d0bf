"""A patient memory keeps what it has, at first."""

import numpy as np
import pytest

from adastack.deep.finite import FiniteTrainer
from adastack.deep.functional import FunctionalTrainer
from adastack.deep.settings import PPOSettings
from adastack.process import induce
from adastack.tasks import passive_tmaze
from adastack.tasks.worlds.cube.functional import Cube

PATIENCE = np.log(9)


@pytest.mark.parametrize("form", ["factored", "flat"])
def test_the_newest_slot_goes_nine_times_as_often(form):
    settings = PPOSettings(
        hidden=8, n_envs=400, n_steps=1, batch_size=400, action_form=form, patience=PATIENCE
    )
    agent = FunctionalTrainer(Cube(), "adaptive", 2, settings)
    params, _ = agent.init(0)
    stacks = np.full((4000, 2, 4), 6, np.int32)
    action, memory = agent.split(np.asarray(agent.act(params, [stacks], 0, 0)[0]))
    assert 0.87 < (memory == 1).mean() < 0.93
    assert len(np.unique(action)) == 16
    trainer = FiniteTrainer(induce(passive_tmaze(4), "adaptive", 2), settings)
    learner = trainer.init([0])
    bias = np.asarray(learner.params["params"]["policy"]["bias"])[0]
    expected = np.zeros_like(bias)
    expected[-(4 if form == "flat" else 1) :] = PATIENCE
    np.testing.assert_allclose(bias, expected, rtol=1e-6)
