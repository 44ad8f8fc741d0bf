"""The table of networks.

A new network is a module and a row. The module has ``Body``, a flax module (batch, k, features) ->
(batch, hidden); ``gain``, how its weights are drawn; and ``sizes``, what grows with the stack. A
sequence network also has ``read`` and ``read_prefixes``, which compute faster what it defines,
and ``tokens``, what the latter costs; another one has ``read_distinct``, which does so where
observations come back. The row is light: what it names is imported when a network
is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Network:
    """A row of the table."""

    module: str
    """Where its ``Body``, ``gain`` and ``sizes`` are."""
    cost: str
    """Its formula in `adastack.theory.cost`."""
    steps_per_second: float
    """How fast it usually trains on one core, for estimates where nothing was measured."""
    sequence: bool = False
    """Whether it reads the slots one after the other, from the oldest that is filled."""
    reads_parts: bool = False
    """Whether ``read_prefixes`` takes less time for some of the prefixes than for all."""
    convolve: bool = True
    """Whether images pass through convolutions first."""

    def load(self) -> Any:
        """The module."""
        return import_module(self.module)


NETWORKS: dict[str, Network] = {
    "mlp": Network("adastack.deep.networks.mlp", "mlp", 6e4, convolve=False),
    "lstm": Network("adastack.deep.networks.lstm", "lstm", 2.4e4, sequence=True),
    "transformer": Network(
        "adastack.deep.networks.transformer", "transformer", 1e4, sequence=True, reads_parts=True
    ),
    "cnn": Network("adastack.deep.networks.mlp", "mlp", 1e3),
}
"""The networks by name."""
