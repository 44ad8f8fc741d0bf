"""Players of POPGym's games: some see the hidden state, some only what an agent sees."""

from collections import Counter, deque

import numpy as np

from adastack.tasks.worlds.popgym.labyrinth import MOVES
from adastack.tasks.worlds.popgym.mazes import GOAL, WALL


def pair_up(task, state):
    """The partner of the card that lies open, or any card that is not matched."""
    free = ~state.matched
    if state.first >= 0:
        free &= state.deck == state.deck[state.first]
        free[state.first] = False
    return int(np.flatnonzero(free)[0])


def towards(state, wanted):
    """The first move of a shortest way to the nearest cell that is wanted."""
    begin = tuple(map(int, state.position))
    came, queue = {begin: None}, deque([begin])
    while queue:
        y, x = here = queue.popleft()
        if wanted[here] and here != begin:
            while came[here][0] != begin:
                here = came[here][0]
            return came[here][1]
        for action, (down, right) in enumerate(MOVES):
            there = (y + down, x + right)
            inside = min(there) >= 0 and max(there) < len(state.grid)
            if inside and there not in came and state.grid[there] != WALL:
                came[there] = (here, action)
                queue.append(there)
    return 0


ALL_SEEING = {
    "repeat-first": lambda task, state: state.deck[0],
    "repeat-previous": lambda task, state: state.deck[max(state.clock - task.k + 1, 0)],
    "autoencode": lambda task, state: state.deck[min(task.asked(state), len(state.deck) - 1)],
    "count-recall": lambda task, state: int(task.count(state)),
    "concentration": pair_up,
    "higher-lower": lambda task, state: int(state.deck[state.clock + 1] < state.deck[state.clock]),
    "battleship": lambda task, state: int(np.argmax(state.hidden & ~state.tried)),
    "mine-sweeper": lambda task, state: int(np.argmin(state.hidden | state.tried)),
    "multiarmed-bandit": lambda task, state: int(np.argmax(state.chances)),
    "labyrinth-escape": lambda task, state: towards(state, state.grid == GOAL),
    "labyrinth-explore": lambda task, state: towards(state, ~state.explored),
}
"""The best action, for one who sees the hidden state."""


class First:
    """Remembers the first card."""

    card = None

    def act(self, seen):
        self.card = seen if self.card is None else self.card
        return int(self.card)


class Previous:
    """Remembers the last four cards."""

    def __init__(self):
        self.cards = deque(maxlen=4)

    def act(self, seen):
        self.cards.append(seen)
        return int(self.cards[0])


class Reciter:
    """Remembers all cards, and names them from the last to the first."""

    def __init__(self):
        self.cards, self.watching = [], True

    def act(self, seen):
        if self.watching:
            self.cards.append(int(seen[1]))
        self.watching = self.watching and seen[0] == 1
        return 0 if self.watching else self.cards.pop()


class Tally:
    """Counts the cards that were dealt."""

    def __init__(self):
        self.counts = Counter()

    def act(self, seen):
        dealt, query = seen.tolist()
        self.counts[dealt] += 1
        return self.counts[query]


class CardCounter:
    """Knows which ranks are left, and guesses what is likelier."""

    def __init__(self):
        self.left = np.full(13, 4)

    def act(self, seen):
        self.left[seen] -= 1
        return int(self.left[:seen].sum() > self.left[seen + 1 :].sum())


class Recollection:
    """Remembers each card that was seen: turns over a pair that is known, else what is new."""

    def __init__(self, kinds):
        self.down, self.turned = kinds, []

    def act(self, seen):
        if not self.turned:
            self.known, self.matched = np.full(len(seen), self.down), np.zeros(len(seen), bool)
        up = seen != self.down
        self.known[up] = seen[up]
        pair = self.turned[-2:] if len(self.turned) % 2 == 0 else []
        if pair and self.known[pair[0]] == self.known[pair[1]]:
            self.matched[pair] = True
        self.turned.append(self._second() if len(self.turned) % 2 else self._first())
        return self.turned[-1]

    def _second(self):
        same = (self.known == self.known[self.turned[-1]]) & ~self.matched
        same[self.turned[-1]] = False
        return int(np.argmax(same)) if same.any() else self._new(self.turned[-1])

    def _first(self):
        for kind in range(self.down):
            pair = np.flatnonzero((self.known == kind) & ~self.matched)
            if len(pair) > 1:
                return int(pair[0])
        return self._new(None)

    def _new(self, but):
        unknown = (self.known == self.down) & (np.arange(len(self.known)) != but)
        return int(np.argmax(unknown))


def played(env, player, seed):
    """The return of one episode in a Gymnasium environment."""
    seen, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        seen, reward, terminated, truncated, _ = env.step(player.act(seen))
        total, over = total + reward, terminated or truncated
    return total
