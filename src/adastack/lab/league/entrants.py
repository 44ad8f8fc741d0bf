"""Who takes part in the league: kinds of memory, and the learner that all of them have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adastack.deep.cell_table import CELLS, NO_CELL
from adastack.memory.rules import get_rule
from adastack.settings import check_one_of

PRESET = "league"
CANDIDATES: Mapping[str, Mapping[str, Any]] = {
    "usual": {},
    "slow": {"learning_rate": 3e-4},
    "dense": {"gamma": 0.99, "limits_end": False},
    "long": {"n_envs": 4, "n_steps": 400},
}
"""The small search that every memory gets: what each candidate changes."""
USUAL = "usual"
WORDS = {"adaptive": "AS", "frame": "FS", "push_skip": "push/skip", "none": "none"}
"""Memory rules as figures name them."""
_SPEC = re.compile(r"(?P<rule>\w+?)(:(?P<k>\d+))?(\+(?P<cell>\w+))?$")


@dataclass(frozen=True)
class Entrant:
    """A kind of memory: a stack, a cell, or both."""

    rule: str
    stack_size: int
    cell: str = NO_CELL

    @property
    def label(self) -> str:
        """As tables and figures name it.

        Example:
            >>> Entrant("adaptive", 2, "gru").label, Entrant("none", 1, "lstm").label
            ('AS(2)+GRU', 'LSTM')
        """
        stack = WORDS.get(self.rule, self.rule)
        stack = stack if self.rule == "none" else f"{stack}({self.stack_size})"
        parts = [] if self.rule == "none" and self.recurrent else [stack]
        return "+".join([*parts, *([self.cell.upper()] if self.recurrent else [])])

    @property
    def recurrent(self) -> bool:
        """Whether a cell carries a state."""
        return self.cell != NO_CELL

    @property
    def hybrid(self) -> bool:
        """Whether it has both a stack and a cell."""
        return self.recurrent and self.rule != "none"

    @property
    def ours(self) -> bool:
        """Whether it is adaptive stacking and nothing else."""
        return self.rule == "adaptive" and not self.recurrent

    def overrides(self, hidden: int, candidate: str = USUAL) -> dict[str, Any]:
        """The settings of a run that differ from the preset."""
        cell = {"cell": self.cell} if self.recurrent else {}
        return {**CANDIDATES[candidate], **cell, "hidden": hidden}


def entrant_of(spec: str) -> Entrant:
    """What a word on the command line stands for: RULE[:K][+CELL].

    Raises:
        ValueError: If there is no such memory.

    Example:
        >>> entrant_of("adaptive:2+gru")
        Entrant(rule='adaptive', stack_size=2, cell='gru')
    """
    found = _SPEC.match(spec)
    if found is None:
        raise ValueError(
            f"expected a memory as RULE, RULE:K or RULE:K+CELL, such as adaptive:2+gru, "
            f"actual: {spec!r}"
        )
    rule, size = found["rule"], found["k"]
    cell = found["cell"] or NO_CELL
    check_one_of("cell", cell, (NO_CELL, *CELLS))
    k = int(size) if size else (1 if rule == "none" else 2)
    get_rule(rule).table(k)
    return Entrant(rule, k, cell)


ENTRANTS = tuple(
    entrant_of(spec)
    for spec in (
        *("none", "frame:4", "adaptive:2", "adaptive:4", "push_skip:2"),
        *("none+gru", "none+lstm", "none+lru", "adaptive:2+gru"),
    )
)
"""The league's own."""
SIZED = (*ENTRANTS, entrant_of("frame:16"))
"""Those whose widths are written down in `adastack.lab.league.sizes`, in its order."""
