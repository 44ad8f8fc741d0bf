"""Finite tasks, compiled: steps as the task defines them, exact gradients, known values."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adastack.deep.finite import FiniteTrainer
from adastack.deep.settings import PPOSettings
from adastack.deep.update import Batch, Schedule, loss
from adastack.memory.reference import ReferenceStack
from adastack.memory.regret import regrets
from adastack.process import induce
from adastack.process.events import ACTIVE, ATTEMPT, MEMORY, PASSIVE, SUCCESS
from adastack.tasks import FiniteTask, active_tmaze, passive_tmaze, xormaze
from adastack.training import RunSpec, make_session

TINY = {"hidden": 8, "n_steps": 40, "n_envs": 3, "batch_size": 60, "n_epochs": 2}


def trainer(task, k, rule="adaptive", **options):
    return FiniteTrainer(induce(task, rule, k), PPOSettings(**{**TINY, **options}))


def name(value):
    return getattr(value, "name", None)


def one_seed(tree, seed=0):
    return jax.tree.map(lambda leaf: leaf[seed], tree)


def rollout(of, seed=0):
    learner = one_seed(of.init([seed]))
    policy = jax.jit(of.network.output_table)(learner.params)
    _, steps = jax.jit(of.envs.rollout_table)(policy, learner.env, jax.random.key(seed))
    return jax.tree.map(np.asarray, steps), jax.jit(of.envs.log)(steps)


@pytest.mark.parametrize(
    ("task", "rule", "k"),
    [
        (passive_tmaze(5), "adaptive", 2),
        (active_tmaze(3), "push_skip", 3),
        (active_tmaze(3, continual=True), "adaptive", 3),
        (xormaze(), "frame", 4),
    ],
    ids=name,
)
def test_steps_are_those_of_the_task_and_the_reference_memory(task, rule, k):
    of = trainer(task, k, rule, n_steps=160)
    steps, log = rollout(of)
    memory, action = np.divmod(steps.joint, task.n_actions)
    reward, flags, evicted = (np.asarray(part) for part in log)
    for env in range(of.settings.n_envs):
        stack, age = ReferenceStack(rule, k, padding=task.empty), 0
        stack.reset(task.observation[steps.state[0, env]])
        for t in range(160):
            at = steps.state[t, env], action[t, env], steps.outcome[t, env]
            assert stack.slots == of.induced.stacks[steps.agent[t, env]].tolist()
            over = bool(task.ends[at]) or (age + 1 == task.time_limit)
            age = 0 if over else age + 1
            found = regrets(
                np.array([stack.slots]),
                np.array([evicted[t, env]]),
                task.cue[steps.state[t, env]][None],
                np.array([over]),
            )
            flag = int(flags[t, env])
            assert bool(flag & ATTEMPT) == over
            assert bool(flag & SUCCESS) == bool(task.success[at])
            assert bool(flag & MEMORY) == bool(found.memory[0])
            assert bool(flag & ACTIVE) == bool(found.active[0])
            assert bool(flag & PASSIVE) == bool(found.passive[0])
            assert reward[t, env] == task.reward[at]
            if t == 159:
                break
            after = steps.state[t + 1, env]
            if over:
                assert task.start[after] > 0
            else:
                assert after == task.next_state[at]
            if over and not task.continual:
                stack.reset(task.observation[after])
            else:
                slot = stack.push(int(memory[t, env]), task.observation[after])
                assert slot == evicted[t, env]


@pytest.mark.parametrize(
    ("net", "form"),
    [
        ("mlp", "factored"),
        ("mlp", "flat"),
        pytest.param("transformer", "factored", marks=pytest.mark.slow),
        pytest.param("lstm", "factored", marks=pytest.mark.slow),
    ],
)
def test_tables_have_the_gradient_of_every_row(net, form):
    task = xormaze()
    options = {"net": net, "action_form": form, "entropy": 0.1, "memory_entropy": 0.2}
    table = trainer(task, 2, tables=True, **options)
    plain = trainer(task, 2, tables=False, **options)
    params = one_seed(table.init([0])).params
    rng = np.random.default_rng(0)
    n = 64
    batch = Batch(
        jnp.asarray(rng.integers(table.induced.n_agent_states, size=n)),
        jnp.asarray(rng.integers(8, size=n)),
        jnp.asarray(np.log(rng.uniform(0.2, 0.5, (n, table.n_heads)))),
        jnp.asarray(rng.normal(size=n)),
        jnp.asarray(rng.normal(size=n)),
    )
    schedule = Schedule(jnp.array(1e-3), jnp.array(0.1), jnp.array(0.2))

    def gradient(of):
        rest = batch, schedule, of.network.evaluate, of.settings
        return jax.jit(jax.grad(lambda params: loss(params, *rest)))(params)

    gradients = [gradient(of) for of in (table, plain)]
    for ours, theirs in zip(*map(jax.tree.leaves, gradients), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(gradients[0])) > 1e-3


def test_tables_and_networks_act_alike():
    task = passive_tmaze(4)
    table, plain = trainer(task, 2, tables=True), trainer(task, 2, tables=False)
    learner = one_seed(table.init([3]))
    key = jax.random.key(5)
    policy = jax.jit(table.network.output_table)(learner.params)
    by_table = jax.jit(table.envs.rollout_table)(policy, learner.env, key)
    by_net = jax.jit(plain._rollout_net)(learner.params, learner.env, key)
    for ours, theirs in zip(*map(jax.tree.leaves, (by_table, by_net)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
def test_a_seed_learns_the_same_alone_and_in_company():
    of = short_maze()
    together = of.chunk(of.init([1, 2]), jnp.array([1, 2]), 0, 3, 10, capacity=4)
    alone = of.chunk(of.init([2]), jnp.array([2]), 0, 3, 10, capacity=4)
    for many, one in zip(*map(jax.tree.leaves, (together[0], alone[0])), strict=True):
        np.testing.assert_array_equal(many[1], one[0])


@cache
def short_maze():
    """One trainer for tests of chunks, so that they are compiled once."""
    return trainer(active_tmaze(3), 2)


def test_chunks_of_any_size_compute_the_same():
    of, seeds = short_maze(), jnp.arange(2)
    whole = of.chunk(of.init(seeds), seeds, 0, 4, 4, capacity=4)[0]
    parts = of.init(seeds)
    for done, count in ((0, 1), (1, 3)):
        parts = of.chunk(parts, seeds, done, count, 4, capacity=4)[0]
    for ours, theirs in zip(*map(jax.tree.leaves, (whole, parts)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def coin(reward, continual=False, time_limit=None):
    """One state, one action, a fixed reward: an attempt is over at once, or never."""
    return FiniteTask(
        name="probe",
        observation=np.zeros(1),
        next_state=np.zeros((1, 1, 1)),
        probability=np.ones((1, 1, 1)),
        reward=np.full((1, 1, 1), reward),
        ends=np.full((1, 1, 1), not continual and time_limit is None),
        start=np.ones(1),
        observation_names=("it",),
        action_names=("go",),
        continual=continual,
        time_limit=time_limit,
    )


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (coin(0.5), 0.5),
        (coin(0.5, continual=True), 0.5 / (1 - 0.5)),
        (coin(0.5, time_limit=3), 0.5 / (1 - 0.5)),
    ],
    ids=["terminates", "continual", "time limit is bootstrapped"],
)
def test_the_critic_learns_the_value_of_a_probe(task, expected):
    of = trainer(task, 1, "none", gamma=0.5, learning_rate=0.01)
    seeds = jnp.array([0])
    learner = of.chunk(of.init(seeds), seeds, 0, 60, 60, capacity=60)[0]
    params = one_seed(learner.params)
    value = of.network.net.apply(params, of.network.stacks)[1]
    np.testing.assert_allclose(value, expected, atol=0.05)


def test_outcomes_are_drawn_by_their_probabilities():
    task = FiniteTask(
        name="dice",
        observation=np.zeros(1),
        next_state=np.zeros((1, 1, 3)),
        probability=np.array([[[0.2, 0.3, 0.5]]]),
        reward=np.array([[[1.0, 2.0, 3.0]]]),
        ends=np.ones((1, 1, 3), bool),
        start=np.ones(1),
        observation_names=("it",),
        action_names=("go",),
    )
    steps, _ = rollout(trainer(task, 1, "none", n_steps=4000))
    shares = np.bincount(steps.outcome.ravel()) / steps.outcome.size
    np.testing.assert_allclose(shares, [0.2, 0.3, 0.5], atol=0.02)


@pytest.mark.parametrize(
    "critic", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["ppo", "grpo"]
)
def test_a_short_maze_is_learned(critic):
    of = FiniteTrainer(
        induce(passive_tmaze(3), "adaptive", 2),
        PPOSettings(
            hidden=32, n_envs=16, n_steps=50, batch_size=200, learning_rate=3e-3, entropy=0.01,
            learning_rate_end=3e-3, memory_entropy=0.01, critic=critic,
        ),
    )  # fmt: skip
    seeds = jnp.arange(2)
    _, log, _ = of.chunk(of.init(seeds), seeds, 0, 60, 60, capacity=60)
    flags = np.asarray(log.flags)[-5:]
    success = ((flags & SUCCESS) > 0).sum() / ((flags & ATTEMPT) > 0).sum()
    assert success > 0.95


@pytest.mark.slow
def test_the_weights_that_earned_most_are_kept_and_tested():
    """Both models of a seed are those of a loop that compares rollouts by hand."""
    task, overrides = "passive-tmaze:length=3", {"keep_best": True, "hidden": 16}
    asked = RunSpec(
        task=task, memory="adaptive", stack_size=2, algo="ppo", preset="paper", steps=128 * 12,
        seeds=[3, 4], overrides=overrides,
    ).document()  # fmt: skip
    session = make_session(asked)
    session.start()
    best = {}
    for update in range(12):
        before = jax.device_get(session.learner.params)
        learner, log, _ = session.trainer.chunk(
            jax.tree.map(jnp.copy, session.learner), session._device_seeds, update, 1, 12,
            capacity=session._capacity,
        )  # fmt: skip
        for index in range(2):
            earned = float(np.asarray(log.reward)[0, index].mean())
            if index not in best or earned > best[index][0]:
                best[index] = earned, jax.tree.map(lambda leaf, i=index: leaf[i], before)
        session.learner = learner
    for index, (earned, params) in best.items():
        kept = jax.tree.map(lambda leaf, i=index: leaf[i], session.learner.best)
        assert float(kept.reward) == pytest.approx(earned, abs=1e-6)
        jax.tree.map(np.testing.assert_array_equal, params, jax.device_get(kept.params))
    rows, _ = session.evaluate(None, 10, True, 0)
    session.learner = session.learner._replace(params=session.learner.best.params)
    assert [row["best_success"] for row in rows] == [
        row["success"] for row in session.evaluate(None, 10, True, 0)[0]
    ]


def test_the_best_weights_need_a_finite_task():
    with pytest.raises(ValueError, match="keep_best expects a finite task and no cell"):
        make_session(
            RunSpec(
                task="CartPole-v1", memory="adaptive", stack_size=2, algo="ppo", preset="paper",
                steps=128, seeds=[0], overrides={"keep_best": True},
            ).document()
        )  # fmt: skip
