"""Failures of somebody else's environment, told apart from those of the learner."""

from __future__ import annotations


class EnvironmentFailure(RuntimeError):
    """An environment raised an exception; the cause has its traceback."""


class blamed:
    """Turns whatever an environment raises into one line that names it.

    Also `SystemExit`: an environment that leaves has failed, whatever code it leaves with. A class,
    since `contextlib.contextmanager` lets a `StopIteration` through.

    Args:
        environment: Its name.
        doing: What it was asked for: ``"reset"``, ``"step"``.

    Raises:
        EnvironmentFailure: If it raises anything but Ctrl-C or a lack of memory.
    """

    def __init__(self, environment: str, doing: str) -> None:
        self.environment, self.doing = environment, doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        let_through = (KeyboardInterrupt, MemoryError, EnvironmentFailure)
        if error is None or isinstance(error, let_through):
            return
        said = " ".join(str(error).split())
        what = f"{type(error).__name__}: {said}" if said else type(error).__name__
        raise EnvironmentFailure(
            f"the environment {self.environment} failed in {self.doing}: {what}{_hint(error)}"
        ) from error


def _hint(error: BaseException) -> str:
    """What to do where not the environment failed, but Gymnasium with what it returned."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else trace.tb_frame.f_globals.get("__name__", "")
    if where.partition(".")[0] not in ("gymnasium", "numpy"):
        return ""
    return (
        "; what it returned does not fit its spaces or Gymnasium's interface: "
        "gymnasium.utils.env_checker.check_env(env) says where"
    )
