"""A user's environments: one that is right, and many that are wrong."""

import os
import sys

import gymnasium
import numpy as np
from gymnasium import spaces


class Cue(gymnasium.Env):
    """Show a cue, then nothing; pay for the action that the cue named."""

    def __init__(self, length: int = 4):
        self.observation_space = spaces.Box(-1, 1, (3,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.length = length

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.cue = 0, int(self.np_random.integers(2))
        return self._seen(), {}

    def _seen(self):
        shown = 2 * self.cue - 1 if self.t == 0 else 0
        return np.array([shown, self.t / self.length, 0.5], np.float32)

    def step(self, action):
        self.t += 1
        over = self.t >= self.length
        right = over and int(action) == self.cue
        return self._seen(), float(right), over, False, {"success": right} if over else {}


def _raise(error):
    raise error


class _Odd(BaseException):
    pass


_OBSERVATION = np.zeros(3, np.float32)
RAISED = {
    "key error": lambda: {}["cue"],
    "assertion": lambda: _raise(AssertionError()),
    "zero division": lambda: 1 / 0,
    "index error": lambda: [][1],
    "attribute error": lambda: None.cue,
    "type error": lambda: len(3),
    "value error": lambda: int("x"),
    "overflow": lambda: 10.0**1000,
    "recursion": lambda: _deep(),
    "stop iteration": lambda: next(iter(())),
    "os error": lambda: os.listdir("/nowhere/at/all"),
    "import error": lambda: __import__("no_such_module"),
    "unicode": lambda: "\udcff".encode(),
    "not implemented": lambda: _raise(NotImplementedError),
    "gymnasium error": lambda: gymnasium.make("No-Such-v0"),
    "exit 0": lambda: sys.exit(0),
    "exit": lambda: sys.exit("bye"),
    "generator exit": lambda: _raise(GeneratorExit()),
    "odd": lambda: _raise(_Odd("odd\n\x1b[31mred[/b]")),
    "memory error": lambda: _raise(MemoryError("no room")),
    "interrupt": lambda: _raise(KeyboardInterrupt()),
    "long message": lambda: _raise(ValueError("a\nb\n" * 1000)),
}
STEPS = {
    "info none": (_OBSERVATION, 0.0, False, False, None),
    "info list": (_OBSERVATION, 0.0, False, False, [1]),
    "four values": (_OBSERVATION, 0.0, False, {}),
    "nothing": None,
    "long observation": (np.zeros(4, np.float32), 0.0, False, False, {}),
    "observation none": (None, 0.0, False, False, {}),
    "observation text": ("x", 0.0, False, False, {}),
    "observation nan": (np.full(3, np.nan, np.float32), 0.0, False, False, {}),
    "observation inf": (np.full(3, np.inf, np.float32), 0.0, False, False, {}),
    "reward nan": (_OBSERVATION, float("nan"), False, False, {}),
    "reward inf": (_OBSERVATION, float("inf"), False, False, {}),
    "reward none": (_OBSERVATION, None, False, False, {}),
    "reward text": (_OBSERVATION, "x", False, False, {}),
    "reward list": (_OBSERVATION, [0.0, 1.0], False, False, {}),
    "over none": (_OBSERVATION, 0.0, None, "x", {}),
    "cue text": (_OBSERVATION, 0.0, True, False, {"cue": "x", "shown": "y"}),
    "shown none": (_OBSERVATION, 0.0, True, False, {"cue": [1], "shown": None}),
    "success text": (_OBSERVATION, 0.0, True, False, {"success": "x"}),
}
HARMLESS = {"over none", "success text", "reward list", "observation none"}
HARMLESS |= {"cue text", "shown none"}  # Labels that are no numbers say nothing of the memory.
"""What the libraries below accept: a run may also end well."""


def _deep():
    return _deep()


class Bad(Cue):
    """Does something wrong, in one of its methods."""

    def __init__(self, what: str = "", where: str = "step"):
        super().__init__()
        self.what, self.where = what, where
        if where == "making":
            RAISED[what]()

    def reset(self, *, seed=None, options=None):
        found = super().reset(seed=seed)
        if self.where == "reset":
            RAISED[self.what]()
        return found

    def step(self, action):
        found = super().step(action)
        if self.where != "step" or self.t < 3:
            return found
        if self.what in STEPS:
            return STEPS[self.what]
        RAISED[self.what]()

    def close(self):
        if self.where == "close":
            RAISED[self.what]()


class Symbols(Cue):
    """Shows a symbol that its space does not have."""

    def __init__(self, symbol: int = 9):
        super().__init__()
        self.observation_space, self.symbol = spaces.Discrete(4), symbol

    def _seen(self):
        return self.symbol if self.t == 2 else 1


class Talks(Cue):
    """Prints, which is nothing wrong."""

    def step(self, action):
        print("hello from step")
        os.write(1, b"")
        return super().step(action)
