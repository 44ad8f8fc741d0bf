"""Playing policies: against a slow player, and on tasks too long to enumerate."""

import numpy as np
import pytest

from adastack.deep.evaluate import Stage, best_return
from adastack.deep.simulate import play
from adastack.deep.tables import cue_classes
from adastack.memory import get_rule
from adastack.memory.reference import ReferenceStack
from adastack.tasks import active_tmaze, passive_tmaze, xormaze
from adastack.tasks.tmaze import DOWN, GREEN, RED, UP
from adastack.wrappers.metrics import regrets


def keeper(k, n_memory):
    """Keeps cues, gives up the newest or the empty slot, and goes where the cue says."""

    def policy(stacks):
        chances = np.zeros((len(stacks), n_memory * 4))
        for row, stack in zip(chances, stacks, strict=True):
            slots = [i for i in range(k) if stack[i] not in (RED, GREEN)]
            memory_action = slots[-1] if n_memory == k else 0
            if n_memory == k and 4 in stack:
                memory_action = list(stack).index(4)
            row[memory_action * 4 + (UP if RED in stack else DOWN)] = 1
        return chances

    return policy


def played(task, rule, k, policy, attempts=20, seed=1):
    return play(task, cue_classes(task), get_rule(rule), k, policy, attempts, seed)


@pytest.mark.parametrize("length", [2, 3, 16, 100_000])
def test_a_keeper_solves_the_passive_maze_at_any_length(length):
    task = passive_tmaze(length)
    found = played(task, "adaptive", 2, keeper(2, 2), attempts=5)
    assert (found.attempts, found.successes, found.steps) == (5, 5, 5 * length)
    assert found.memory_regret == 5  # Before the first step nothing is in memory yet.
    assert found.active_regret == found.passive_regret == 0
    ages = found.decision_age[[RED, GREEN]].sum()
    assert ages == 5 * (length - 1)
    assert found.agent_states <= 6


def test_a_frame_stack_forgets_the_cue_of_a_long_maze():
    policy = keeper(16, 1)
    assert played(passive_tmaze(16), "frame", 16, policy, 200).successes == 200
    long = played(passive_tmaze(50_000), "frame", 16, policy, 200)
    assert 60 <= long.successes <= 140
    assert long.passive_regret == 200
    assert long.decision_count[[RED, GREEN]].sum() == 0


@pytest.mark.parametrize(
    "task", [active_tmaze(4), active_tmaze(3, continual=True), xormaze()], ids=lambda t: t.name
)
def test_counts_match_a_slow_player(task):
    """A fixed table of actions by stack, so that both players do the same."""
    k = 3

    def policy(stacks):
        chances = np.zeros((len(stacks), 3 * 4))
        for row, stack in zip(chances, stacks, strict=True):
            row[(7 * int(stack[0]) + 5 * int(stack[1]) + 3 * int(stack[2])) % 12] = 1
        return chances

    found = played(task, "adaptive", k, policy, attempts=1, seed=4)
    # The policy is deterministic: one of the starts must give exactly these counts.
    slow = [_slow_attempt(task, k, policy, int(state)) for state in task.start_states]
    fast = (found.steps, found.reward, found.memory_regret, found.active_regret,
            found.passive_regret, found.agent_states)  # fmt: skip
    assert fast in slow


def _slow_attempt(task, k, policy, state):
    stack = ReferenceStack("adaptive", k, padding=task.empty)
    stack.reset(int(task.observation[state]))
    limit = task.time_limit or 4 * task.n_states + 1000 - 4 * task.n_states
    counts, seen, reward = np.zeros(3, int), set(), 0.0
    for step in range(1, limit + 1):
        joint = int(policy(np.array([stack.slots])).argmax())
        memory_action, action = divmod(joint, 4)
        over = bool(task.ends[state, action, 0]) or step == task.time_limit
        found = regrets(
            np.array([stack.slots]), np.array([memory_action]), task.cue[state][None],
            np.array([over]),
        )  # fmt: skip
        counts += [int(part[0]) for part in (found.memory, found.active, found.passive)]
        seen.add(tuple(stack.slots))
        reward += task.reward[state, action, 0]
        state = int(task.next_state[state, action, 0])
        if over:
            break
        stack.push(memory_action, int(task.observation[state]))
    return (step, reward, *counts.tolist(), len(seen))


def test_the_same_seed_plays_the_same():
    task = xormaze()

    def uniform(stacks):
        return np.full((len(stacks), 12), 1 / 12)

    first, again, other = (played(task, "adaptive", 3, uniform, seed=seed) for seed in (1, 1, 2))
    assert (first.steps, first.reward) == (again.steps, again.reward)
    assert first.steps != other.steps


def test_the_best_return_of_a_maze_is_one():
    for task in (passive_tmaze(500), active_tmaze(9), xormaze(), xormaze(continual=True)):
        assert best_return(task) == 1.0


def test_what_was_remembered_is_reported():
    report = Stage(passive_tmaze(9), "adaptive", 2).summary(keeper(2, 2), 50, 0)
    assert report["success"] == report["return"] == report["optimality"] == 1.0
    assert report["reward_rate"] == pytest.approx(1000 / 9)
    kept = report["remembered"]["red"]
    assert kept["kept_steps"] == kept["age_at_decision"] == 8
    assert kept["at_decision"] + report["remembered"]["green"]["at_decision"] == 1
    assert report["remembered"]["grey"]["kept_steps"] == 0
