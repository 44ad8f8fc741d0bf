"""Further memory tasks, on which no setting was chosen, learned with nothing but the defaults.

python examples/ordinary_variants.py [NAME ...] [--seeds 1 2] [--steps 200000]
"""

import argparse
from functools import partial

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from ordinary import Task

from adastack import Agent


class Signs(Task):
    """One of ``n`` signs within the first steps, a delay, a question; subclasses show it."""

    def __init__(self, n, delay, early=1, spread=1, pays=(1.0, -1.0), step_cost=0.0):
        self.n, self.delay, self.early, self.spread = n, delay, early, spread
        self.pays, self.step_cost = pays, step_cost
        self.action_space = Discrete(n)
        self.observation_space = self.space()

    def begin(self):
        """Draws the sign, when it is shown, and when it is asked for."""
        self.sign, self.shown_at, longer = self.np_random.integers(
            [self.n, self.early, self.spread]
        )
        self.last = self.shown_at + self.delay + 1 + longer

    @property
    def shown(self):
        """Whether the sign is in view."""
        return self.clock == self.shown_at

    @property
    def asked(self):
        """Whether the sign is asked for."""
        return self.clock == self.last

    def step(self, action):
        """Asks for the sign; time may cost."""
        observation, reward, *rest = self.decide(action, self.sign)
        return observation, reward - self.step_cost * (not rest[0]), *rest


class Numbers(Signs):
    """The sign is a number, and so is what comes after it."""

    def space(self):
        """A number, whether it is the sign, whether it is asked for."""
        return Box(-1, 1, (3,), np.float32)

    def show(self):
        """Noise but for the sign."""
        sign = 2 * self.sign / (self.n - 1) - 1
        number = sign if self.shown else self.np_random.uniform(-1, 1)
        return np.array([number, self.shown, self.asked], np.float32)


class Clock(Numbers):
    """No two observations are alike, as each has the time."""

    def space(self):
        """The sign or 0, the time, whether it is asked for."""
        return Box(-1, 100, (3,), np.float32)

    def show(self):
        """The sign, once."""
        sign = (2 * self.sign / (self.n - 1) - 1) * self.shown
        return np.array([sign, self.clock, self.asked], np.float32)


class Noisy(Signs):
    """The sign raises one of several noisy numbers."""

    def space(self):
        """A number for each sign, and one for the question."""
        return Box(-5, 5, (self.n + 1,), np.float32)

    def show(self):
        """Noise, and what is raised."""
        numbers = self.np_random.normal(0, 0.3, self.n + 1)
        numbers[self.sign] += 2 * self.shown
        numbers[-1] += 2 * self.asked
        return np.clip(numbers, -5, 5).astype(np.float32)


class Symbols(Signs):
    """The sign is a symbol, followed by one of ``others`` other symbols at each step."""

    def __init__(self, *args, others=1, **more):
        self.others = others
        super().__init__(*args, **more)

    def space(self):
        """Signs, others, the question."""
        return Discrete(self.n + self.others + 1)

    def show(self):
        """One symbol."""
        other = self.n + self.np_random.integers(self.others)
        return int(self.sign if self.shown else self.n + self.others if self.asked else other)


class Parts(Signs):
    """Several parts, of which one is noise."""

    def space(self):
        """The sign or nothing, two numbers, the question."""
        parts = {"sign": Discrete(self.n + 1), "noise": Box(-1, 1, (2,), np.float32)}
        return Dict({**parts, "asked": Discrete(2)})

    def show(self):
        """All parts."""
        noise = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        sign = int(self.sign if self.shown else self.n)
        return {"sign": sign, "noise": noise, "asked": int(self.asked)}


class Pictures(Signs):
    """The sign is the colour of a noisy picture."""

    def space(self):
        """Ten by ten pixels."""
        return Box(0, 255, (10, 10, 3), np.uint8)

    def show(self):
        """Noise; a bright colour, or a white bar."""
        picture = self.np_random.integers(0, 100, (10, 10, 3)).astype(np.uint8)
        if self.shown:
            picture[..., self.sign] = np.maximum(picture[..., self.sign], 200)
        elif self.asked:
            picture[:3] = 255
        return picture


