"""A deep run, one stack at a time, does what its evaluation says."""

import dataclasses

import numpy as np
import pytest

from adastack.progress import Silent
from adastack.runs import Run
from adastack.training import restored, train
from adastack.viewer.show import show_of

pytestmark = pytest.mark.usefixtures("programs_are_compiled_once")
TINY = {"n_envs": 2, "n_steps": 32, "batch_size": 32, "n_epochs": 1, "hidden": 8}


def trained(task, path, memory="adaptive", k=2, **overrides):
    train(
        task=task, memory=memory, stack_size=k, algo="ppo", preset="robust", steps=128,
        seeds=[4, 7], path=path, overrides={**TINY, **overrides}, resume=False, progress=Silent(),
    )  # fmt: skip
    return Run.open(path)


@pytest.mark.slow
def test_a_finite_run_plays_its_greedy_policy(tmp_path):
    run = trained("passive-tmaze:length=3", tmp_path / "run")
    for row in run.result["seeds"]:
        ends = [show_of(run, row["seed"]).episode(seed=s)["frames"][-1] for s in range(12)]
        shown = {end["success"] for end in ends}
        # An exact evaluation plays both cues: some, all or none of them end well.
        assert shown == ({True, False} if 0 < row["success"] < 1 else {row["success"] == 1})


def test_a_world_is_played_as_the_vector_player_plays_it(tmp_path):
    run = trained("position-only-cartpole", tmp_path / "run", k=3, normalize_observation=True)
    show = show_of(run, 7)
    session = restored(run)
    agent, params = session.agent, session.params_of(1)
    rng = np.random.default_rng(0)
    for filled in (1, 2, 3):
        stack = rng.normal(size=(3, 2)).astype(np.float32)
        ages = np.where(np.arange(3) < 3 - filled, -1, 1)
        padded = np.where(ages[:, None] < 0, agent.inputs.columns[0][2], stack)
        joined = np.asarray(agent.greedy(params, [padded[None].astype(np.float32)])[0])
        assert show.act(stack, ages) == (joined[0, 0], joined[0, 1])
    assert len(show.film(max_steps=5).pictures) > 1
    with pytest.raises(ValueError, match="expected a task that shows"):
        show_of(run, task="minigrid-memory:size=7")


@pytest.mark.slow
def test_a_first_stack_repeats_its_observation_where_training_did(tmp_path):
    run = trained("position-only-cartpole", tmp_path / "run", k=3, padding="reset")
    show, seen = show_of(run, 7), []
    act = show.act
    replaced = dataclasses.replace(
        show, act=lambda stack, ages: seen.append(stack) or act(stack, ages)
    )
    replaced.film(max_steps=2)
    assert (seen[0] == seen[0][-1]).all()
