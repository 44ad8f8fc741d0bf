"""The memories that a diagnosis compares."""

from __future__ import annotations

from dataclasses import dataclass

NO_CELL = "none"


@dataclass(frozen=True, order=True)
class Memory:
    """A memory rule with its slots, or a recurrent cell over the observations.

    Example:
        >>> Memory("adaptive", 2).words, Memory("frame", 4).words, Memory("none", 1, "gru").words
        ('2 chosen slots', 'a window of 4', 'a gru cell')
    """

    rule: str
    """A memory rule: none, frame or adaptive."""
    k: int
    """The slots, the current observation included."""
    cell: str = NO_CELL
    """The recurrent cell, if there is one."""

    @property
    def recurrent(self) -> bool:
        """Whether a cell carries a state through the episode."""
        return self.cell != NO_CELL

    @property
    def name(self) -> str:
        """A short name, also of its folder.

        Example:
            >>> Memory("adaptive", 2).name, Memory("none", 1).name, Memory("none", 1, "gru").name
            ('adaptive-2', 'none', 'gru')
        """
        stack = "none" if self.rule == "none" and self.k == 1 else f"{self.rule}-{self.k}"
        if not self.recurrent:
            return stack
        return self.cell if stack == "none" else f"{stack}-{self.cell}"

    @property
    def words(self) -> str:
        """What it is, in a sentence."""
        if self.recurrent:
            return f"a {self.cell} cell"
        if self.rule == "none":
            return "no memory"
        return f"a window of {self.k}" if self.rule == "frame" else f"{self.k} chosen slots"


NONE = Memory("none", 1)
CELL = Memory("none", 1, "gru")


def window(k: int) -> Memory:
    """The last k observations."""
    return Memory("frame", k)


def chosen(k: int) -> Memory:
    """A stack of k slots, where the agent chooses what they keep."""
    return Memory("adaptive", k)
