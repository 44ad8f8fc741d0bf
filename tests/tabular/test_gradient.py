"""The policy gradients, against gradients that are computed exactly."""

from dataclasses import replace

import numpy as np
import pytest

from adastack.tabular import GradientSettings, Session
from adastack.tabular.moves import BATCH_STEPS, SEGMENTS
from adastack.tasks import passive_tmaze
from tabular.tiny import noisy_choice

NEVER = 10**9
"""A batch that is never full, so that the estimate can be looked at."""


def softmax(theta):
    weights = np.exp(theta - theta.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def entropies(chances):
    return -(chances * np.log(chances)).sum(axis=1)


def episodic_objective(session, theta, gamma, beta):
    """Expected discounted reward plus entropy, by following every trajectory of the task."""
    induced, chances = session.induced, softmax(theta)
    task, entropy = induced.task, entropies(chances)

    def value(state, agent):
        total = beta * entropy[agent]
        for action, chance in enumerate(chances[agent]):
            memory, act = divmod(action, task.n_actions)
            for outcome, probability in enumerate(task.probability[state, act]):
                after = task.next_state[state, act, outcome]
                worth = task.reward[state, act, outcome]
                if not task.ends[state, act, outcome]:
                    following = induced.push[agent, memory, task.observation[after]]
                    worth += gamma * value(after, following)
                total += chance * probability * worth
        return total

    starts = [(s, p) for s, p in enumerate(task.start) if p > 0]
    return sum(p * value(s, induced.first[task.observation[s]]) for s, p in starts)


def average_objective(session, theta, beta):
    """The average of reward plus entropy, by the stationary distribution of M_k."""
    induced, chances = session.induced, softmax(theta)
    task, n = induced.task, len(induced.pair_state)
    pairs = {
        (s, a): i
        for i, (s, a) in enumerate(zip(induced.pair_state, induced.pair_agent, strict=True))
    }
    transition, reward = np.zeros((n, n)), beta * entropies(chances)[induced.pair_agent]
    for (state, agent), i in pairs.items():
        for action, chance in enumerate(chances[agent]):
            memory, act = divmod(action, task.n_actions)
            reward[i] += chance * task.reward[state, act, 0]
            ended = task.ends[state, act, 0]
            starts = np.flatnonzero(task.start)
            after = starts if ended else [task.next_state[state, act, 0]]
            for s in after:
                following = induced.push[agent, memory, task.observation[s]]
                share = task.start[s] if ended else 1.0
                transition[i, pairs[s, following]] += chance * share
    # The mean over a whole period of a periodic chain, from any start.
    visits = np.ones(n) / n
    for _ in range(12):
        transition, visits = transition @ transition, (visits + visits @ transition) / 2
    return visits @ reward


def slopes(objective, theta, step=1e-5):
    found = np.zeros_like(theta)
    for index in np.ndindex(theta.shape):
        above, below = theta.copy(), theta.copy()
        above[index] += step
        below[index] -= step
        found[index] = (objective(above) - objective(below)) / (2 * step)
    return found


def estimates(session, theta, share):
    """(seeds, agents, actions): what each seed estimates after the whole run."""
    session.arrays["theta"][:] = theta.ravel()
    session.advance(session.blocks)
    total = session.arrays["gradient"].reshape(len(session.seeds), *theta.shape)
    return total / session.arrays["place"][:, share, None, None]


@pytest.mark.parametrize("baseline_rate", [0.0, 0.1])
@pytest.mark.parametrize("memory", ["adaptive", "none"])
def test_reinforce_is_unbiased(memory, baseline_rate):
    k = 2 if memory == "adaptive" else 1
    settings = GradientSettings(
        gamma=0.7, entropy=0.3, entropy_end=0.3, batch=NEVER, baseline_rate=baseline_rate
    )
    session = Session(noisy_choice(), memory, k, "reinforce", settings, 20_000, range(64))
    shape = (session.induced.n_agent_states, session.width)
    theta = np.random.default_rng(0).normal(size=shape)
    exact = slopes(lambda t: episodic_objective(session, t, 0.7, 0.3), theta)
    found = estimates(session, theta, SEGMENTS)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert np.abs(exact).max() > 0.02
    assert (np.abs(found.mean(axis=0) - exact) < 5 * error + 1e-9).all()
    assert error.max() < 0.1 * np.abs(exact).max()


@pytest.mark.parametrize("segment", ["block", "cycle"])
def test_the_average_reward_gradient_is_nearly_unbiased(segment):
    settings = GradientSettings(
        entropy=0.1, entropy_end=0.1, batch=NEVER, segment=segment, block=400, block_end=400
    )
    task = passive_tmaze(2, continual=True)
    session = Session(task, "adaptive", 2, "average-reinforce", settings, 200_000, range(32))
    shape = (session.induced.n_agent_states, session.width)
    theta = np.random.default_rng(1).normal(size=shape)
    exact = slopes(lambda t: average_objective(session, t, 0.1), theta)
    found = estimates(session, theta, BATCH_STEPS)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    size = np.abs(exact).max()
    assert size > 0.01
    # A block is cut at its ends and a cycle's mean is estimated: a few percent of bias remain.
    assert (np.abs(found.mean(axis=0) - exact) < 5 * error + 0.05 * size).all()


def test_parameters_stay_in_the_ball():
    settings = GradientSettings(step_size=50.0, radius=2.0)
    session = Session(passive_tmaze(4), "adaptive", 2, "reinforce", settings, 20_000, range(3))
    session.advance(session.blocks)
    norms = np.linalg.norm(session.arrays["theta"], axis=1)
    assert (norms <= 2 + 1e-9).all()
    assert (norms > 1.9).all()


def test_reinforce_in_pieces_is_the_same():
    settings = GradientSettings(batch=3, baseline_rate=0.1)
    whole = Session(passive_tmaze(5), "adaptive", 2, "reinforce", settings, 5_000, [4])
    pieces = Session(passive_tmaze(5), "adaptive", 2, "reinforce", settings, 5_000, [4, 5])
    whole.advance(50)
    for _ in range(10):
        pieces.advance(5)
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(array[0], pieces.arrays[name][0], err_msg=name)


def test_an_episode_that_does_not_end_is_cut_at_the_horizon():
    stuck = replace(passive_tmaze(64), time_limit=None)
    settings = GradientSettings(horizon=10, block=1, block_end=1)
    session = Session(stuck, "adaptive", 2, "reinforce", settings, 1000, [0])
    session.advance(10)
    assert session.curves()["attempts"].sum() == 100


@pytest.mark.parametrize(("algo", "continual"), [("reinforce", True), ("average-reinforce", False)])
def test_the_wrong_kind_of_task_is_refused(algo, continual):
    with pytest.raises(ValueError, match=f"^{algo} expects an? .* task, actual: passive-tmaze"):
        Session(passive_tmaze(4, continual=continual), "frame", 2, algo, GradientSettings(), 9, [0])
