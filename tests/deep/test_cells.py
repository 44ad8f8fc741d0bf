"""Cells: a scan is a loop of steps; what is carried is learned from, saved, reset and played."""

from dataclasses import replace
from functools import cache

import flax.linen as nn
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from adastack import Agent
from adastack.deep.cell_table import CELLS, load_cell
from adastack.deep.finite_recurrent import RecurrentFiniteTrainer
from adastack.deep.finite_recurrent_session import RecurrentFiniteSession
from adastack.deep.functional import FunctionalTrainer
from adastack.deep.functional_session import FunctionalSession
from adastack.deep.gym_session import GymSession
from adastack.deep.host import Worker
from adastack.deep.recurrent import stepped
from adastack.deep.settings import PPOSettings
from adastack.deep.units import Change, no_units
from adastack.process import induce
from adastack.progress import Silent
from adastack.runs import Run
from adastack.tasks import passive_tmaze, resolve
from adastack.tasks.functional_vector import FunctionalTaskVectorEnv
from adastack.tasks.worlds.cartpole.functional import MaskedCartPole
from adastack.training import train
from adastack.viewer.show import show_of
from trainers import advance, assert_same_arrays

STEPS, TOWERS, ENVS, HIDDEN = 17, 2, 5, 6
TINY = PPOSettings(
    hidden=8, n_envs=4, n_steps=25, batch_size=50, n_epochs=2, learning_rate=1e-2, cell="gru"
)
SHORT_POLE = MaskedCartPole("position", time_limit=11)
"""Every episode of an untrained agent ends in a rollout, some by their time limit."""


def drawn(cell, towers=TOWERS, hidden=HIDDEN, seed=0):
    rng = np.random.default_rng(seed)
    weights = [load_cell(cell).draw(hidden, rng) for _ in range(towers)]
    # What is drawn as zero must count, too.
    noisy = [
        {name: each + rng.normal(0, 0.1, each.shape).astype(np.float32) for name, each in w.items()}
        for w in weights
    ]
    return {name: jnp.stack([each[name] for each in noisy]) for name in noisy[0]}


def sequence(cell, seed=0):
    rng = np.random.default_rng(seed)
    state = rng.normal(size=(TOWERS, ENVS, load_cell(cell).width(HIDDEN))).astype(np.float32)
    features = rng.normal(size=(STEPS, TOWERS, ENVS, HIDDEN)).astype(np.float32)
    reset = rng.random((STEPS, ENVS)) < rng.choice([0, 0.2, 1])
    return jnp.asarray(state), jnp.asarray(features), jnp.asarray(reset)


def looped(cell, weights, state, features, reset):
    """The definition: one step after the other, from zeros where an episode begins."""
    outputs = []
    for x, begins in zip(features, reset, strict=True):
        state = jnp.where(begins[:, None], 0.0, state)
        inputs = load_cell(cell).inputs(weights, x)
        state, output = load_cell(cell).step(weights, state, inputs)
        outputs.append(output)
    return jnp.stack(outputs)


def scanned(cell, weights, state, features, reset):
    inputs = jax.vmap(lambda x: load_cell(cell).inputs(weights, x))(features)
    return load_cell(cell).scan(weights, state, inputs, reset)


@pytest.mark.parametrize("cell", CELLS)
def test_a_scan_is_a_loop_of_steps_and_so_is_its_gradient(cell):
    slopes = np.random.default_rng(9).normal(size=(STEPS, TOWERS, ENVS, HIDDEN))

    def results(way):
        def total(weights, state, features, reset):
            found = way(cell, weights, state, features, reset)
            return (found * slopes).sum(), found

        return jax.jit(jax.grad(total, argnums=(0, 1, 2), has_aux=True))

    loop, scan = results(looped), results(scanned)
    for seed in range(6):
        arguments = (drawn(cell, seed=seed), *sequence(cell, seed))
        pairs = zip(*(jax.tree.leaves(way(*arguments)) for way in (loop, scan)), strict=True)
        for expected, found in pairs:
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("cell", "theirs"), [("gru", nn.GRUCell), ("lstm", nn.LSTMCell)])
def test_gated_cells_are_those_of_flax(cell, theirs):
    gates = {"gru": "zrn", "lstm": "ifgo"}[cell]
    weights, (state, features, _) = drawn(cell), sequence(cell)
    ours, output = load_cell(cell).step(
        weights, state, load_cell(cell).inputs(weights, features[0])
    )
    for tower in range(TOWERS):
        mine = jax.tree.map(lambda leaf, t=tower: leaf[t], weights)
        parts = {
            name: jnp.split(mine[name], len(gates), axis=-1)
            for name in ("inputs", "bias", "recurrent")
        }
        params = {}
        for i, gate in enumerate(gates):
            params[f"i{gate}"] = {"kernel": parts["inputs"][i]}
            params[f"h{gate}"] = {"kernel": parts["recurrent"][i]}
            where = f"h{gate}" if cell == "lstm" else f"i{gate}"
            params[where]["bias"] = parts["bias"][i]
        if cell == "gru":
            params["hn"]["bias"] = jnp.zeros(HIDDEN)
        carry = jnp.split(state[tower], 2, axis=-1)[::-1] if cell == "lstm" else state[tower]
        found = theirs(HIDDEN).apply({"params": params}, carry, features[0, tower])
        np.testing.assert_allclose(output[tower], found[1], rtol=1e-5, atol=1e-6)
        kept = jnp.concatenate(found[0][::-1], axis=-1) if cell == "lstm" else found[0]
        np.testing.assert_allclose(ours[tower], kept, rtol=1e-5, atol=1e-6)


