"""M_k as the compiled learners read it: flat arrays, and what each step counts for.

A step's events are packed into one word, twelve bits for each counter, so that counting them costs
one addition; `unpack` takes up to 4095 steps apart again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.process.induced import Induced
from adastack.tasks.finite import FiniteTask, Ints

BITS = 12
FIELDS = ("attempts", "successes", "memory_regret", "active_regret", "passive_regret")
ATTEMPT, SUCCESS, MEMORY, ACTIVE, PASSIVE = (1 << (BITS * i) for i in range(len(FIELDS)))
FIELD = (1 << BITS) - 1

Words = NDArray[np.int64]


class Tables(NamedTuple):
    """The arrays that a step looks into."""

    observation: Ints
    """(states,): the observation of each state."""
    next_state: Ints
    """(states, actions, outcomes): where each outcome leads."""
    outcome_cdf: NDArray[np.float64]
    """(states, actions, outcomes): cumulative probabilities."""
    reward: NDArray[np.float64]
    """(states, actions, outcomes): what each outcome pays."""
    ends: NDArray[np.bool_]
    """(states, actions, outcomes): whether the attempt is over."""
    ending: Words
    """(states, actions, outcomes): the events of an attempt that ends so."""
    start_states: Ints
    """(starts,): where attempts begin."""
    start_cdf: NDArray[np.float64]
    """(starts,): cumulative probabilities."""
    cue: Ints
    """(states,): the class of the cue that matters now."""
    regrets: Words
    """(agent states, memory actions, cue classes): the regrets of a step."""
    push: Ints
    """(agent states, memory actions, observations): the next agent state."""
    first: Ints
    """(observations,): the agent state after a reset."""
    stacks: Ints
    """(agent states, slots): what each stack holds."""
    evicted: Ints
    """(agent states, memory actions): the slot that is given up."""
    act_of: Words
    """(joint actions,): the action of the task."""
    memory_of: Words
    """(joint actions,): the memory action."""
    time_limit: int
    """Steps after which an episode is truncated; 0 for never."""
    continual: bool
    """Whether an attempt's end leads straight to the next start."""


def tables_of(induced: Induced) -> Tables:
    """The tables of M_k."""
    task = induced.task
    cues, cue = cue_classes(task)
    joint = np.arange(task.n_actions * induced.n_memory_actions)
    evicted = evicted_slots(induced.stacks, induced.rule.table(induced.stack_size), task.empty)
    return Tables(
        **task_tables(task),
        cue=cue,
        regrets=regret_words(induced.stacks, evicted, cues),
        push=induced.push,
        first=induced.first,
        stacks=induced.stacks,
        evicted=evicted,
        act_of=joint % task.n_actions,
        memory_of=joint // task.n_actions,
    )


def task_tables(task: FiniteTask) -> dict[str, Any]:
    """The part of the tables that does not depend on the memory."""
    return {
        "observation": task.observation,
        "next_state": task.next_state,
        "outcome_cdf": task.outcome_cdf,
        "reward": task.reward,
        "ends": task.ends,
        "ending": task.ends * ATTEMPT + task.success * SUCCESS,
        "start_states": task.start_states,
        "start_cdf": task.start_cdf,
        "time_limit": task.time_limit or 0,
        "continual": task.continual,
    }


def cue_classes(task: FiniteTask) -> tuple[Ints, Ints]:
    """The distinct cues, (classes, cues), and the class of each state's cue."""
    if task.cue.shape[1] == 0:
        return np.full((1, 1), -1, np.int32), np.zeros(task.n_states, np.int32)
    # One number per cue: sorting whole rows is slow where there are millions of states.
    code = np.zeros(task.n_states, np.int64)
    for column in np.sort(task.cue, axis=1).T:
        code = code * (task.n_observations + 1) + column + 1
    _, example, members = np.unique(code, return_index=True, return_inverse=True)
    return task.cue[example], members.astype(np.int32)


def evicted_slots(stacks: Ints, evict: NDArray[np.intp], empty: int) -> Ints:
    """(stacks, memory actions): the slot that each memory action gives up."""
    filled = (stacks != empty).sum(axis=1)
    return np.ascontiguousarray(evict[:, filled].T, np.int32)


def regret_words(stacks: Ints, evicted: Ints, cues: Ints) -> Words:
    """(stacks, memory actions, cue classes): the regrets of a step that ends no attempt.

    For a cue in need, with memory all slots but the current observation: memory regret if memory
    lacks it; active regret if the current observation shows what memory lacks and is not kept;
    passive regret if memory has it and gives it up. A label that is needed twice must be held
    twice.
    """
    n_stacks, n_memory = evicted.shape
    words = np.zeros((n_stacks, n_memory, len(cues)), np.int64)
    given_up = np.take_along_axis(stacks, evicted, axis=1)
    for index, cue in enumerate(cues):
        missing = np.zeros((n_stacks, 1), np.bool_)
        lost = np.zeros((n_stacks, n_memory), np.bool_)
        unstored = np.zeros((n_stacks, n_memory), np.bool_)
        for label in np.unique(cue[cue >= 0]):
            needed = (cue == label).sum()
            held = (stacks[:, :-1] == label).sum(axis=1, keepdims=True)
            seen = stacks[:, -1:] == label
            kept = held + seen - (given_up == label)
            missing |= held < needed
            lost |= kept < needed
            unstored |= (held < needed) & seen & (kept <= held)
        words[:, :, index] = MEMORY * missing + ACTIVE * unstored + PASSIVE * (lost & ~missing)
    return words


def unpack(words: Words) -> dict[str, NDArray[np.int64]]:
    """The counters in packed words."""
    return {name: (words >> (BITS * i)) & FIELD for i, name in enumerate(FIELDS)}
