"""Values of stack policies against exact arithmetic and dense solves."""

from fractions import Fraction

import numpy as np
import pytest

from adastack.process import induce
from adastack.tasks import active_tmaze, passive_tmaze, xormaze
from adastack.theory.kappa import kappa
from adastack.theory.values import policy_table, stack_values, uniform_policy
from theory.plain import pair_values, random_task, reachable_stacks

GREY, RED = 0, 2


def kept_cue(length, continual=False):
    """A Passive-TMaze with AS(2) and the policy that keeps the cue."""
    task = passive_tmaze(length, continual=continual)
    induced = induce(task, "adaptive", 2)
    return induced, policy_table(induced, kappa(task).policy)


def walked(corridor, gamma):
    """Exact values of (cue, grey) at each grey cell: so many steps to the junction, then +1."""
    return [gamma**steps for steps in range(corridor, 0, -1)]


@pytest.mark.parametrize("gamma", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
def test_the_papers_worked_example(gamma):
    """L = 3: V_2(cue, grey) = (g^3 + g^2 + g) / 3 while V* = g^3."""
    cells = walked(3, gamma)
    assert cells == [gamma**3, gamma**2, gamma]
    induced, policy = kept_cue(5)
    found = stack_values(induced, policy, float(gamma))
    agent = induced.find((RED, GREY))
    assert found.agent[agent] == pytest.approx(float(sum(cells) / 3), rel=1e-14)
    behind = np.flatnonzero((induced.pair_agent == agent) & (found.share > 0))
    assert found.share[behind] == pytest.approx([1 / 3] * 3)
    assert sorted(found.pair[behind]) == pytest.approx(sorted(map(float, cells)), rel=1e-14)


def test_continual_values_in_closed_form():
    gamma, length = 0.9, 7
    induced, policy = kept_cue(length, continual=True)
    found = stack_values(induced, policy, gamma)
    at_cue = gamma ** (length - 1) / (1 - gamma**length)
    assert found.start == pytest.approx(at_cue)
    in_corridor = np.mean([at_cue / gamma**step for step in range(1, length - 1)])
    assert found.agent[induced.find((RED, GREY))] == pytest.approx(in_corridor)
    average = stack_values(induced, policy, criterion="average")
    assert average.start == pytest.approx(1 / length)
    # A cycle of one reward: differential values rise by 1/length at each step, mean zero.
    rising = (np.arange(length) - (length - 1) / 2) / length
    assert average.agent[induced.find((RED, GREY))] == pytest.approx(np.mean(rising[1:-1]))


def test_an_agent_that_waits_for_ever_is_met_there():
    """An episode that never ends counts where it stays, not where it came through."""
    task = active_tmaze(4)
    induced = induce(task, "none", 1)
    stay = np.ones(induced.n_agent_states, int)  # right: the junction's wall
    found = stack_values(induced, stay, 0.9)
    assert found.start == 0
    junction = induced.pair_agent == induced.find((1,))
    assert found.share[junction].sum() == pytest.approx(1)
    assert np.isnan(found.agent[induced.find((RED,))])


@pytest.mark.parametrize("continual", [False, True])
@pytest.mark.parametrize("rule", ["adaptive", "frame", "push_skip"])
def test_random_policies_agree_with_a_dense_solve(rule, continual):
    task = xormaze(continual)
    induced = induce(task, rule, 2)
    rng = np.random.default_rng(3)
    joint = induced.n_memory_actions * task.n_actions
    policy = rng.dirichlet(np.ones(joint), induced.n_agent_states)
    found = stack_values(induced, policy, 0.8)
    plain = {
        tuple(stack): [(p, j % 4, j // 4) for j, p in enumerate(row)]
        for stack, row in zip(induced.stacks.tolist(), policy, strict=True)
    }
    pairs = reachable_stacks(task, rule, 2)
    order, chain, values = pair_values(task, rule, plain, pairs, 0.8)
    assert len(order) == induced.n_pairs
    place = {
        (int(s), tuple(induced.stacks[m].tolist())): i
        for i, (s, m) in enumerate(zip(induced.pair_state, induced.pair_agent, strict=True))
    }
    assert found.pair[[place[pair] for pair in order]] == pytest.approx(values)
    begins = np.array([task.start[s] * (stack.count(task.empty) == 1) for s, stack in order])
    counts, now = np.zeros(len(order)), begins
    for _ in range(3000):
        counts += now
        now = now @ chain
    assert found.start == pytest.approx(begins @ values)
    for agent, stack in enumerate(map(tuple, induced.stacks.tolist())):
        behind = [i for i, (_, other) in enumerate(order) if other == stack]
        expected = counts[behind] @ values[behind] / counts[behind].sum()
        assert found.agent[agent] == pytest.approx(expected, rel=2e-2, abs=2e-3)


def test_deterministic_and_stochastic_forms_agree():
    task = random_task(1, states=6)
    induced = induce(task, "adaptive", 2)
    table = np.random.default_rng(0).integers(4, size=induced.n_agent_states)
    one, two = stack_values(induced, table, 0.9), stack_values(induced, np.eye(4)[table], 0.9)
    assert np.array_equal(one.pair, two.pair)


def test_bad_policies_are_named():
    induced = induce(xormaze(), "adaptive", 2)
    with pytest.raises(ValueError, match=r"must have shape \(12,\) or \(12, 8\), actual: \(3,\)"):
        stack_values(induced, np.zeros(3, int))
    with pytest.raises(ValueError, match=r"joint actions must be in 0\.\.7"):
        stack_values(induced, np.full(12, 8))
    with pytest.raises(ValueError, match="sum to 1"):
        stack_values(induced, uniform_policy(induced) * 2)
