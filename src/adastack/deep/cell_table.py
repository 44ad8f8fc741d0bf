"""The table of recurrent cells, which carry a state from step to step of an episode.

A new cell is a module and a row. The module works on all towers (actor, critic) at once: weights,
states and features have them on their first axis. A state begins as zeros. It has

- ``width``: hidden units -> numbers in the state of an environment;
- ``draw``: (hidden units, generator) -> the first weights of one tower;
- ``inputs``: (weights, features (towers, rows, hidden)) -> (towers, rows, n), all that a step needs
  to know of the features, for steps in any order;
- ``step``: (weights, state (towers, environments, width), inputs (towers, environments, n)) ->
  (state, output (towers, environments, hidden)), which defines the cell;
- ``scan``: (weights, state, inputs (steps, towers, environments, n), reset (steps, environments))
  -> outputs (steps, towers, environments, hidden): a loop of steps, computed faster. The state is
  zero before a step at which ``reset`` is true.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

NO_CELL = "none"
CELLS: dict[str, str] = {
    "gru": "adastack.deep.cells.gru",
    "lstm": "adastack.deep.cells.lstm",
    "lru": "adastack.deep.cells.lru",
}
"""The modules of the cells by name, imported when a network is built."""


def load_cell(name: str) -> Any:
    """The module of a cell."""
    return import_module(CELLS[name])
