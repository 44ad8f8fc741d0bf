"""A finite task with its memory as arrays on the device, and what its steps mean."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from adastack.tasks.finite import FiniteTask
from adastack.tasks.induced import Induced

OVER, SUCCESS, MEMORY_REGRET, ACTIVE_REGRET, PASSIVE_REGRET = (1 << bit for bit in range(5))
"""The bits of a step's flags."""


class Tables(NamedTuple):
    """The arrays of M_k that a compiled rollout reads."""

    stacks: Array
    """(agents, k): the slots of each agent state."""
    push: Array
    """(agents, memory actions, observations): the next agent state."""
    first: Array
    """(observations,): the agent state after a reset."""
    observation: Array
    """(states,)."""
    next_state: Array
    """(states, actions, outcomes)."""
    outcome_cdf: Array
    """(states, actions, outcomes - 1)."""
    reward: Array
    """(states, actions, outcomes)."""
    ends: Array
    """(states, actions, outcomes)."""
    success: Array
    """(states, actions, outcomes)."""
    start_states: Array
    """(starts,)."""
    start_cdf: Array
    """(starts - 1,)."""
    cue_class: Array
    """(states,): which of the distinct cues matters."""
    regrets: Array
    """(cue classes, agents, memory actions): regret bits of a step."""
    evicted: Array
    """(agents, memory actions): the slot that is given up."""


def tables_of(induced: Induced) -> Tables:
    """Puts M_k on the device."""
    task = induced.task
    classes, members = cue_classes(task)
    evicted = evicted_slots(induced.stacks, induced.rule.table(induced.stack_size), task.empty)
    return Tables(
        stacks=jnp.asarray(induced.stacks),
        push=jnp.asarray(induced.push),
        first=jnp.asarray(induced.first),
        observation=jnp.asarray(task.observation),
        next_state=jnp.asarray(task.next_state),
        outcome_cdf=jnp.asarray(task.outcome_cdf[..., :-1], jnp.float32),
        reward=jnp.asarray(task.reward, jnp.float32),
        ends=jnp.asarray(task.ends),
        success=jnp.asarray(task.success),
        start_states=jnp.asarray(task.start_states),
        start_cdf=jnp.asarray(task.start_cdf[:-1], jnp.float32),
        cue_class=jnp.asarray(members),
        regrets=jnp.asarray(regret_bits(induced.stacks, evicted, classes, task)),
        evicted=jnp.asarray(evicted),
    )


def cue_classes(task: FiniteTask) -> tuple[np.ndarray, np.ndarray]:
    """The distinct cues, (classes, cues), and which of them each state has."""
    codes = np.zeros(task.n_states, np.int64)
    for column in task.cue.T:
        codes = codes * (task.n_observations + 1) + column + 1
    _, first, members = np.unique(codes, return_index=True, return_inverse=True)
    return task.cue[first], members.astype(np.int32)


def evicted_slots(stacks: np.ndarray, rule_table: np.ndarray, empty: int) -> np.ndarray:
    """(agents, memory actions): the slot each memory action gives up."""
    filled = (stacks != empty).sum(axis=1)
    slots: np.ndarray = rule_table[:, filled].T.astype(np.int32)
    return slots


def symbol_counts(slots: np.ndarray, n_observations: int) -> np.ndarray:
    """(..., slots) -> (..., observations): how often each observation is held."""
    counts: np.ndarray = (slots[..., None] == np.arange(n_observations)).sum(axis=-2)
    return counts


def regret_bits(
    stacks: np.ndarray, evicted: np.ndarray, classes: np.ndarray, task: FiniteTask
) -> np.ndarray:
    """The regret bits of every (cue class, agent state, memory action).

    Memory is every slot but the newest. A cue is held if each observation in it is held at least
    as often as the cue asks for.
    """
    k, n = stacks.shape[1], task.n_observations
    needed = symbol_counts(classes, n)[:, None, :]
    memory = symbol_counts(stacks[:, :-1], n)
    slots = np.arange(k - 1)
    kept_slots = slots + (slots >= evicted[..., None])
    kept = symbol_counts(np.take_along_axis(stacks[:, None, :], kept_slots, axis=2), n)
    current = symbol_counts(stacks[:, -1:], n)
    held = np.asarray((memory >= needed).all(-1))
    still = (kept >= needed[:, :, None]).all(-1)
    wanted = (current > 0) & (memory < needed)
    dropped = wanted[:, :, None] & (kept < np.minimum(needed, memory + 1)[:, :, None])
    bits = np.where(np.asarray(held)[..., None], 0, MEMORY_REGRET)
    bits = bits | np.where(dropped.any(-1), ACTIVE_REGRET, 0)
    bits = bits | np.where(held[..., None] & ~still, PASSIVE_REGRET, 0)
    none = (needed == 0).all(-1)[..., None]
    return np.where(none, 0, bits).astype(np.uint8)