class Pair(Numbers):
    """Two signs, one after the other: do they differ? Needs three slots."""

    def begin(self):
        """Draws both."""
        self.signs = self.np_random.integers(2, size=2)
        self.sign, self.last = int(self.signs[0] != self.signs[1]), self.delay + 1

    def show(self):
        """A sign at the start and one in the middle."""
        if self.clock in (0, self.delay // 2):
            return np.array([2 * self.signs[int(self.clock > 0)] - 1, 1, 0], np.float32)
        return np.array([self.np_random.uniform(-1, 1), 0, self.asked], np.float32)


class Say(Task):
    """A number at the start, to be said at the end; Box actions."""

    observation_space = Box(-1, 1, (3,), np.float32)
    action_space = Box(-1, 1, (1,), np.float32)
    last = 15

    def begin(self):
        """Draws the number."""
        self.number = self.np_random.uniform(-1, 1)

    def show(self):
        """The number, noise, the question."""
        number = self.np_random.uniform(-1, 1) if self.clock else self.number
        return np.array([number, self.clock == 0, self.clock == self.last], np.float32)

    def step(self, action):
        """Pays 1 less the error; an error below 0.1 is a success."""
        over = self.clock == self.last
        error = abs(float(np.clip(action[0], -1, 1)) - self.number)
        self.clock += 1
        return self.show(), (1 - error) * over, over, False, {"is_success": over and error < 0.1}


class Corridor(Task):
    """The first observation tells which end of a corridor pays; walking there costs."""

    observation_space, action_space = Discrete(5), Discrete(3)
    cells = 9

    def begin(self):
        """Draws the end."""
        self.here, self.end = self.cells // 2, int(self.np_random.integers(2))

    def show(self):
        """The end at first, then whether one is reached."""
        ends = {0: 3, self.cells - 1: 4}
        return ends.get(self.here, 2) if self.clock else self.end

    def step(self, action):
        """Moves by one cell, or stays."""
        self.here += int(action) - 1
        self.clock += 1
        over = self.here in (0, self.cells - 1)
        right = over and (self.here > 0) == bool(self.end)
        reward = 2.0 * right - 1 if over else -0.01
        return self.show(), reward, over, self.clock >= 60, {"is_success": bool(right)}


OR_NOTHING = (1.0, 0.0)
TASKS = {
    "numbers-2": (partial(Numbers, 2, 60, early=8), 2),
    "numbers-3": (partial(Numbers, 3, 25, early=3, pays=OR_NOTHING), 2),
    "numbers-4": (partial(Numbers, 4, 30, early=5), 2),
    "numbers-5": (partial(Numbers, 5, 20, pays=OR_NOTHING), 2),
    "clock-3": (partial(Clock, 3, 20), 2),
    "noisy-2": (partial(Noisy, 2, 40, pays=OR_NOTHING), 2),
    "noisy-4": (partial(Noisy, 4, 20), 2),
    "noisy-6": (partial(Noisy, 6, 15, pays=OR_NOTHING), 2),
    "blanks-8": (partial(Symbols, 8, 15, pays=OR_NOTHING), 2),
    "blanks-4": (partial(Symbols, 4, 10, spread=20, pays=OR_NOTHING, step_cost=0.01), 2),
    "symbols-2": (partial(Symbols, 2, 40, early=4, others=6, pays=OR_NOTHING), 2),
    "symbols-4": (partial(Symbols, 4, 20, others=6), 2),
    "symbols-8": (partial(Symbols, 8, 12, others=6, pays=OR_NOTHING), 2),
    "parts-4": (partial(Parts, 4, 20, pays=OR_NOTHING), 2),
    "pictures-3": (partial(Pictures, 3, 12, pays=OR_NOTHING), 2),
    "say": (Say, 2),
    "corridor": (Corridor, 2),
    "pair": (partial(Pair, 2, 16), 3),
}
"""Each environment and its number of slots; a number in the name is that of the signs."""


def main():
    """Prints the greedy success of each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TASKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--steps", type=int, default=200_000)
    args = parser.parse_args()
    for name in args.names or TASKS:
        env, k = TASKS[name]
        for seed in args.seeds:
            agent = Agent(env, k=k, seed=seed).learn(args.steps, progress=False)
            print(name, seed, f"{agent.evaluate(200)['success']:.3f}", flush=True)


if __name__ == "__main__":
    main()
