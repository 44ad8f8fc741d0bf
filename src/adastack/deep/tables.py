"""A finite task with its memory as arrays on the device, and what its steps mean."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from adastack.process.induced import Induced
from adastack.process.tables import cue_classes, evicted_slots, regret_words, unpack
from adastack.tasks.finite import Ints

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
    cues, members = cue_classes(task)
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
        regrets=jnp.asarray(regret_bits(induced.stacks, evicted, cues)),
        evicted=jnp.asarray(evicted),
    )


def regret_bits(stacks: Ints, evicted: Ints, cues: Ints) -> NDArray[np.uint8]:
    """(cue classes, agents, memory actions): the regrets of a step that ends no attempt."""
    counts = unpack(regret_words(stacks, evicted, cues))
    named = (
        (MEMORY_REGRET, "memory_regret"),
        (ACTIVE_REGRET, "active_regret"),
        (PASSIVE_REGRET, "passive_regret"),
    )
    bits = sum(bit * counts[name] for bit, name in named)
    return np.moveaxis(np.asarray(bits, np.uint8), 2, 0)
