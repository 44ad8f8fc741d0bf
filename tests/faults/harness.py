"""Runs one fault at a time in a process of its own, and says how it ended.

The campaign's process has imported everything and computes nothing with JAX, so that a fork of it
starts in milliseconds. Whatever a fault does to its process, the campaign goes on.
"""

import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

GOOD, LOST, WRONG, TRACEBACK, HANG = "good", "lost", "wrong", "traceback", "hang"
"""``lost``: what was done cannot be gone on with. ``wrong``: another result, and nobody says so."""
PATIENCE = 90.0
"""Seconds; what takes longer hangs."""


@dataclass
class Ended:
    """How a process ended."""

    code: int
    """Minus the signal, if one killed it."""
    out: str
    err: str
    hung: bool = False

    @property
    def said(self) -> str:
        return f"{self.out}\n{self.err}"

    @property
    def lines(self) -> list[str]:
        """What it said on standard error, but for progress."""
        return [line for line in self.err.splitlines() if line.startswith("adastack")]


class Child:
    """A fork of this process that runs a function; its result is the exit code."""

    def __init__(self, work: Callable[[], int | None], place: Path) -> None:
        self.out, self.err = place / ".out", place / ".err"
        self.place = place
        for path in (self.out, self.err):  # Before the fork: it may be killed before it runs.
            path.touch()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._work(work)

    def _work(self, work: Callable[[], int | None]) -> None:
        code = 70
        try:
            os.setsid()
            os.chdir(self.place)
            for path, standard in ((self.out, 1), (self.err, 2)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), standard)
            sys.stdout = os.fdopen(1, "w", closefd=False)
            sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            code = work() or 0
        except SystemExit as error:  # As argparse ends.
            code = error.code if isinstance(error.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def kill(self, number: int = signal.SIGKILL) -> None:
        os.kill(self.pid, number)

    def wait(self, patience: float = PATIENCE) -> Ended:
        handle = os.pidfd_open(self.pid)
        hung = not select.select([handle], [], [], patience)[0]
        os.close(handle)
        if hung:
            self.kill()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        out, err = (path.read_text(errors="replace") for path in (self.out, self.err))
        return Ended(code, out, err, hung)


def command(*words: str, before: Callable[[], None] | None = None) -> Callable[[], int]:
    """The command line with these words, as the work of a child."""

    def work() -> int:
        from adastack.cli import main

        if before is not None:
            before()
        return main([str(word) for word in words])

    return work


def ran(work: Callable[[], int | None], place: Path, patience: float = PATIENCE) -> Ended:
    """Runs work in a child and waits for it."""
    return Child(work, place).wait(patience)


def verdict(ended: Ended) -> str | None:
    """What is never good; None if the rest is for the fault to judge."""
    if ended.hung:
        return HANG
    if "Traceback (most recent call last)" in ended.said:
        return TRACEBACK
    return None


def refused(ended: Ended) -> bool:
    """Whether it said in one line why not."""
    return ended.code in (1, 2) and len(ended.lines) == 1


@dataclass
class Fault:
    """Something that goes wrong, and what is expected of the package then."""

    family: str
    name: str
    run: Callable[[Path], tuple[str, str]]
    """In an empty folder; gives the verdict, and a note for one that is not good."""


@dataclass
class Tally:
    """The counts of one family."""

    tried: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, fault: Fault, place: Path) -> None:
        began = time.monotonic()
        try:
            found, note = fault.run(place)
        except Exception as error:  # A fault of the campaign is no excuse.
            found, note = LOST, "".join(traceback.format_exception(error))
        self.tried += 1
        self.counts[found] = self.counts.get(found, 0) + 1
        self.seconds += time.monotonic() - began
        if found != GOOD:
            self.notes.append(f"{fault.family}, {fault.name}: {found}: {note}")
