"""M_k as arrays: what every engine steps through, and what each step counts for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.memory.regret import regrets
from adastack.process.events import Flags, step_flags
from adastack.process.induced import Induced
from adastack.process.policy import split_actions
from adastack.tasks.finite import FiniteTask, Ints


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
    ending: Flags
    """(states, actions, outcomes): the events of an attempt that ends so."""
    start_states: Ints
    """(starts,): where attempts begin."""
    start_cdf: NDArray[np.float64]
    """(starts,): cumulative probabilities."""
    cue: Ints
    """(states,): the class of the cue that matters now."""
    regrets: Flags
    """(agent states, memory actions, cue classes): the regrets of a step."""
    push: Ints
    """(agent states, memory actions, observations): the next agent state."""
    first: Ints
    """(observations,): the agent state after a reset."""
    stacks: Ints
    """(agent states, slots): what each stack holds."""
    evicted: Ints
    """(agent states, memory actions): the slot that is evicted."""
    act_of: NDArray[np.int64]
    """(joint actions,): the action of the task."""
    memory_of: NDArray[np.int64]
    """(joint actions,): the memory action."""
    time_limit: int
    """Steps after which an episode is truncated; 0 for never."""
    continual: bool
    """Whether an attempt's end leads straight to the next start."""


def tables_of(induced: Induced) -> Tables:
    """The tables of M_k."""
    task = induced.task
    cues, cue = cue_classes(task)
    evicted = evicted_slots(
        induced.stacks, induced.rule.table(induced.stack_size, hiding=True), task.empty
    )
    return Tables(
        **task_tables(task, induced.n_memory_actions),
        cue=cue,
        regrets=regret_flags(induced.stacks, evicted, cues),
        push=induced.push,
        first=induced.first,
        stacks=induced.stacks,
        evicted=evicted,
    )


def stackless_tables(task: FiniteTask, n_memory_actions: int) -> Tables:
    """The tables of a task whose stacks are numbered as they appear; see `StackIndex`."""
    none = np.zeros((0, 0, 0), np.int32)
    return Tables(
        **task_tables(task, n_memory_actions),
        cue=cue_classes(task)[1],
        regrets=none.astype(np.uint8),
        push=none,
        first=none.reshape(0),
        stacks=none.reshape(0, 0),
        evicted=none.reshape(0, 0),
    )


def task_tables(task: FiniteTask, n_memory_actions: int) -> dict[str, Any]:
    """The part of the tables that does not depend on the stacks."""
    act_of, memory_of = split_actions(np.arange(task.n_actions * n_memory_actions), task.n_actions)
    return {
        "observation": task.observation,
        "next_state": task.next_state,
        "outcome_cdf": task.outcome_cdf,
        "reward": task.reward,
        "ends": task.ends,
        "ending": step_flags(task.ends, task.success, None),
        "start_states": task.start_states,
        "start_cdf": task.start_cdf,
        "time_limit": task.time_limit or 0,
        "continual": task.continual,
        "act_of": act_of,
        "memory_of": memory_of,
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
    """(stacks, memory actions): the slot that each evicts; k if the next is not taken in."""
    filled = (stacks != empty).sum(axis=1)
    return np.ascontiguousarray(evict[:, filled].T, np.int32)


def regret_flags(stacks: Ints, evicted: Ints, cues: Ints) -> Flags:
    """(stacks, memory actions, cue classes): the regrets of a step that ends no attempt."""
    flags = np.zeros((*evicted.shape, len(cues)), np.uint8)
    going_on = np.zeros(len(stacks), np.bool_)
    # Memory stays the same if the newest slot is evicted, and if the next is not taken in.
    evicted = np.minimum(evicted, stacks.shape[1] - 1)
    for memory_action, slots in enumerate(evicted.T):
        for index, cue in enumerate(cues):
            found = regrets(stacks, slots, cue[None], going_on)
            flags[:, memory_action, index] = step_flags(going_on, going_on, found)
    return flags
