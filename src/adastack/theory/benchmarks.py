"""Benchmarks of the paper's table as finite tasks, small enough for exact answers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product

import numpy as np

from adastack.tasks.finite import FiniteTask
from adastack.theory.enumerated import Outcome, enumerated

Dealt = tuple[int, ...]


def autoencode(cards: int = 3, suits: int = 2) -> FiniteTask:
    """POPGym's Autoencode with few cards, each drawn independently.

    Cards are shown one by one; then, for as many steps, ``play`` is shown and each right answer
    pays 1/cards. Nothing tells how many have been named.

    Args:
        cards: How many are shown; at least 1.
        suits: How many kinds there are; at least 2.
    """
    hands = list(product(range(suits), repeat=cards))

    def step(state: tuple[Dealt, int], suit: int) -> list[Outcome]:
        hand, turn = state
        paid = turn >= cards and suit == hand[2 * cards - 1 - turn]
        last = turn == 2 * cards - 1
        return [Outcome((hand, turn + (not last)), reward=paid / cards, ends=last)]

    def observe(state: tuple[Dealt, int]) -> str:
        hand, turn = state
        return f"suit {hand[turn]}" if turn < cards else "play"

    suits_named = [f"suit {suit}" for suit in range(suits)]
    start = {(hand, 0): 1 / len(hands) for hand in hands}
    return enumerated(f"autoencode:cards={cards},suits={suits}", start, suits_named, step, observe)


def numpad(pads: int = 3, length: int | None = None) -> FiniteTask:
    """Numpad (Parisotto et al. 2020) with pads that are pressed instead of walked to.

    A hidden order of pads is to be pressed, again and again. The right pad lights up, a wrong one
    stays dark and puts out the others; the last one pays 1, and the order begins anew.

    Args:
        pads: How many there are.
        length: How many of them the order has; by default all.
    """
    length = pads if length is None else length
    orders = list(permutations(range(pads), length))

    def step(state: tuple[Dealt, int, str], pad: int) -> list[Outcome]:
        order, lit, _ = state
        if pad != order[lit]:
            return [Outcome((order, 0, f"pad {pad} dark"))]
        done = lit + 1 == length
        return [Outcome((order, 0 if done else lit + 1, f"pad {pad} lit"), reward=float(done))]

    start = {(order, 0, "nothing pressed"): 1 / len(orders) for order in orders}
    names = [f"pad {pad}" for pad in range(pads)]
    return enumerated(f"numpad:pads={pads},length={length}", start, names, step, lambda s: s[2])


def memory_cards(pairs: int = 2) -> FiniteTask:
    """Memory Cards (Esslinger et al. 2022): say where the other card of a pair lies.

    Cards lie face down. At each step one of them, drawn at random, is shown, and the agent says
    where the other card of its pair lies; a pair that is found pays 1 and is taken away.

    Args:
        pairs: How many pairs there are.
    """
    deals = sorted(set(permutations(list(range(pairs)) * 2)))
    cards = range(2 * pairs)

    def step(state: tuple[Dealt, frozenset[int], int], named: int) -> list[Outcome]:
        deal, left, shown = state
        right = named != shown and named in left and deal[named] == deal[shown]
        rest = left - {named, shown} if right else left
        if not rest:
            return [Outcome(state, reward=1.0, ends=True)]
        chance = 1 / len(rest)
        return [Outcome((deal, rest, card), chance, float(right)) for card in sorted(rest)]

    chance = 1 / len(deals) / len(cards)
    start = {(deal, frozenset(cards), card): chance for deal in deals for card in cards}
    return enumerated(
        f"memory-cards:pairs={pairs}",
        start,
        [f"card {card}" for card in cards],
        step,
        lambda state: f"card {state[2]} shows {state[0][state[2]]}",
    )


def minigrid_memory(size: int = 7) -> FiniteTask:
    """MiniGrid-Memory by its tables: each view is a symbol, and the right object pays 1.

    In MiniGrid the reward falls with every step; here the discount makes the quickest way optimal.

    Args:
        size: Cells along each side; odd.
    """
    from adastack.tasks.worlds.minigrid.tables import memory_tables

    tables = memory_tables(size, False)
    following, outcome = np.asarray(tables.following)[:, :3], np.asarray(tables.outcome)
    start: dict[int, float] = {}
    for places, number in zip(tables.starts, tables.n_starts, strict=True):
        for place in places[:number]:
            start[int(place)] = start.get(int(place), 0) + 1 / number / len(tables.starts)

    def step(place: int, action: int) -> list[Outcome]:
        after = int(following[place, action])
        found = int(outcome[after])
        return [Outcome(after, reward=float(found > 0), ends=found != 0)]

    return enumerated(
        f"small-minigrid-memory:size={size}",
        start,
        ("left", "right", "forward"),
        step,
        lambda place: f"view {tables.seen[place]}",
    )


BENCHMARKS: dict[str, Callable[..., FiniteTask]] = {
    "autoencode": autoencode,
    "numpad": numpad,
    "memory-cards": memory_cards,
    "minigrid-memory": minigrid_memory,
}
"""The benchmarks by name; their parameters say how small they are."""