def test_a_linear_unit_remembers_for_as_long_as_its_eigenvalue_says():
    cell, weights = load_cell("lru"), drawn("lru", towers=1)
    size = np.exp(-np.exp(np.asarray(weights["decay"][0])))
    angle = np.exp(np.asarray(weights["phase"][0]))
    state = jnp.ones((1, 1, 2 * HIDDEN)) * jnp.repeat(jnp.array([1.0, 0.0]), HIDDEN)
    for _ in range(10):
        state, _ = cell.step(weights, state, jnp.zeros((1, 1, 3 * HIDDEN)))
    expected = (size * np.exp(1j * angle)) ** 10
    np.testing.assert_allclose(state[0, 0], [*expected.real, *expected.imag], rtol=1e-4)
    assert (size < 1).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cell": "rnn"}, "cell must be one of none, gru, lstm, lru, actual: 'rnn'"),
        ({"batch_size": 20}, "batch_size must be a multiple of n_steps = 25 with a cell"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **changes)


# Rollouts: what the update computes is what the rollout did.


def one_seed(tree):
    return jax.tree.map(lambda leaf: leaf[0], tree)


@cache
def finite(continual=False, **changes):
    task = passive_tmaze(4, continual=continual)
    return RecurrentFiniteTrainer(induce(task, "adaptive", 2), replace(TINY, **changes))


def finite_steps(of, seed=0):
    """Two rollouts, the second of which begins within episodes."""
    learner = one_seed(of.init([seed]))
    rollout = jax.jit(of.rollout)
    env, _ = rollout(learner.params, learner.env, jax.random.key(1))
    after, steps = rollout(learner.params, env, jax.random.key(2))
    return learner.params, env, after, steps


def replayed(of, params, env, steps):
    """Log-probabilities of the actions and values, by one step after the other."""
    carry, found = env.carry, []
    over = np.asarray(steps.over) & (not of.task.continual)
    stacks = jnp.asarray(of.induced.stacks)

    @jax.jit
    def step(agent, carry, joint):
        inputs = of.network.inputs_of(params, stacks[agent])
        outputs, value, carry = stepped(of.network.net, params, inputs, carry)
        return of.network.evaluation(outputs, value, joint), carry

    for t, joint in enumerate(steps.joint):
        evaluation, carry = step(steps.agent[t], carry, joint)
        found.append(evaluation)
        carry = np.where(over[t][:, None], 0, carry)
    return found, carry


@pytest.mark.parametrize(("continual", "tables"), [(False, True), (True, False)])
def test_the_update_sees_a_finite_rollout_as_it_was(continual, tables):
    of = finite(continual, tables=tables)
    params, env, after, steps = finite_steps(of)
    assert np.asarray(steps.over).any()
    assert np.asarray(env.carry).any()
    expected, carry = replayed(of, params, env, steps)
    np.testing.assert_allclose(after.carry, carry, atol=1e-5)
    reward = np.zeros(steps.over.shape, np.float32)
    rest = no_units(), Change(), steps, reward, after.agent, env.carry
    _, batch = jax.jit(of._batch)(params, None, *rest)
    log_prob = np.concatenate([each.log_prob for each in expected])
    value = np.concatenate([each.value for each in expected])
    np.testing.assert_allclose(batch.log_prob, log_prob, atol=1e-5)
    # Sequences of some environments are evaluated as in company.
    chosen = jnp.array([2, 0])
    inputs = jax.tree.map(lambda leaf: leaf[:, chosen], batch.inputs)
    found = jax.jit(of.network.evaluate)(params, inputs, steps.joint[:, chosen].reshape(-1))
    shape = (*steps.joint.shape, -1)
    np.testing.assert_allclose(
        found.log_prob,
        log_prob.reshape(shape)[:, chosen].reshape(len(found.log_prob), -1),
        atol=1e-5,
    )
    np.testing.assert_allclose(found.value, value.reshape(shape)[:, chosen].reshape(-1), atol=1e-5)
    # The state goes on where attempts end in a continual task; elsewhere it begins anew.
    last_over = np.asarray(steps.over)[-1]
    ended = ~np.asarray(after.carry).any(axis=(0, 2))
    assert ended.tolist() == (last_over & (not continual)).tolist()


