"""Failures of somebody else's environment, told apart from those of the learner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class EnvironmentFailure(RuntimeError):
    """An environment raised an exception; the cause has its traceback."""


@contextmanager
def blamed(environment: str, doing: str) -> Iterator[None]:
    """Turns whatever an environment raises into one line that names it.

    Also `SystemExit`: an environment that leaves has failed, whatever code it leaves with.

    Args:
        environment: Its name.
        doing: What it was asked for: ``"reset"``, ``"step"``.

    Raises:
        EnvironmentFailure: If it raises anything but Ctrl-C or a lack of memory.
    """
    try:
        yield
    except (KeyboardInterrupt, MemoryError, EnvironmentFailure):
        raise
    except BaseException as error:
        said = " ".join(str(error).split())
        what = f"{type(error).__name__}: {said}" if said else type(error).__name__
        raise EnvironmentFailure(
            f"the environment {environment} failed in {doing}: {what}"
        ) from error
