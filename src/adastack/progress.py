"""How far a run is: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars


class Progress(Protocol):
    """Where a run says how far it is."""

    def update(self, step: int, **numbers: float) -> None:
        """Says which step has been reached and how things stand there."""


class Silent:
    """A progress that nobody watches."""

    def update(self, step: int, **numbers: float) -> None:
        """Says nothing."""


class _Bar:
    def __init__(self, bars: Bars, total: int, label: str) -> None:
        self._bars = bars
        self._id = bars.add_task(label, total=total, numbers="")

    def update(self, step: int, **numbers: float) -> None:
        shown = "  ".join(f"{name} {value:.3g}" for name, value in numbers.items())
        self._bars.update(self._id, completed=step, numbers=shown)


@contextmanager
def watch(total: int, label: str = "steps") -> Iterator[Progress]:
    """A progress bar on standard error while it is a terminal, silence otherwise.

    Example:
        >>> with watch(100) as progress:
        ...     progress.update(50, success=0.5)
    """
    if not sys.stderr.isatty():
        yield Silent()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[numbers]}"),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        yield _Bar(bars, total, label)
