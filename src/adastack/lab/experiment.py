"""What an experiment is: runs as data, an analysis of them, and the claims they bear on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from adastack.lab.claims import Claim
from adastack.lab.job import Job
from adastack.lab.results import Results

T = TypeVar("T")


@dataclass(frozen=True)
class Scale:
    """How large an experiment is run.

    Example:
        >>> SCALES["smoke"].pick(paper=1_000_000, smoke=2_000)
        2000
    """

    name: str
    """``"paper"``: the paper's seeds and steps. ``"smoke"``: everything, as small as it can be."""

    def pick(self, *, paper: T, smoke: T) -> T:
        """One of two values."""
        return paper if self.name == "paper" else smoke


SCALES = {name: Scale(name) for name in ("smoke", "paper")}


@dataclass(frozen=True)
class Table:
    """A table of texts and numbers."""

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | float | int | None]]
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """A drawing."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Analysis:
    """What an experiment shows."""

    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure or table of the paper.

    For those in `adastack.lab.experiments` the name is that of the module; title, place and page
    are read from the page.
    """

    sweep: Callable[[Scale], list[Job]] = field(repr=False)
    """The jobs it needs."""
    analyse: Callable[[Results], Analysis] = field(repr=False)
    """Tables and figures from what is finished."""
    claims: tuple[Claim, ...] = ()
    name: str = ""
    """The name on the command line."""
    title: str = ""
    where: str = ""
    """Its place in the paper."""
    page: str = field(default="", repr=False)
    """What the paper shows, what we run and how to read it, as Markdown."""
