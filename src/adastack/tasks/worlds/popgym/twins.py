"""Which game POPGym plays at which level."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from adastack.tasks.functional import FunctionalTask
from adastack.tasks.functional_previous_action import PreviousAction
from adastack.tasks.worlds.cartpole.functional import MaskedCartPole
from adastack.tasks.worlds.popgym.autoencode import Autoencode
from adastack.tasks.worlds.popgym.bandit import MultiarmedBandit
from adastack.tasks.worlds.popgym.boards import Battleship, MineSweeper
from adastack.tasks.worlds.popgym.concentration import Concentration
from adastack.tasks.worlds.popgym.count_recall import CountRecall
from adastack.tasks.worlds.popgym.higher_lower import HigherLower
from adastack.tasks.worlds.popgym.labyrinth import LabyrinthEscape, LabyrinthExplore
from adastack.tasks.worlds.popgym.pendulum import PositionOnlyPendulum
from adastack.tasks.worlds.popgym.repeat import RepeatFirst, RepeatPrevious

LEVELS = ("easy", "medium", "hard")
_POSITION = partial(MaskedCartPole, "position")
_VELOCITY = partial(MaskedCartPole, "velocity")

GAMES: dict[str, tuple[Callable[..., FunctionalTask], tuple[dict[str, Any], ...]]] = {
    "repeat-first": (RepeatFirst, ({"decks": 1}, {"decks": 8}, {"decks": 16})),
    "repeat-previous": (
        RepeatPrevious,
        ({"decks": 1, "k": 4}, {"decks": 2, "k": 32}, {"decks": 3, "k": 64}),
    ),
    "autoencode": (Autoencode, ({"decks": 1}, {"decks": 2}, {"decks": 3})),
    "count-recall": (
        CountRecall,
        (
            {"decks": 1, "kind": "colors"},
            {"decks": 2, "kind": "suits"},
            {"decks": 4, "kind": "ranks"},
        ),
    ),
    "concentration": (
        Concentration,
        (
            {"decks": 1, "kind": "colors"},
            {"decks": 2, "kind": "colors"},
            {"decks": 1, "kind": "ranks"},
        ),
    ),
    "higher-lower": (HigherLower, ({"decks": 1}, {"decks": 2}, {"decks": 3})),
    "battleship": (Battleship, ({"size": 8}, {"size": 10}, {"size": 12})),
    "mine-sweeper": (
        MineSweeper,
        ({"size": 4, "mines": 2}, {"size": 6, "mines": 6}, {"size": 8, "mines": 10}),
    ),
    "multiarmed-bandit": (
        MultiarmedBandit,
        (
            {"arms": 10, "time_limit": 200},
            {"arms": 20, "time_limit": 400},
            {"arms": 30, "time_limit": 600},
        ),
    ),
    "labyrinth-escape": (LabyrinthEscape, ({"size": 10}, {"size": 14}, {"size": 18})),
    "labyrinth-explore": (LabyrinthExplore, ({"size": 10}, {"size": 14}, {"size": 18})),
    "position-only-cartpole": (
        _POSITION,
        ({"time_limit": 200}, {"time_limit": 400}, {"time_limit": 600}),
    ),
    "velocity-only-cartpole": (
        _VELOCITY,
        ({"time_limit": 200}, {"time_limit": 400}, {"time_limit": 600}),
    ),
    "noisy-cartpole": (
        partial(_POSITION, 200),
        ({"noise": 0.1}, {"noise": 0.2}, {"noise": 0.3}),
    ),
    "position-only-pendulum": (
        PositionOnlyPendulum,
        ({"time_limit": 200}, {"time_limit": 150}, {"time_limit": 100}),
    ),
    "noisy-pendulum": (
        PositionOnlyPendulum,
        ({"noise": 0.1}, {"noise": 0.2}, {"noise": 0.3}),
    ),
}
"""What makes each game, and its options at each level."""


def package_name(game: str, level: str) -> str:
    """The class of the package's environment.

    Example:
        >>> package_name("noisy-cartpole", "easy")
        'NoisyPositionOnlyCartPoleEasy'
    """
    full = game.replace("noisy", "noisy-position-only").replace("cartpole", "cart-pole")
    return full.title().replace("-", "") + level.title()


def twin(game: str, level: str = "easy", previous_action: bool = False) -> FunctionalTask:
    """A game of POPGym as a functional task.

    Args:
        game: A name of `GAMES`.
        level: ``easy``, ``medium`` or ``hard``.
        previous_action: Whether the last action is seen, too, as POPGym's baselines see it.

    Raises:
        ValueError: If there is no such level.

    Example:
        >>> from adastack.tasks.worlds.popgym.twins import twin
        >>> twin("repeat-first", "hard")
        RepeatFirst(decks=16)
    """
    if level not in LEVELS:
        raise ValueError(f"expected a level of {LEVELS}, actual: {level!r}")
    make, options = GAMES[game]
    task = make(**options[LEVELS.index(level)])
    if not previous_action:
        return task
    if isinstance(task, MaskedCartPole):
        # It has the option itself: one number for its two actions.
        return make(**options[LEVELS.index(level)], previous_action=True)
    return PreviousAction(task)
