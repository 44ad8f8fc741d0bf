"""Decisions wait for their outcome: each is learned from once, with what followed it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adastack.deep.finite import FiniteTrainer
from adastack.deep.gae import decision_advantages
from adastack.deep.settings import PRESETS
from adastack.deep.unsettled import MOST, Chain, no_decisions, settled, unsettled
from adastack.deep.waits import Decided
from adastack.process.induced import induce
from adastack.process.policy import memory_rule
from adastack.tasks.registry import resolve
from adastack.training import RunSpec, make_session

pytestmark = pytest.mark.usefixtures("programs_are_compiled_once")
LAMBDA = 0.8


def flags(*rows):
    return jnp.asarray(rows, bool).T


def decided(done, paid=None):
    done = jnp.asarray(done, bool)[:, None]
    paid = jnp.zeros(done.shape) if paid is None else jnp.asarray(paid, jnp.float32)[:, None]
    return Decided(done, paid, jnp.ones(done.shape))


def test_where_no_wait_stands_all_decisions_are_learned_from():
    made = decided([1, 0, 1])
    none = jnp.zeros((3, 1), bool)
    assert settled(made, none, jnp.asarray([False])).ravel().tolist() == [True, False, True]


def test_before_a_standing_wait_only_those_with_an_outcome_are():
    made = decided([1, 1, 1, 1, 0], [0, 0, 1, 0, 0])
    none, waits = jnp.zeros((5, 1), bool), jnp.asarray([True])
    # The reward of the third settles the ones before it, too.
    assert settled(made, none, waits).ravel().tolist() == [True, True, True, False, False]
    over = none.at[3].set(True)
    assert settled(made, over, waits).ravel().tolist() == [True, True, True, True, False]


def test_nothing_waits_for_more_than_so_many_decisions():
    n = MOST + 3
    found = settled(decided([1] * n), jnp.zeros((n, 1), bool), jnp.asarray([True]))
    assert found.ravel().tolist() == [True] * 3 + [False] * MOST


def stream(rng, steps, n_envs):
    """Steps of some environments: rare decisions, rarer rewards and ends."""
    done = rng.random((steps, n_envs)) < 0.15
    over = done & (rng.random((steps, n_envs)) < 0.1)
    paid = np.where(done & (rng.random((steps, n_envs)) < 0.2), 1.0, 0.0).astype(np.float32)
    number = np.arange(1, steps * n_envs + 1).reshape(steps, n_envs).astype(np.int32)
    discount = rng.uniform(0.5, 1, (steps, n_envs)).astype(np.float32)
    log_prob = -number[..., None].astype(np.float32)
    held = np.zeros((steps, n_envs, 0), np.uint32)
    return Chain(number, number, log_prob, number + 1, over, over, held,
                 Decided(done, paid, discount))  # fmt: skip


def plain_advantages(chain, env, upto):
    """Of one environment's decisions in its first steps, by the definition; values are 0.1 * n."""
    found, later = {}, 0.0
    made = chain.decided
    for t in np.flatnonzero(made.done[:upto, env])[::-1]:
        stops = chain.over[t, env]
        value, following = 0.1 * chain.agent[t, env], 0.1 * chain.following[t, env]
        delta = made.paid[t, env] + made.discount[t, env] * (0 if stops else following) - value
        later = delta + (0 if stops else LAMBDA * made.discount[t, env] * later)
        found[int(chain.agent[t, env])] = later
    return found


def test_each_decision_is_learned_from_once_with_what_followed_it():
    rng, n_envs, length, rollouts = np.random.default_rng(0), 3, 10, 30
    everything = stream(rng, length * rollouts, n_envs)
    chain, seen = no_decisions(n_envs, 1, 0), {}
    settle, leave = jax.jit(settled), jax.jit(unsettled)
    advantages = jax.jit(
        lambda chain: decision_advantages(
            chain.decided, 0.1 * chain.agent, 0.1 * chain.following, chain.terminated, chain.over,
            LAMBDA,
        )
    )  # fmt: skip
    for i in range(rollouts):
        now = jax.tree.map(lambda x, i=i: x[i * length : (i + 1) * length], everything)
        chain = jax.tree.map(lambda *parts: np.concatenate(parts), chain, now)
        waiting = ~now.decided.done[-1]
        learned = np.asarray(settle(chain.decided, chain.over, waiting))
        advantage = np.asarray(advantages(chain))
        for t, env in np.argwhere(learned):
            number = int(chain.agent[t, env])
            assert number not in seen
            seen[number] = i
            assert chain.log_prob[t, env, 0] == -number
            # What came before the first decision that is still there does not matter.
            expected = plain_advantages(everything, env, (i + 1) * length)[number]
            assert float(advantage[t, env]) == pytest.approx(expected, rel=1e-3, abs=1e-3)
        chain = leave(chain, learned)
        assert chain.agent.shape == (MOST, n_envs)
    waiting = set(np.asarray(chain.agent)[np.asarray(chain.decided.done)].tolist())
    made = set(everything.agent[everything.decided.done].tolist())
    assert made == set(seen) | waiting
    assert not waiting & set(seen)
    assert max(seen.values()) > min(seen.values())


@pytest.mark.slow
def test_what_a_rollout_leaves_over_is_learned_from_in_a_later_one():
    """In a corridor longer than the rollouts, the choice at the cue waits for the junction."""
    task = resolve("passive-tmaze:length=150,continual=true").finite()
    trainer = FiniteTrainer(induce(task, memory_rule("adaptive", True), 2), PRESETS["default"])
    learner, seeds = trainer.init([0]), jnp.asarray([0])
    left = []
    for update in range(4):
        learner, _, _ = trainer.chunk(learner, seeds, update, 1, 4, capacity=1)
        left.append(int(learner.chain.decided.done.sum()))
    assert left[0] >= 16, "all environments are in the corridor, and nothing was paid yet"
    cues = learner.chain.agent[learner.chain.decided.done]
    assert len(cues), "and so they are in the next attempt"


@pytest.mark.slow
def test_a_resumed_run_has_the_decisions_that_were_waiting():
    spec = RunSpec(
        task="passive-tmaze:length=150,continual=true", memory="adaptive", stack_size=2,
        algo="ppo", preset="default", steps=8000, seeds=[0], overrides={},
    )  # fmt: skip
    first, second = (make_session(spec.document()) for _ in range(2))
    first.start()
    first.advance()  # One update.
    arrays, meta = first.checkpoint()
    waiting = next(arrays[name] for name in arrays if name.endswith("chain.decided.done"))
    assert waiting.any()
    second.restore(arrays, meta)
    for session in (first, second):
        while not session.finished:
            session.advance()
    for ours, theirs in zip(
        jax.tree.leaves(first.learner), jax.tree.leaves(second.learner), strict=True
    ):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
