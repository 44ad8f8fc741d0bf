"""Autoencode, small: watch some cards, then name them from the last to the first."""

from __future__ import annotations

from itertools import product

import numpy as np

from adastack.tasks.finite import FiniteTask


def autoencode(cards: int = 3, suits: int = 2) -> FiniteTask:
    """POPGym's Autoencode with few cards, each drawn independently.

    Cards are shown one by one; then, for as many steps, ``play`` is shown and each right answer
    pays 1/cards. Nothing tells how many have been named.

    Args:
        cards: How many are shown; at least 1.
        suits: How many kinds there are; at least 2.
    """
    hands = list(product(range(suits), repeat=cards))
    steps = 2 * cards
    n_states = len(hands) * steps + 1
    end, play = n_states - 1, suits
    observation = np.full(n_states, play, np.int32)
    next_state = np.full((n_states, suits, 1), end, np.int32)
    reward = np.zeros((n_states, suits, 1))
    ends = np.ones((n_states, suits, 1), np.bool_)
    start = np.zeros(n_states)
    for number, hand in enumerate(hands):
        first = number * steps
        start[first] = 1 / len(hands)
        observation[first : first + cards] = hand
        next_state[first : first + steps - 1] = np.arange(first + 1, first + steps)[:, None, None]
        ends[first : first + steps - 1] = False
        for turn, card in enumerate(reversed(hand)):
            reward[first + cards + turn, card] = 1 / cards
    names = tuple(f"suit {suit}" for suit in range(suits))
    return FiniteTask(
        name=f"autoencode:cards={cards},suits={suits}",
        observation=observation,
        next_state=next_state,
        probability=np.ones((n_states, suits, 1)),
        reward=reward,
        ends=ends,
        start=start,
        observation_names=(*names, "play"),
        action_names=names,
    )
