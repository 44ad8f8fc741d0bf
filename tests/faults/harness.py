"""Runs one fault at a time in a process of its own, and says how it ended.

The campaign's process has imported everything and computes nothing with JAX, so that a fork of it
starts in milliseconds. Whatever a fault does to its process, the campaign goes on.
"""

import faulthandler
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import adastack_command

GOOD, LOST, WRONG, TRACEBACK, HANG = "good", "lost", "wrong", "traceback", "hang"
"""``lost``: the run cannot be resumed. ``wrong``: another result, without an error."""
PATIENCE = 90.0
"""A process hangs if it computes, or idles, for more seconds than this."""
IDLE = 0.02
"""A process that wants a core for a smaller part of the time than this idles."""


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
        """The lines on standard error, except for progress."""
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
        self.began = time.monotonic()
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
            faulthandler.register(signal.SIGUSR1, sys.stderr, all_threads=True)
            for number in (signal.SIGINT, signal.SIGTERM):  # As in the command's first line.
                signal.signal(number, adastack_command._end)
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

    def computes(self, seconds: float) -> None:
        """Waits until it has computed for so long: on a busy machine it would not have begun."""
        handle = os.pidfd_open(self.pid)
        # It cannot be there sooner than in the time that is left, shared by two cores.
        while (left := seconds - core_seconds(self.pid)[0]) > 0:
            if select.select([handle], [], [], max(0.01, left / 2))[0]:
                break
        os.close(handle)

    def wait(self, patience: float = PATIENCE) -> Ended:
        hung = self._hangs(patience)
        if hung:
            used, wanted = core_seconds(self.pid)
            self.kill(signal.SIGUSR1)  # It says where it is.
            time.sleep(1)
            self.kill()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        out, err = (path.read_text(errors="replace") for path in (self.out, self.err))
        if hung:
            took = time.monotonic() - self.began
            err += f"\nafter {took:.0f} s: computed {used:.1f} s, wanted a core {wanted:.1f} s"
        return Ended(code, out, err, hung)

    def _hangs(self, patience: float) -> bool:
        """Waits for the end. Other work on the machine makes a process slow, but not a hang."""
        handle = os.pidfd_open(self.pid)
        try:
            since, before = time.monotonic(), 0.0
            while not select.select([handle], [], [], 2.0)[0]:
                now, (used, wanted) = time.monotonic(), core_seconds(self.pid)
                if used > patience:
                    return True
                if abs(wanted - before) > IDLE * patience:  # Less, where a thread has ended.
                    since, before = now, wanted
                elif now - since > patience:
                    return True
            return False
        finally:
            os.close(handle)


def core_seconds(pid: int) -> tuple[float, float]:
    """Processor seconds of a process and its descendants, and how long they wanted a core."""
    parents, used = dict[int, int](), dict[int, int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # It has ended.
            words = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(words[1])
            used[int(path.parent.name)] = sum(map(int, words[11:15]))
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    wanted = sum(map(_wanted, family))
    computed = sum(used.get(each, 0) for each in family)
    return computed / os.sysconf("SC_CLK_TCK"), wanted / 1e9


def _wanted(pid: int) -> int:
    """The nanoseconds that a process's threads ran or waited for a core."""
    found = 0
    with suppress(OSError):  # It may end meanwhile, as may a thread.
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError):
                words = Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()
                found += int(words[0]) + int(words[1])
    return found


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
    """The verdict on what is never right; None if the fault has to judge."""
    if ended.hung:
        return HANG
    if "Traceback (most recent call last)" in ended.said:
        return TRACEBACK
    return None


def refused(ended: Ended) -> bool:
    """Whether the command refused, with an error of one line."""
    return ended.code in (1, 2) and len(ended.lines) == 1


@dataclass
class Fault:
    """A fault, and what is expected of the package then."""

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
    computed: float = 0.0

    def add(self, fault: Fault, place: Path) -> None:
        began, before = time.monotonic(), sum(os.times()[:4])
        try:
            found, note = fault.run(place)
        except Exception as error:  # A fault of the campaign is no excuse.
            found, note = LOST, "".join(traceback.format_exception(error))
        self.tried += 1
        self.counts[found] = self.counts.get(found, 0) + 1
        self.seconds += time.monotonic() - began
        self.computed += sum(os.times()[:4]) - before
        if found != GOOD:
            self.notes.append(f"{fault.family}, {fault.name}: {found}: {note}")
