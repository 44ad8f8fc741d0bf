"""How far a run is: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from adastack.extras import check_installed

check_installed("rich", extra="train")

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

LINE_SECONDS = 5.0


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


class _Lines:
    def __init__(self, total: int, label: str) -> None:
        self._total, self._label = total, label
        self._first: tuple[float, int] | None = None
        self._last = time.monotonic()

    def update(self, step: int, **numbers: float) -> None:
        now = time.monotonic()
        if self._first is None:  # What came before was compilation: it says nothing of speed.
            self._first = now, step
        if now - self._last < LINE_SECONDS or step == self._first[1]:
            return
        self._last = now
        # The last update may go beyond what was asked for.
        to_do = max(0, self._total - step)
        left = (now - self._first[0]) * to_do / (step - self._first[1])
        shown = "  ".join(f"{name} {value:.3g}" for name, value in numbers.items())
        line = f"{self._label} {step:,}/{self._total:,}  {left:.0f} s left  {shown}"
        print(line.rstrip(), file=sys.stderr, flush=True)


@contextmanager
def watch(total: int, label: str = "steps") -> Iterator[Progress]:
    """Progress on standard error: a bar on a terminal, elsewhere a line every few seconds.

    Example:
        >>> with watch(100) as progress:
        ...     progress.update(50, success=0.5)
    """
    if not sys.stderr.isatty():
        yield _Lines(total, label)
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
