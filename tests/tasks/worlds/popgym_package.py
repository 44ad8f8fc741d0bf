"""The package's own environments, and their hidden states as those of the ports."""

import importlib
import sys
from importlib import util
from types import ModuleType

import jax
import numpy as np
import popgym.envs

from adastack.tasks.worlds.cartpole.functional import PhysicsState
from adastack.tasks.worlds.popgym.bandit import Arms
from adastack.tasks.worlds.popgym.boards import BoardState
from adastack.tasks.worlds.popgym.concentration import NONE, Table
from adastack.tasks.worlds.popgym.count_recall import TwoDecks
from adastack.tasks.worlds.popgym.game import Dealt
from adastack.tasks.worlds.popgym.labyrinth import NO_ACTION, Walk
from adastack.tasks.worlds.popgym.levels import package_name
from adastack.tasks.worlds.popgym.mazes import carve

INT = np.int32
MAZELIB = util.find_spec("mazelib") is not None


class StandIn:
    """Mazelib's ``Maze``, with mazes of ours: POPGym does not bring the package that it needs."""

    count = 0
    carve = staticmethod(jax.jit(carve, static_argnums=1))

    def generate(self):
        StandIn.count += 1
        self.maze = jax.device_get(self.carve(jax.random.key(StandIn.count), self.generator))
        self.grid = np.array(self.maze.grid, np.int8)

    def generate_entrances(self, start_outer):
        self.start, self.end = (tuple(map(int, at)) for at in (self.maze.start, self.maze.end))


def _import_labyrinths():
    if MAZELIB:
        return
    names = ("mazelib", "mazelib.generate", "mazelib.generate.HuntAndKill")
    for name in names:
        sys.modules[name] = ModuleType(name)
    sys.modules[names[0]].Maze = StandIn
    sys.modules[names[2]].HuntAndKill = lambda height, width: height
    for kind in ("escape", "explore"):
        importlib.import_module(f"popgym.envs.labyrinth_{kind}")
    for name in names:
        del sys.modules[name]


_import_labyrinths()


def package(game, level):
    """The environment of a game, without the wrappers of ``gym.make``."""
    mazes = game.startswith("labyrinth")
    module = sys.modules[f"popgym.envs.{game.replace('-', '_')}"] if mazes else popgym.envs
    return getattr(module, package_name(game, level))()


def _dealt(deck, kinds):
    """The package deals from the end."""
    return kinds[deck.idx][::-1].astype(INT)


def _of_deck(kinds):
    return lambda env: Dealt(_dealt(env.deck, getattr(env.deck, kinds)), INT(0))


def _count_recall(env):
    decks = (env.value_deck, env.query_deck)
    return TwoDecks(*(_dealt(deck, env.deck_idx_type) for deck in decks), INT(0))


def _concentration(env):
    down = np.zeros(env.deck.num_cards, bool)
    return Table(env.deck_idx_type[env.deck.idx].astype(INT), down, INT(NONE), down, INT(0))


def _board(hidden):
    return BoardState(hidden, np.zeros(len(hidden), bool), INT(0), INT(0))


def _walk(env):
    position = np.array(env.position, INT)
    return Walk(env.maze.grid.astype(INT), position, env.explored == 1, INT(NO_ACTION), INT(0))


def _physics(env):
    return PhysicsState(np.asarray(env.state, np.float32), INT(env.num_steps))


STATES = {
    "repeat-first": _of_deck("suits_idx"),
    "repeat-previous": _of_deck("suits_idx"),
    "autoencode": _of_deck("suits_idx"),
    "higher-lower": _of_deck("ranks_idx"),
    "count-recall": _count_recall,
    "concentration": _concentration,
    "battleship": lambda env: _board(env.board.ravel() == 1),
    "mine-sweeper": lambda env: _board(env.hidden_grid.ravel() == 1),
    "multiarmed-bandit": lambda env: Arms(env.bandits, INT(0), INT(0)),
    "labyrinth-escape": _walk,
    "labyrinth-explore": _walk,
    "position-only-cartpole": _physics,
    "velocity-only-cartpole": _physics,
    "noisy-cartpole": _physics,
    "position-only-pendulum": _physics,
    "noisy-pendulum": _physics,
}
"""The state of the port after a reset of the package's environment; of the moving ones always."""


class Draws:
    """A generator that gives out one draw of ours."""

    def __init__(self, draw):
        self.random = lambda: float(draw)
        self.normal = lambda mean, deviation: np.asarray(draw, np.float64)


def package_action(env, action):
    """An action of the port, as the package takes it: (row, column) on a board."""
    nvec = getattr(env.action_space, "nvec", None)
    return action if nvec is None else np.array(divmod(int(action), int(nvec[1])))


def flat(seen):
    """An observation of the package as one array."""
    parts = seen if isinstance(seen, tuple) else (seen,)
    return np.concatenate([np.ravel(part) for part in parts])