def test_a_finite_time_limit_is_bootstrapped_with_the_carried_state():
    task = replace(passive_tmaze(6), time_limit=5)
    of = RecurrentFiniteTrainer(induce(task, "adaptive", 2), TINY)
    params, env, _, steps = finite_steps(of)
    action, memory = np.asarray(steps.joint) % 4, np.asarray(steps.joint) // 4
    at = np.asarray(steps.state), action, np.asarray(steps.outcome)
    cut = np.asarray(steps.over) & ~task.ends[at]
    assert cut.any()
    assert (np.asarray(steps.bootstrap)[~cut] == 0).all()
    carry, over = env.carry, np.asarray(steps.over)
    tables, stacks = of.envs.tables, jnp.asarray(of.induced.stacks)

    @jax.jit
    def step(agent, carry):
        inputs = of.network.inputs_of(params, stacks[agent])
        _, value, carry = stepped(of.network.net, params, inputs, carry)
        return value, carry

    for t in range(TINY.n_steps):
        _, carry = step(np.asarray(steps.agent[t]), carry)
        seen = task.observation[task.next_state[tuple(part[t] for part in at)]]
        pushed = np.asarray(tables.push)[np.asarray(steps.agent[t]), memory[t], seen]
        value, _ = step(np.maximum(pushed, 0).astype(steps.agent.dtype), carry)
        np.testing.assert_allclose(
            np.asarray(steps.bootstrap[t])[cut[t]], np.asarray(value)[cut[t]], atol=1e-5
        )
        carry = np.where(over[t][:, None], 0, carry)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"normalize_observation": True, "hold_noise": 50}, {}])
