"""Induced against sets of (state, tuple) built with the reference stack."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.memory import RULES, ReferenceStack
from adastack.process import TooLargeError, induce
from adastack.tasks import active_tmaze, make_task, passive_tmaze, pomdp, xormaze
from tasks.random_tasks import random_task


def pushed(rule, stack, memory_action, symbol, empty):
    reference = ReferenceStack(rule, len(stack), padding=empty)
    reference.slots = list(stack)
    reference.births = [None if held == empty else 0 for held in stack]
    reference.push(memory_action, symbol)
    return tuple(reference.slots)


def brute_force(task, rule, k):
    """Everything reachable, whatever is done and whatever happens, in plain Python."""
    starts = [s for s in range(task.n_states) if task.start[s] > 0]
    first = {
        int(task.observation[s]): (task.empty,) * (k - 1) + (int(task.observation[s]),)
        for s in starts
    }
    pairs = {(s, first[int(task.observation[s])]) for s in starts}
    pushes, todo = {}, list(pairs)
    while todo:
        state, stack = todo.pop()
        after = set()
        for action in range(task.n_actions):
            for outcome in range(task.n_outcomes):
                at = (state, action, outcome)
                if task.probability[at] == 0:
                    continue
                if not task.ends[at]:
                    after.add(int(task.next_state[at]))
                elif task.continual:
                    after.update(starts)
        for memory_action in range(RULES[rule].actions(k)):
            for state_after in after:
                symbol = int(task.observation[state_after])
                stack_after = pushed(rule, stack, memory_action, symbol, task.empty)
                pushes[stack, memory_action, symbol] = stack_after
                if (state_after, stack_after) not in pairs:
                    pairs.add((state_after, stack_after))
                    todo.append((state_after, stack_after))
    return pairs, pushes, first


def assert_equals_brute_force(task, rule, k):
    induced = induce(task, rule, k)
    pairs, pushes, first = brute_force(task, rule, k)
    stacks = [tuple(stack) for stack in induced.stacks.tolist()]
    found = [
        (state, stacks[agent])
        for state, agent in zip(
            induced.pair_state.tolist(), induced.pair_agent.tolist(), strict=True
        )
    ]
    assert len(found) == len(set(found)) == induced.n_pairs
    assert set(found) == pairs
    assert len(stacks) == len(set(stacks)) == induced.n_agent_states
    assert set(stacks) == {stack for _, stack in pairs}
    for agent, stack in enumerate(stacks):
        assert induced.find(stack) == agent
        for memory_action in range(induced.n_memory_actions):
            for symbol in range(task.n_observations):
                after = induced.push[agent, memory_action, symbol]
                expected = pushes.get((stack, memory_action, symbol))
                assert (stacks[after] if after >= 0 else None) == expected
    for symbol in range(task.n_observations):
        after = induced.first[symbol]
        assert (stacks[after] if after >= 0 else None) == first.get(symbol)


TASKS = [
    passive_tmaze(4),
    passive_tmaze(4, random_length=True, continual=True),
    active_tmaze(4),
    active_tmaze(3, continual=True),
    xormaze(),
    xormaze(continual=True),
    make_task("key-order"),
    make_task("heaven-hell"),
    make_task("repeat-first:length=4,suits=2"),
    make_task("memory-length:length=3,bits=2"),
    pomdp("tiger"),
    pomdp("tmaze"),
]
MEMORIES = [
    *(("adaptive", k) for k in (1, 2, 3)),
    *(("frame", k) for k in (1, 2, 4)),
    *(("push_skip", k) for k in (1, 2, 3)),
    *(("push_skip_unseen", k) for k in (1, 2, 3)),
    ("none", 1),
]


@pytest.mark.parametrize(("rule", "k"), MEMORIES)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_induced_is_what_brute_force_finds(task, rule, k):
    assert_equals_brute_force(task, rule, k)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(MEMORIES), st.booleans(), st.integers(1, 8))
def test_induced_is_what_brute_force_finds_on_random_tasks(seed, memory, continual, n_states):
    task = random_task(seed, n_states=n_states, continual=continual)
    assert_equals_brute_force(task, *memory)


@pytest.mark.parametrize(
    ("task", "rule", "k", "count"),
    [
        (passive_tmaze(16), "adaptive", 2, 10),
        (passive_tmaze(16), "frame", 16, 32),
        (active_tmaze(6), "frame", 6, 252),
        (active_tmaze(6, continual=True), "adaptive", 2, 20),
        (active_tmaze(16, continual=True), "adaptive", 2, 20),
        (xormaze(), "adaptive", 3, 39),
    ],
)
def test_published_counts_of_agent_states(task, rule, k, count):
    assert induce(task, rule, k).n_agent_states == count


def test_what_is_too_large_is_refused_with_its_size():
    with pytest.raises(TooLargeError, match=r"more than 1,000 reachable .* smaller stack_size"):
        induce(active_tmaze(6), "frame", 12, max_pairs=1000)
    n_pairs = induce(passive_tmaze(5)).n_pairs
    assert induce(passive_tmaze(5), max_pairs=n_pairs).n_pairs == n_pairs
    with pytest.raises(TooLargeError):
        induce(passive_tmaze(5), max_pairs=n_pairs - 1)


def test_stacks_have_names_and_numbers():
    induced = induce(passive_tmaze(5), "adaptive", 2)
    assert induced.label(induced.find((2, 0))) == "red | grey"
    assert induced.label(induced.find((4, 3))) == "- | green"
    assert induced.find((1, 1)) == -1


@pytest.mark.parametrize(
    ("rule", "k", "error", "message"),
    [
        ("adaptive", 0, ValueError, "stack_size must be at least 1, actual: 0"),
        ("adaptive", 2.0, TypeError, "stack_size must be an integer, actual: 2.0"),
        ("queue", 2, ValueError, "expected a memory rule of .*, actual: 'queue'"),
        ("none", 2, ValueError, "rule 'none' expects stack_size 1, actual: 2"),
    ],
)
def test_wrong_memories(rule, k, error, message):
    with pytest.raises(error, match=message):
        induce(passive_tmaze(5), rule, k)
