"""POPGym's games at their three levels."""

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


def _levels(**options: tuple[Any, Any, Any]) -> tuple[dict[str, Any], ...]:
    """The options at each level, from the values of each option."""
    return tuple(
        dict(zip(options, values, strict=True)) for values in zip(*options.values(), strict=True)
    )


_NOISE = _levels(noise=(0.1, 0.2, 0.3))
_STEPS = _levels(time_limit=(200, 400, 600))
_SIZES = _levels(size=(10, 14, 18))
_DECKS = _levels(decks=(1, 2, 3))

GAMES: dict[str, tuple[Callable[..., FunctionalTask], tuple[dict[str, Any], ...]]] = {
    "repeat-first": (RepeatFirst, _levels(decks=(1, 8, 16))),
    "repeat-previous": (RepeatPrevious, _levels(decks=(1, 2, 3), k=(4, 32, 64))),
    "autoencode": (Autoencode, _DECKS),
    "count-recall": (CountRecall, _levels(decks=(1, 2, 4), kind=("colors", "suits", "ranks"))),
    "concentration": (
        Concentration,
        _levels(decks=(1, 2, 1), kind=("colors", "colors", "ranks")),
    ),
    "higher-lower": (HigherLower, _DECKS),
    "battleship": (Battleship, _levels(size=(8, 10, 12))),
    "mine-sweeper": (MineSweeper, _levels(size=(4, 6, 8), mines=(2, 6, 10))),
    "multiarmed-bandit": (
        MultiarmedBandit,
        _levels(arms=(10, 20, 30), time_limit=(200, 400, 600)),
    ),
    "labyrinth-escape": (LabyrinthEscape, _SIZES),
    "labyrinth-explore": (LabyrinthExplore, _SIZES),
    "position-only-cartpole": (_POSITION, _STEPS),
    "velocity-only-cartpole": (_VELOCITY, _STEPS),
    "noisy-cartpole": (partial(_POSITION, 200), _NOISE),
    "position-only-pendulum": (PositionOnlyPendulum, _levels(time_limit=(200, 150, 100))),
    "noisy-pendulum": (PositionOnlyPendulum, _NOISE),
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


def popgym_task(game: str, level: str = "easy", previous_action: bool = False) -> FunctionalTask:
    """A game of POPGym as a functional task.

    Args:
        game: A name of `GAMES`.
        level: ``easy``, ``medium`` or ``hard``.
        previous_action: Whether observations include the last action, as for POPGym's baselines.

    Raises:
        ValueError: If there is no such level.

    Example:
        >>> from adastack.tasks.worlds.popgym.levels import popgym_task
        >>> import jax
        >>> task = popgym_task("repeat-first", "hard")
        >>> state, suit = task.reset(jax.random.key(0))
        >>> task, float(task.step(jax.random.key(1), state, suit).reward) > 0
        (RepeatFirst(decks=16), True)
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
