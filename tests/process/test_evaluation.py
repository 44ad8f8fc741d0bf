"""Playing policies: against a slow player, on tasks of any length, and what they remember."""

import numpy as np
import pytest

from adastack.memory.reference import ReferenceStack
from adastack.memory.regret import regrets
from adastack.process.evaluation import Evaluator
from adastack.tasks import FiniteTask, active_tmaze, passive_tmaze, xormaze
from adastack.tasks.tmaze import BLUE, DOWN, GREEN, GREY, LEFT, RED, RIGHT, UP
from adastack.theory.kappa import quick_optimum


def waiting_room():
    """Action 0 waits and pays 1; action 1 leaves and pays nothing."""
    return FiniteTask(
        name="waiting-room",
        observation=np.array([0, 1]),
        next_state=np.array([[[0], [1]], [[1], [1]]]),
        probability=np.ones((2, 2, 1)),
        reward=np.array([[[1.0], [0.0]], [[0.0], [0.0]]]),
        ends=np.array([[[False], [True]], [[True], [True]]]),
        start=np.array([1.0, 0.0]),
        observation_names=("room", "street"),
        action_names=("wait", "leave"),
    )


def test_waiting_for_ever_is_worth_its_discounted_sum():
    """A policy that never ends its attempt is cut, not counted as one round of its loop."""
    gamma = 0.9
    evaluator = Evaluator(waiting_room(), "none", 1, gamma, quick_optimum)
    evaluated = evaluator.play(
        lambda stack: np.array([1.0, 0.0]), deterministic=True, episodes=3, seed=0
    )
    assert evaluated.discounted == pytest.approx(1 / (1 - gamma))
    assert not evaluated.exact
    assert evaluator.summary(evaluated)["optimality"] == pytest.approx(1)


def test_a_loop_is_counted_as_whole_rounds():
    """Between the corridor's last cell and the junction: a round is two steps, one in each."""
    evaluator = Evaluator(active_tmaze(5, continual=True), "none", 1)
    played = evaluator.play(
        lambda stack: np.eye(4)[LEFT if stack[0] == BLUE else RIGHT],
        deterministic=True, episodes=3, seed=0,
    )  # fmt: skip
    assert (played.exact, played.success, played.steps) == (True, 0.0, 2.0)
    assert played.remembered[[GREY, BLUE], 0].tolist() == [1, 1]


def test_leaving_at_once_is_worth_nothing_exactly():
    evaluator = Evaluator(waiting_room(), "none", 1, 0.9)
    evaluated = evaluator.play(
        lambda stack: np.array([0.0, 1.0]), deterministic=True, episodes=3, seed=0
    )
    assert (evaluated.exact, evaluated.discounted, evaluated.steps) == (True, 0.0, 1.0)


def keeper(k, n_memory, empty=4):
    """Keeps the last cue, gives up an empty slot or else the newest, goes where the cue says."""

    def decide(stack):
        memory_action = 0
        if n_memory == k:
            slots = [i for i in range(k) if stack[i] not in (RED, GREEN)] or [0]
            memory_action = stack.index(empty) if empty in stack else slots[-1]
        return np.eye(n_memory * 4)[memory_action * 4 + (UP if RED in stack else DOWN)]

    return decide


def play(evaluator, decide, deterministic=True, episodes=100, seed=0):
    return evaluator.play(decide, deterministic=deterministic, episodes=episodes, seed=seed)


