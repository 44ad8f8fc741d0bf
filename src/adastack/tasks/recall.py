"""Classic memory tasks without a map: Repeat First and Memory Length."""

from __future__ import annotations

from typing import Any

import numpy as np

from adastack.tasks.checks import checked_integer
from adastack.tasks.finite import FiniteTask

SUITS = ("clubs", "diamonds", "hearts", "spades")
MAX_BITS = 8


def repeat_first(length: int = 16, suits: int = 4) -> FiniteTask:
    """Cards are dealt one by one; at each, name the suit of the first.

    A right answer pays 1/length and a wrong one -1/length, so that a perfect episode returns 1.

    As in POPGym's RepeatFirst the first card carries no mark and is itself to be answered. POPGym
    deals from decks without replacement; here every card is drawn independently.

    Args:
        length: Answers in an episode; at least 1.
        suits: Number of suits, and of answers; at least 2.
    """
    checked_integer("length", length, 1)
    checked_integer("suits", suits, 2)
    names = SUITS if suits == 4 else tuple(f"suit {suit}" for suit in range(suits))
    return FiniteTask(
        name=f"repeat-first:length={length},suits={suits}",
        observation_names=names,
        action_names=names,
        **_repeat_first_tables(length, suits),
    )


def _repeat_first_tables(length: int, suits: int) -> dict[str, Any]:
    # For each first suit: its first card, then one state for each later time and card. The last
    # card's states come once, after everything else: there is nothing left to answer.
    later = (length - 1) * suits
    block = 1 + later
    n_states = suits * block + suits
    first, place = np.divmod(np.arange(suits * block), block)
    time, card = np.divmod(np.maximum(place - 1, 0), suits)
    time = np.where(place == 0, 0, time + 1)
    last = time == length - 1

    observation = np.concatenate([np.where(place == 0, first, card), np.arange(suits)])
    next_card = np.where(last, suits * block, first * block + 1 + time * suits)
    next_state = np.tile(np.arange(n_states)[:, None, None], (1, suits, suits))
    next_state[: suits * block] = next_card[:, None, None] + np.arange(suits)
    reward = np.zeros((n_states, suits, suits))
    right = np.arange(suits) == first[:, None]
    reward[: suits * block] = np.where(right, 1, -1)[:, :, None] / length
    ends = np.ones((n_states, suits, suits), np.bool_)
    ends[: suits * block] = last[:, None, None]
    start = np.zeros(n_states)
    start[np.arange(suits) * block] = 1 / suits
    cue = np.full((n_states, 1), -1)
    cue[: suits * block, 0] = first
    return {
        "observation": observation,
        "next_state": next_state,
        "probability": np.full((n_states, suits, suits), 1 / suits),
        "reward": reward,
        "ends": ends,
        "start": start,
        "cue": cue,
    }


def memory_length(length: int = 16, bits: int = 1) -> FiniteTask:
    """A context of bits is shown once; ``length`` steps later one of them is asked for.

    The last answer pays +1 if it is that bit and -1 if not; the others do not count.

    It follows bsuite's Memory Length, which also shows the time that is left; here the time is
    hidden, so that nothing but memory tells a wait from a wait.

    Args:
        length: Steps from the context to the question; at least 1.
        bits: Bits of the context, of which one is asked for; 1 to 8.
    """
    checked_integer("length", length, 1)
    checked_integer("bits", bits, 1, MAX_BITS)
    return FiniteTask(
        name=f"memory-length:length={length},bits={bits}",
        observation_names=(
            *(f"context {context:0{bits}b}" for context in range(2**bits)),
            "wait",
            *(f"bit {bit}?" for bit in range(bits)),
        ),
        action_names=("zero", "one"),
        **_memory_length_tables(length, bits),
    )


def _memory_length_tables(length: int, bits: int) -> dict[str, Any]:
    # For each context: itself, the waits, one question for each bit. One state for the end.
    contexts = 2**bits
    block = length + bits
    n_states = contexts * block + 1
    wait, end = contexts, n_states - 1
    context, place = np.divmod(np.arange(contexts * block), block)
    asked = place - length
    asks = asked >= 0

    observation = np.full(n_states, wait)
    observation[:end] = np.where(place == 0, context, np.where(asks, wait + 1 + asked, wait))
    next_state = np.full((n_states, 2, bits), end)
    following = np.arange(contexts * block)[:, None] + 1
    question = following + np.arange(bits)
    next_state[:end] = np.where(
        asks[:, None], end, np.where(place[:, None] == length - 1, question, following)
    )[:, None, :]
    answer = (context >> np.clip(bits - 1 - asked, 0, bits - 1)) & 1
    reward = np.zeros((n_states, 2, bits))
    right = np.where(np.arange(2) == answer[:, None], 1, -1)
    reward[:end] = (right * asks[:, None])[:, :, None]
    ends = np.ones((n_states, 2, bits), np.bool_)
    ends[:end] = asks[:, None, None]
    start = np.zeros(n_states)
    start[np.arange(contexts) * block] = 1 / contexts
    cue = np.full((n_states, 1), -1)
    cue[:end, 0] = context
    return {
        "observation": observation,
        "next_state": next_state,
        "probability": np.full((n_states, 2, bits), 1 / bits),
        "reward": reward,
        "ends": ends,
        "start": start,
        "cue": cue,
    }
