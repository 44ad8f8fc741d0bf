"""Theorems 2 and 3 on random tasks that fulfil their premise, and where they fail without it."""

import numpy as np
import pytest

from adastack.process import induce
from adastack.tasks import make_task, passive_tmaze, xormaze
from adastack.theory.consistency import optimal_consistency, policy_consistency
from adastack.theory.kappa import kappa
from adastack.theory.question import Question
from adastack.theory.td import q_fixed_point, td_outcome, td_values
from adastack.theory.theorem_tasks import (
    blind_task,
    crossed_task,
    reactive_task,
)
from adastack.theory.theorems import partial_order
from adastack.theory.trials import branching_policies
from adastack.theory.values import policy_table, stack_values, uniform_policy
from theory.plain import outcomes, push

GAMMA = 0.9


@pytest.mark.parametrize("seed", range(12))
def test_theorem_2_holds_for_policies_that_keep_the_same_things(seed):
    task = blind_task(seed)
    induced = induce(task, "adaptive", 2)
    rng = np.random.default_rng(seed)
    agents, actions = induced.n_agent_states, task.n_actions
    keeps = rng.integers(induced.n_memory_actions, size=agents) * actions
    first = keeps + rng.integers(actions, size=agents)
    premises = 0
    for _ in range(20):
        second = np.where(
            rng.random(agents) < 0.2, keeps + rng.integers(actions, size=agents), first
        )
        for pair in ((first, second), (second, first)):
            found = partial_order(induced, *pair, GAMMA)
            premises += found.premise
            assert found.conclusion or not found.premise
    assert premises > 0
    assert policy_consistency(induced, first, GAMMA).consistent


def test_theorem_2_fails_for_value_consistent_policies_that_keep_different_things():
    induced, keeps, forgets = branching_policies()
    for policy in (keeps, forgets):
        assert policy_consistency(induced, policy, GAMMA).consistent
    found = partial_order(induced, keeps, forgets, GAMMA)
    assert found.premise
    assert not found.conclusion
    assert found.history == ("start", "left")
    assert found.values == pytest.approx((GAMMA * 1.0, GAMMA * 0.9))


def test_theorem_2_fails_without_value_consistency():
    induced = induce(crossed_task(), "none", 1)
    zero, one = np.zeros(4, int), np.ones(4, int)
    for pair in ((zero, one), (one, zero)):
        found = partial_order(induced, *pair, GAMMA)
        assert found.premise  # at every stack both answers are worth the same
        assert not found.conclusion
        assert len(found.history) == 2
        assert found.values == pytest.approx((1, 0))
    witness = policy_consistency(induced, zero, GAMMA).witness
    assert witness.values == pytest.approx((0, 1))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("make", [blind_task, lambda seed: reactive_task(seed, GAMMA)])
def test_theorem_3_holds_on_value_consistent_tasks(make, seed):
    task = make(seed)
    assert kappa(task, gamma=GAMMA).kappa == 1
    assert optimal_consistency(Question(task, 1, gamma=GAMMA)).consistent
    for k in (1, 2):
        found = td_outcome(induce(task, "adaptive", k), GAMMA)
        assert found.optimal
        assert found.value == pytest.approx(found.optimum)


def test_only_the_optimal_policy_of_a_reactive_task_is_consistent():
    induced = induce(reactive_task(0, GAMMA), "adaptive", 1)
    assert not policy_consistency(induced, uniform_policy(induced), GAMMA).consistent


@pytest.mark.parametrize(
    ("spec", "k", "optimal"),
    [
        ("passive-tmaze:length=5", 2, True),
        ("active-tmaze:length=4", 2, True),
        ("heaven-hell", 2, True),
        ("xormaze", 3, False),
        ("active-tmaze:length=4,continual=true", 2, False),
        ("repeat-first:length=6", 2, False),
        ("office", 2, False),
    ],
)
def test_where_q_learning_ends_on_our_tasks(spec, k, optimal):
    found = td_outcome(induce(make_task(spec), "adaptive", k))
    assert found.optimal == optimal
    assert (found.value == pytest.approx(found.optimum)) == optimal


def test_the_fixed_point_is_what_averaged_updates_converge_to():
    """Q-learning's expected update, swept in plain Python with frequencies found by stepping."""
    task, gamma, k = passive_tmaze(3), 0.8, 2
    induced = induce(task, "adaptive", k)
    empty = (task.empty,) * (k - 1)
    now = {
        (int(s), (*empty, int(task.observation[s]))): float(task.start[s])
        for s in task.start_states
    }
    counts = {}
    for _ in range(10):
        after = {}
        for (state, stack), mass in now.items():
            counts[state, stack] = counts.get((state, stack), 0.0) + mass
            for action in range(4):
                for evict in range(k):
                    for p, _, target in outcomes(task, state, action):
                        if target is not None:
                            pair = (
                                target,
                                push(task, "adaptive", stack, evict, int(task.observation[target])),
                            )
                            after[pair] = after.get(pair, 0.0) + mass * p / (4 * k)
        now = after
    table = {stack: np.zeros(4 * k) for _, stack in counts}
    for _ in range(200):
        fresh = {stack: np.zeros(4 * k) for stack in table}
        totals = dict.fromkeys(table, 0.0)
        for (state, stack), weight in counts.items():
            totals[stack] += weight
            for joint in range(4 * k):
                for p, r, target in outcomes(task, state, joint % 4):
                    ahead = 0.0
                    if target is not None:
                        ahead = max(
                            table[
                                push(
                                    task,
                                    "adaptive",
                                    stack,
                                    joint // 4,
                                    int(task.observation[target]),
                                )
                            ]
                        )
                    fresh[stack][joint] += weight * p * (r + gamma * ahead)
        table = {stack: fresh[stack] / totals[stack] for stack in table}
    found = q_fixed_point(induced, gamma=gamma)
    for stack, row in table.items():
        assert found[induced.find(stack)] == pytest.approx(row, abs=1e-9)


def test_td_values_lie_on_either_side_of_the_true_ones():
    """Not "generally lower": the fixed point of TD(0) may lie above V_k, or below."""
    signs = set()
    for seed in range(6):
        task = reactive_task(seed, GAMMA)
        induced = induce(task, "none", 1)
        policy = uniform_policy(induced)
        difference = td_values(induced, policy, GAMMA) - stack_values(induced, policy, GAMMA).agent
        signs |= set(np.sign(difference[np.abs(difference) > 1e-6]))
    assert signs == {-1.0, 1.0}


def test_td_values_are_exact_under_a_value_consistent_policy():
    task = xormaze()
    induced = induce(task, "adaptive", 3)
    policy = policy_table(induced, kappa(task).policy)
    found, exact = td_values(induced, policy), stack_values(induced, policy).agent
    met = ~np.isnan(exact)
    assert found[met] == pytest.approx(exact[met])
    assert np.array_equal(np.isnan(found), np.isnan(exact))
