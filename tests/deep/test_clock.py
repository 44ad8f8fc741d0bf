"""The critic's clock: when slots were stored, told to the critic and to nobody else."""

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from adastack import Agent
from adastack.deep.clock import CLOCK, N_HINTS, UNBORN, hints_of
from adastack.deep.host import HostTrainer, Worker
from adastack.deep.normalise import RunningStats
from adastack.deep.settings import settings_for
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
        births = worker.buffer.current()[-1][0]
        np.testing.assert_array_equal(births, np.where(ages >= 0, clock - ages, UNBORN))
        _, _, over, _, info = single.step((0, memory))
        worker.step(np.array([[0, memory]] * 2, np.float32))
        clock += 1
        if over:
            (_, info), clock = single.reset(), 0
    assert clock == 7 - EPISODE, "an episode ended on the way"


def test_hints_are_births_and_ages_and_nothing_for_empty_slots():
    births = jnp.asarray([[UNBORN, 3.0, 10.0]])
    seen = RunningStats(jnp.asarray(9.0), jnp.asarray(4.0), jnp.asarray(8.0))
    (hints,) = np.asarray(hints_of(seen, births))
    assert hints.shape == (3, N_HINTS)
    assert not hints[0].any()
    expected = [(3 - 4) / 3, 7 / 3, np.log(4) / 5, np.log(8) / 5]
    np.testing.assert_allclose(hints[1], expected, rtol=1e-6)
    np.testing.assert_allclose(hints[2], [2, 0, np.log(11) / 5, 0], rtol=1e-6)


@pytest.mark.parametrize("net", ["mlp", "lstm", "transformer"])
def test_births_change_values_but_not_policies(net):
    trainer, _ = trainer_of(net=net)
    params, _ = trainer.init(0)
    leaf = jnp.zeros((4, 3), jnp.int32)
    births = jnp.asarray([[0, 1, 2], [0, 1, 30], [0, 29, 30], [28, 29, 30]], jnp.float32)
    outputs, values = trainer._net(params, trainer._normalised(params, [leaf, births]), None)
    assert len(np.unique(np.asarray(values).round(6))) == 4
    np.testing.assert_array_equal(outputs, jnp.broadcast_to(outputs[:1], outputs.shape))


@pytest.mark.parametrize(
    "more",
    [{"critic": False}, {"shared": True}, {"cell": "gru"}, {"critic_clock": False}],
    ids=["no-critic", "shared", "cell", "off"],
)
def test_nobody_is_told_where_the_policy_would_hear_it(more):
    trainer, _ = trainer_of(**more)
    params, _ = trainer.init(0)
    assert CLOCK not in params["seen"]
    assert len(trainer.stored) == len(trainer.columns)


def test_the_critic_learns_what_no_stack_shows():
    """All stacks of full slots look alike; how far the reward is, the clock alone tells."""
    agent = Agent(Counting, k=3, algo="ppo", seed=0, hidden=16, gamma=0.9, count_once=False)
    agent.learn(6400, progress=False)
    worker = agent._session.workers[0]
    trainer, params = worker.agent, worker.params
    leaf = jnp.zeros((3, 3), jnp.int32)
    births = jnp.asarray([[0, 1, 2], [1, 2, 3], [2, 3, 4]], jnp.float32)
    values = np.asarray(trainer.value(params, [leaf, births], np.full(3, 3, np.int32)))
    scale = float(worker.moments[1].value)
    np.testing.assert_allclose(values * scale, [0.81, 0.9, 1.0], atol=0.06)


def test_statistics_of_the_clock_are_those_of_all_steps():
    worker = Worker(*trainer_of(), 0)
    worker.restart(0)
    worker.advance(0, 10)
    clock = worker.params["seen"][CLOCK]
    births = worker.buffer.columns[-1][-16:]
    assert int(clock.number) == 16
    assert float(clock.mean) == pytest.approx(births.mean())
    assert float(clock.variance) == pytest.approx(births.var(), rel=1e-5)
    assert births.max() == EPISODE - 1


def test_a_killed_run_goes_on_with_its_clock():
    agents = [HostTrainer(trainer_of()[1], "adaptive", 3, trainer_of()[0].settings)]
    whole, halves = (Worker(agents[0], trainer_of()[1], 3) for _ in range(2))
    for worker in (whole, halves):
        worker.restart(0)
        worker.advance(0, 4)
    saved = jax.device_get(halves.saved())
    resumed = Worker(agents[0], trainer_of()[1], 3)
    resumed.restore(jax.device_put(saved))
    for worker in (whole, resumed):
        worker.restart(1)
        worker.advance(1, 4)
    for ours, theirs in zip(
        jax.tree.leaves(whole.saved()), jax.tree.leaves(resumed.saved()), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [20, 21, 22])
def test_a_task_that_pays_at_each_step_is_learned(seed):
    agent = Agent("popgym-repeat-first", k=2, algo="ppo", seed=seed)
    agent.learn(200_000, progress=False)
    assert agent.evaluate(episodes=50)["return"] >= 0.95
