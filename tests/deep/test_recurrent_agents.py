"""Agents with a cell: they learn without a stack, predict, are saved, watched and trained."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from adastack import Agent
from adastack.deep.cell_table import CELLS
from adastack.progress import Silent
from adastack.runs import Run
from adastack.tasks import resolve
from adastack.training import train
from adastack.viewer.show import show_of


class Recall(gym.Env):
    """Shows a bit once; after some steps that look alike, it has to be named."""

    observation_space = spaces.Discrete(3)
    action_space = spaces.Discrete(2)

    def __init__(self, length=3):
        self.length = length

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.bit, self.t = int(self.np_random.integers(2)), 0
        return self.bit, {}

    def step(self, action):
        self.t += 1
        over = self.t == self.length
        reward = float(action == self.bit) if over else 0.0
        return 2, reward, over, False, {"is_success": bool(reward)} if over else {}


FAST = {
    "hidden": 32, "n_envs": 16, "n_steps": 32, "batch_size": 128, "n_epochs": 4, "gamma": 0.95,
    "learning_rate": 3e-3, "entropy": 0.01,
}  # fmt: skip


@pytest.fixture(
    scope="module",
    params=[pytest.param(cell, marks=pytest.mark.slow) for cell in CELLS],
)
def learned(request):
    """A maze that is learned without a stack."""
    agent = Agent("passive-tmaze:length=6", "none", cell=request.param, preset="paper", **FAST)
    return agent.learn(40_000 if request.param == "gru" else 60_000, progress=False)


def test_a_maze_is_learned_without_a_stack(learned):
    row = learned.evaluate(64)
    assert row["success"] >= 0.99
    assert row["optimality"] >= 0.95
    assert (row["attempts"], row["cut"]) == (64, 0)
    # The cue is in no slot but the current one: the stack itself remembers nothing.
    assert row["memory_regret"] > 0.5
    assert learned.evaluate(32, "passive-tmaze:length=8")["attempt_steps"] >= 8


def test_predict_carries_a_state_as_recurrent_policies_of_stable_baselines_do(learned):
    env = learned.wrap(resolve("passive-tmaze:length=6").env())
    succeeded = []
    state, start = None, True
    for episode in range(6):
        stack, _ = env.reset(seed=episode)
        start, over = True, False
        while not over:
            # The state of the episode before is forgotten where the next one begins.
            joint, state = learned.predict(stack, state=state, episode_start=start)
            stack, _, terminated, truncated, info = env.step(joint)
            start, over = False, terminated or truncated
        succeeded.append(bool(info["success"]))
    assert all(succeeded)
    stacks = np.stack([stack, stack, stack])
    state = np.repeat(state, 3, axis=1)
    _, begun = learned.predict(stacks, state, np.array([False, True, False]))
    _, fresh = learned.predict(stacks)
    np.testing.assert_allclose(begun[:, 1], fresh[:, 1], atol=1e-6)
    np.testing.assert_array_equal(begun[:, 0], begun[:, 2])
    assert (begun[:, 0] != fresh[:, 0]).any()
    with pytest.raises(ValueError, match="expected a state of shape"):
        learned.predict(stacks, state[:, :2])


def test_stable_baselines_evaluates_an_agent_with_a_cell(learned):
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    env = learned.wrap(resolve("passive-tmaze:length=6").env())
    mean, _ = evaluation.evaluate_policy(learned, env, 10, warn=False)
    assert mean == 1.0


def test_an_agent_with_a_cell_is_saved_and_watched(learned, tmp_path):
    folder = learned.save(tmp_path / "agent")
    assert Agent.load(folder).evaluate(16) == learned.evaluate(16)
    show = show_of(Run.open(folder))
    # One policy plays several episodes; each begins anew.
    ends = [show.episode(seed=seed)["frames"][-1] for seed in range(4)]
    assert all(end["success"] for end in ends)
    with pytest.raises(ValueError, match="expects the observation_names"):
        show_of(Run.open(folder), task="heaven-hell")


@pytest.mark.slow
def test_a_hybrid_is_trained_and_saved_with_its_cell(tmp_path):
    result = train(
        task="passive-tmaze:length=4", memory="adaptive", stack_size=2, algo="ppo",
        preset="default", steps=100,
        seeds=[0], path=tmp_path / "run", resume=False, progress=Silent(),
        overrides={"hidden": 8, "n_envs": 4, "n_steps": 25, "batch_size": 50, "n_epochs": 1,
                   "cell": "lru", "net": "lstm"},
    )  # fmt: skip
    (row,) = result["seeds"]
    assert 0 <= row["success"] <= 1
    assert row["attempts"] == 100
    arrays, _ = Run.open(tmp_path / "run").load_checkpoint()
    assert any(name.endswith(".carry") and leaf.any() for name, leaf in arrays.items())


@pytest.mark.slow
def test_bits_are_remembered_on_the_host():
    agent = Agent(Recall, "none", cell="lstm", preset="paper", **FAST)
    agent.learn(30_000, progress=False)
    assert agent.evaluate(64)["success"] >= 0.99


def test_a_table_has_no_cell():
    with pytest.raises(ValueError, match="algo sarsa learns a table: cell is for ppo and grpo"):
        Agent("passive-tmaze", algo="sarsa", cell="gru")