@pytest.mark.parametrize("length", [2, 3, 16, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_keeper_solves_the_passive_maze_at_any_length(length):
    evaluator = Evaluator(passive_tmaze(length), "adaptive", 2)
    evaluated = play(evaluator, keeper(2, 2))
    assert (evaluated.exact, evaluated.success, evaluated.steps) == (True, 1.0, length)
    assert evaluated.per_step["memory_regret"] == pytest.approx(
        1 / length
    )  # Nothing is in memory at first.
    lost = evaluated.per_attempt
    assert lost["active_regret"] == lost["passive_regret"] == lost["memory_regret_after"] == 0
    assert evaluator.summary(evaluated)["discounted_return"] == pytest.approx(0.99 ** (length - 1))
    assert evaluated.agent_states <= 6
    remembered = evaluator.summary(evaluated)["remembered"]
    for cue in ("red", "green"):
        assert remembered[cue] == {
            "kept_steps": length - 1,
            "at_decision": 0.5,
            "age_at_decision": length - 1,
        }


def test_a_frame_stack_forgets_the_cue_of_a_long_maze():
    decide = keeper(16, 1)
    assert play(Evaluator(passive_tmaze(16), "frame", 16), decide).success == 1
    evaluator = Evaluator(passive_tmaze(50_000), "frame", 16)
    evaluated = play(evaluator, decide)
    assert (evaluated.success, evaluated.per_attempt["passive_regret"]) == (0.5, 1)
    remembered = evaluator.summary(evaluated)["remembered"]
    assert remembered["red"] == {"kept_steps": 15, "at_decision": 0, "age_at_decision": None}
    # The corridor fills the other slots; those that are left at the end are 1 to 15 steps old.
    assert remembered["grey"]["at_decision"] == 15
    assert remembered["grey"]["age_at_decision"] == 8


def fixed(stack):
    """Some policy on three slots, so that two players do the same."""
    return np.eye(12)[(7 * stack[0] + 5 * stack[1] + 3 * stack[2]) % 12]


@pytest.mark.parametrize("task", [active_tmaze(4), xormaze()], ids=lambda t: t.name)
def test_counts_match_a_slow_player(task):
    evaluator = Evaluator(task, "adaptive", 3)
    evaluated = play(evaluator, fixed)
    seen, rows = set(), []
    for state in task.start_states:
        rows.append(task.start[state] * slow_attempt(task, int(state), seen))
    sums = np.sum(rows, axis=0)
    assert evaluated.exact
    assert evaluated.agent_states == len(seen)
    assert (evaluated.steps, evaluated.reward) == pytest.approx((sums[0], sums[1]))
    assert evaluated.per_step["memory_regret"] == pytest.approx(sums[2] / sums[0])
    lost = evaluated.per_attempt
    assert (lost["active_regret"], lost["passive_regret"]) == pytest.approx((sums[3], sums[4]))
    np.testing.assert_allclose(evaluated.remembered.ravel(), sums[5:])


def slow_attempt(task, state, seen):
    """Steps, reward, regrets and what was remembered, with the reference memory."""
    stack, ages = ReferenceStack("adaptive", 3, padding=task.empty), [0, 0, 0]
    stack.reset(int(task.observation[state]))
    sums, remembered = np.zeros(5), np.zeros((task.n_observations + 1, 4))
    for step in range(1, task.time_limit + 1):
        memory_action, action = divmod(int(fixed(stack.slots).argmax()), 4)
        over = bool(task.ends[state, action, 0]) or step == task.time_limit
        found = regrets(
            np.array([stack.slots]), np.array([memory_action]), task.cue[state][None],
            np.array([over]),
        )  # fmt: skip
        counts = [int(part[0]) for part in (found.memory, found.active, found.passive)]
        sums += [1, task.reward[state, action, 0], *counts]
        seen.add(tuple(stack.slots))
        state, before = int(task.next_state[state, action, 0]), list(stack.slots)
        if over:
            break
        slot = stack.push(memory_action, int(task.observation[state]))
        remembered[before[slot], :2] += 1, ages[slot]
        ages = [age + 1 for i, age in enumerate(ages) if i != slot] + [0]
    for i, symbol in enumerate(before):
        remembered[symbol, :2] += 1, ages[i]
        remembered[symbol, 2:] += (1, ages[i]) if i < 2 else (0, 0)
    return np.concatenate([sums, remembered[:-1].ravel()])


def test_what_a_continual_agent_remembers_outlives_its_attempts(monkeypatch):
    """Attempts last five steps; a slot that is never given up is as old as the whole walk."""
    watched = 10
    monkeypatch.setattr("adastack.process.attempts.ATTEMPTS_WATCHED", watched)
    evaluator = Evaluator(passive_tmaze(5, continual=True), "adaptive", 2)

    def hoarder(stack):  # Gives up the newest: what came first stays for ever.
        memory_action = stack.index(4) if 4 in stack else 1
        return np.eye(8)[memory_action * 4 + UP]

    evaluated = play(evaluator, hoarder)
    assert evaluated.exact
    assert evaluated.success == pytest.approx(0.5)
    remembered = evaluator.summary(evaluated)["remembered"]
    (kept,) = [remembered[name] for name in ("red", "green") if remembered[name]["at_decision"]]
    assert kept["at_decision"] == 1
    assert kept["age_at_decision"] == np.mean([5 * attempt + 4 for attempt in range(watched)])


def test_the_same_seed_plays_the_same():
    evaluator = Evaluator(xormaze(), "adaptive", 3)

    def uniform(stack):
        return np.full(12, 1 / 12)

    first, again, other = (play(evaluator, uniform, deterministic=False, seed=s) for s in (1, 1, 2))
    assert (first.steps, first.reward) == (again.steps, again.reward)
    assert first.steps != other.steps
    np.testing.assert_array_equal(first.remembered, again.remembered)


@pytest.mark.parametrize("continual", [False, True])
def test_a_perfect_policy_is_optimal_and_needs_no_more_stacks_than_it_must(continual):
    evaluator = Evaluator(passive_tmaze(9, continual=continual), "adaptive", 2, solve=quick_optimum)
    summary = evaluator.summary(play(evaluator, keeper(2, 2)))
    assert summary["optimality"] == pytest.approx(1)
    assert summary["success"] == summary["return"] == pytest.approx(1)
    assert summary["reward_rate"] == pytest.approx(1000 / 9)
    assert summary["abstraction"] >= 0