def test_compiled_and_host_rollouts_carry_the_same(more):
    settings = replace(TINY, **more)
    trainer = FunctionalTrainer(SHORT_POLE, "adaptive", 2, settings)
    envs = FunctionalTaskVectorEnv(SHORT_POLE, TINY.n_envs, AutoresetMode.SAME_STEP)
    worker, learner = Worker(trainer, envs, seed=4), trainer.start(4)
    worker.restart(0)
    rollout_of = jax.jit(trainer.rollout)
    for update in range(2):
        env, rollout, log = rollout_of(learner.params, learner.env, 4, update)
        _, evaluation, _ = as_rolled_out_by(trainer)(learner.params, rollout)
        check_against_steps(trainer, learner.params, rollout, evaluation, env.carry)
        # Typed as the host does it: Python numbers would be another program.
        rest = (np.int32(4), np.int32(update), np.float32(update / 2))
        learned = trainer.learn(learner.params, learner.moments, rollout, *rest)
        learner = learner._replace(params=learned[0], moments=learned[1], env=env)
        _, flags, _, learning = worker.advance(update, 2)
        np.testing.assert_array_equal(rollout.slots, worker.buffer.slots)
        np.testing.assert_array_equal(log.flags, flags)
        np.testing.assert_allclose(env.carry, worker.carry, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(learned[2], learning, rtol=1e-2, atol=1e-4)
        cut = np.asarray(rollout.over & ~rollout.terminated)
        assert cut.any()
        assert (np.asarray(rollout.bootstrap)[cut] != 0).all()


@cache
def as_rolled_out_by(trainer):
    def found(params, rollout):
        columns = trainer.inputs.normalise(params, rollout.columns)
        actions = rollout.action.reshape(TINY.steps_per_update, -1)
        return trainer._as_rolled_out(params, columns, rollout, actions)

    return jax.jit(found)


@cache
def step_of(trainer):
    def step(params, column, slots, carry, action):
        filled = (slots != 0).sum(axis=1)
        value = trainer.value_of(params, [column[slots]], filled, carry)
        outputs, carry = trainer._outputs(params, [column[slots]], filled, carry)
        return value, trainer.heads.log_probs(outputs, trainer._parts(action)), carry

    return jax.jit(step)


def check_against_steps(trainer, params, rollout, evaluation, last_carry):
    """The update's first log-probabilities and values are those of the rollout's own steps."""
    carry, log_probs, values = rollout.carry, [], []
    for t in range(TINY.n_steps):
        value, log_prob, carry = step_of(trainer)(
            params, rollout.columns[0], rollout.slots[t], carry, rollout.action[t]
        )
        values.append(value)
        log_probs.append(log_prob)
        carry = jnp.where(jnp.asarray(rollout.over[t])[:, None], 0.0, carry)
    np.testing.assert_allclose(evaluation.log_prob, jnp.concatenate(log_probs), atol=1e-5)
    np.testing.assert_allclose(evaluation.value, jnp.concatenate(values), atol=1e-5)
    np.testing.assert_allclose(carry, last_carry, atol=1e-5)


# Sessions: resumed bit for bit, evaluated, watched.


shared_trainer = cache(FunctionalTrainer)
shared_finite = cache(
    lambda name, settings: RecurrentFiniteTrainer(
        induce(resolve(name).finite(), "none", 1), settings
    )
)
MAZE = "passive-tmaze:length=4"


def finite_session():
    steps = 4 * TINY.steps_per_update
    return RecurrentFiniteSession(resolve(MAZE).finite(), "none", 1, TINY, [0, 1], steps)


def functional_session():
    steps = 4 * TINY.steps_per_update
    name = "position-only-cartpole:time_limit=11"
    return FunctionalSession(resolve(name), "none", 1, TINY, [0, 1], steps)


def host_session():
    steps = 4 * TINY.steps_per_update
    return GymSession(resolve("CartPole-v1"), "none", 1, TINY, [0, 1], steps)


@pytest.mark.slow
@pytest.mark.parametrize("make", [finite_session, functional_session, host_session])
def test_a_run_goes_on_where_it_stopped(make, monkeypatch):
    monkeypatch.setattr("adastack.deep.gym_session.RESTART", 2)
    monkeypatch.setattr("adastack.deep.functional_session.FunctionalTrainer", shared_trainer)
    monkeypatch.setattr("adastack.deep.finite_session.LOG_BYTES", 1)  # One update in a chunk.
    monkeypatch.setattr(
        RecurrentFiniteSession, "make_trainer", lambda *_: shared_finite(MAZE, TINY)
    )
    whole = make()
    if make is host_session:
        monkeypatch.setattr("adastack.deep.gym_session.HostTrainer", lambda *_: whole.agent)
    first, second = make(), make()
    for session in (whole, first):
        session.start()
    advance(whole, 4)
    advance(first, 2)
    assert first.savable
    arrays, meta = first.checkpoint()
    if make is not host_session:  # Whose environments begin anew where it is saved.
        (name, *_) = (name for name in arrays if name.endswith(".carry"))
        assert np.asarray(arrays[name]).any()
        with pytest.raises(ValueError, match="must be finite"):
            make().restore({**arrays, name: np.full_like(arrays[name], np.nan)}, meta)
    second.restore(arrays, meta)
    advance(second, 2)
    assert_same_arrays(whole.checkpoint()[0], second.checkpoint()[0])
    assert whole.evaluate(None, 6, True, 0) == second.evaluate(None, 6, True, 0)


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
def test_a_hybrid_is_trained_from_the_command_line(tmp_path):
    result = train(
        task=MAZE, memory="adaptive", stack_size=2, algo="ppo", preset="default", steps=100,
        seeds=[0], path=tmp_path / "run", resume=False, progress=Silent(),
        overrides={**{n: getattr(TINY, n) for n in ("hidden", "n_envs", "n_steps", "batch_size")},
                   "n_epochs": 1, "cell": "lru", "net": "lstm"},
    )  # fmt: skip
    (row,) = result["seeds"]
    assert 0 <= row["success"] <= 1
    assert row["attempts"] == 100


@pytest.mark.slow
def test_bits_are_remembered_on_the_host():
    agent = Agent(Recall, "none", cell="lstm", preset="paper", **FAST)
    agent.learn(30_000, progress=False)
    assert agent.evaluate(64)["success"] >= 0.99


def test_a_table_has_no_cell():
    with pytest.raises(ValueError, match="algo sarsa learns a table: cell is for ppo and grpo"):
        Agent(MAZE, algo="sarsa", cell="gru")
