"""The critic's clock: when slots were stored, told to the critic and to nobody else."""

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from adastack import Agent
from adastack.deep.checkpoint_arrays import flatten
from adastack.deep.clock import CLOCK, N_CRITIC_FEATURES, NOT_STORED, clock_features
from adastack.deep.finite import FiniteTrainer
from adastack.deep.host import HostTrainer, Worker
from adastack.deep.normalise import RunningStats
from adastack.deep.settings import settings_for
from adastack.process.induced import induce
from adastack.process.policy import memory_rule
from adastack.tasks import resolve
from adastack.wrappers import AdaptiveStack

SMALL = {"n_envs": 2, "n_steps": 8, "batch_size": 16, "hidden": 8}
EPISODE = 5


class Counting(gym.Env):
    """Shows nothing but zeros, and ends after five steps, paying 1."""

    observation_space = spaces.Discrete(2)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.clock = 0
        return 0, {}

    def step(self, action):
        self.clock += 1
        over = self.clock == EPISODE
        return 0, float(over), over, False, {}


def trainer_of(**more):
    env = SyncVectorEnv([Counting] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
    settings = settings_for("default", "ppo", {**SMALL, **more})
    return HostTrainer(env, "adaptive", 3, settings), env


def test_births_are_the_clock_minus_the_ages_that_the_wrapper_reports():
    worker = Worker(*trainer_of(), 0)
    worker.restart(0)
    single = AdaptiveStack(Counting(), 3, padding_type="empty")
    (_, info), clock = single.reset(seed=0), 0
    for memory in (2, 0, 1, 2, 1, 0, 1):
        ages = info["slot_ages"]
        stored_at = worker.buffer.current()[-1][0]
        np.testing.assert_array_equal(stored_at, np.where(ages >= 0, clock - ages, NOT_STORED))
        _, _, over, _, info = single.step((0, memory))
        worker.step(np.array([[0, memory]] * 2, np.float32))
        clock += 1
        if over:
            (_, info), clock = single.reset(), 0
    assert clock == 7 - EPISODE, "an episode ended on the way"


def test_hints_are_births_and_ages_and_nothing_for_empty_slots():
    stored_at = jnp.asarray([[NOT_STORED, 3.0, 10.0]])
    seen = RunningStats(jnp.asarray(9.0), jnp.asarray(4.0), jnp.asarray(8.0))
    (critic_features,) = np.asarray(clock_features(seen, stored_at))
    assert critic_features.shape == (3, N_CRITIC_FEATURES)
    assert not critic_features[0].any()
    expected = [(3 - 4) / 3, 7 / 3, np.log(4) / 5, np.log(8) / 5]
    np.testing.assert_allclose(critic_features[1], expected, rtol=1e-6)
    np.testing.assert_allclose(critic_features[2], [2, 0, np.log(11) / 5, 0], rtol=1e-6)


@pytest.mark.parametrize("net", ["mlp", "lstm", "transformer"])
def test_births_change_values_but_not_policies(net):
    trainer, _ = trainer_of(net=net)
    params, _ = trainer.init(0)
    leaf = jnp.zeros((4, 3), jnp.int32)
    stored_at = jnp.asarray([[0, 1, 2], [0, 1, 30], [0, 29, 30], [28, 29, 30]], jnp.float32)
    stored = trainer.inputs.normalise(params, [leaf, stored_at])
    outputs, values = trainer._net(params, stored, None)
    assert len(np.unique(np.asarray(values).round(6))) == 4
    np.testing.assert_array_equal(outputs, jnp.broadcast_to(outputs[:1], outputs.shape))


@pytest.mark.parametrize(
    "more",
    [{"critic": False}, {"shared": True}, {"cell": "gru"}, {"critic_clock": False}],
    ids=["no-critic", "shared", "cell", "off"],
)
def test_the_clock_is_off_without_a_critic_of_its_own(more):
    trainer, _ = trainer_of(**more)
    params, _ = trainer.init(0)
    assert CLOCK not in params["seen"]
    assert len(trainer.inputs.stored) == len(trainer.inputs.columns)


def test_the_critic_learns_what_no_stack_shows():
    """All stacks of full slots look alike; how far the reward is, the clock alone tells."""
    agent = Agent(Counting, k=3, algo="ppo", seed=0, hidden=16, gamma=0.9, count_once=False)
    agent.learn(6400, progress=False)
    worker = agent._session.workers[0]
    trainer, params = worker.agent, worker.params
    leaf = jnp.zeros((3, 3), jnp.int32)
    stored_at = jnp.asarray([[0, 1, 2], [1, 2, 3], [2, 3, 4]], jnp.float32)
    values = np.asarray(trainer.value(params, [leaf, stored_at], np.full(3, 3, np.int32)))
    scale = float(worker.moments[1].value)
    np.testing.assert_allclose(values * scale, [0.81, 0.9, 1.0], atol=0.06)


def test_statistics_of_the_clock_are_those_of_all_steps():
    worker = Worker(*trainer_of(), 0)
    worker.restart(0)
    worker.advance(0, 10)
    clock = worker.params["seen"][CLOCK]
    stored_at = worker.buffer.columns[-1][-16:]
    assert int(clock.number) == 16
    assert float(clock.mean) == pytest.approx(stored_at.mean())
    assert float(clock.variance) == pytest.approx(stored_at.var(), rel=1e-5)
    assert stored_at.max() == EPISODE - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "dense"), [("repeat-first:length=6", True), ("passive-tmaze:length=6", False)]
)
def test_finite_tasks_know_whether_rewards_are_dense_and_do_not_save_it(task, dense):
    induced = induce(resolve(task).finite(), memory_rule("adaptive", True), 2)
    small = {"n_envs": 2, "n_steps": 16, "batch_size": 32, "n_epochs": 1, "hidden": 8}
    trainer = FiniteTrainer(induced, settings_for("default", "ppo", small))
    learner, _, _ = trainer.chunk(trainer.init([0]), jnp.array([0]), 0, 2, 4, capacity=2)
    assert trainer._with_density(learner).env.held.dense.tolist() == [dense]
    assert not [name for name in flatten(learner, "learner") if "dense" in name]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [20, 21, 22])
def test_a_task_that_pays_at_each_step_is_learned(seed):
    agent = Agent("popgym-repeat-first", k=2, algo="ppo", seed=seed)
    agent.learn(200_000, progress=False)
    assert agent.evaluate(episodes=50)["return"] >= 0.95
