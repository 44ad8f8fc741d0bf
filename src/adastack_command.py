"""What ``adastack`` starts: it imports nothing yet, so that Ctrl-C is heard from the start."""

import os
import signal
import sys
from types import FrameType


def main() -> int:
    """Runs the command line; until that is imported, a signal ends the process with one line."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    from adastack.cli import main as run

    return run()


def _end(number: int, frame: FrameType | None) -> None:
    what = "interrupted" if number == signal.SIGINT else "terminated"
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"adastack: {what}\n".encode())
    os._exit(1)


if __name__ == "__main__":
    raise SystemExit(main())
