"""The command line: ``adastack <verb>``. Verbs live in `adastack.commands`."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from types import FrameType, ModuleType
from typing import Any

from adastack import __version__
from adastack.settings import printable
from adastack.tasks.failures import EnvironmentFailure
from adastack.tasks.registry import import_module

with suppress(ImportError):  # A verb says what is missing.
    import adastack.deep  # noqa: F401  # quiets XLA, before a verb imports jax by way of a task

VERBS = {
    "tasks": "what there is to remember: T, k*, kappa, value-consistency",
    "train": "learn a task with a memory",
    "evaluate": "test a run, also on other tasks and lengths",
    "watch": "an episode with its memory, as HTML, GIF or MP4",
    "play": "hold the stack yourself, in the browser",
    "theory": "exact answers: kappa, value gap, value-consistency, states",
    "cost": "compute and memory of each network and memory",
    "find-k": "the smallest stack that is enough, learned or proved",
    "diagnose": "does it need memory, how much, which kind, and what is kept: with evidence",
    "league": "every kind of memory on every task, under one learner",
    "reproduce": "every figure and table of the paper: runs that resume, here or on a cluster",
    "runs": "what was run: list, verify, remove",
    "archive": "what finished runs found, in small files that the repository keeps",
    "report": "one HTML page: figures, claims held or not, missing seeds, how to rerun",
    "bench": "the speed figures, each as a ratio measured in one run",
}
"""Each verb and its line in ``adastack --help``; a verb's module is imported only when it runs."""

DONE, FAILED, BAD_INPUT = 0, 1, 2
SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class _LeftError(RuntimeError):
    """Something below has called `sys.exit`; a verb that did not return has not succeeded."""


class _Parser(argparse.ArgumentParser):
    """What it repeats of a command line has its control characters spelled out."""

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(printable(message), file)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb and returns its exit code: 0 done, 1 a run failed, 2 bad input."""
    words = list(sys.argv[1:] if argv is None else argv)
    verb = words[0] if words and words[0] in VERBS else None
    name = "adastack" if verb is None else f"adastack {verb}"
    try:
        # Nothing can be lost before a verb runs: a signal ends the process at once.
        with _signals(name) as from_now_on_unwind:
            parser, module = _parser(verb)
            args = parser.parse_args(words)
            if module is None:
                parser.print_help()
                return BAD_INPUT if words else DONE
            for each in args.imports:
                import_module(each)
            from_now_on_unwind()
            result = _run(module, args)
            if args.json:
                print(json.dumps(result, default=lambda value: value.tolist()))
            else:
                module.show(result)
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`, `less`) has left; what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt as stop:
        _say(name, str(stop) or "interrupted")
        return FAILED
    except Exception as error:
        if "--traceback" in words:
            traceback.print_exc()
        _say(name, _one_line(error))
        return BAD_INPUT if _is_bad_input(error) else FAILED
    code: int = getattr(module, "exit_code", lambda result: DONE)(result)
    return code


def _run(module: ModuleType, args: argparse.Namespace) -> Any:
    """What a verb returns; with ``--json`` standard output is for the object alone."""
    try:
        if not args.json:
            return module.run(args)
        with redirect_stdout(sys.stderr):
            return module.run(args)
    except SystemExit as error:
        raise _LeftError(f"sys.exit({error.code!r}) was called before it was done") from error


@contextmanager
def _signals(name: str) -> Iterator[Callable[[], None]]:
    """Ctrl-C and SIGTERM end the process with one line; after a call of what is given, the verb."""
    got, at_once, in_hook = signal.SIGINT, True, False

    def unwind() -> None:
        nonlocal at_once
        at_once = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal got
        got = signal.Signals(number)
        what = SIGNALS[got]
        if at_once:
            _say(name, what)
            os._exit(FAILED)
        if in_hook:  # What is raised there is lost, too.
            return send()
        raise KeyboardInterrupt(what)

    def send() -> None:
        threading.Timer(0.01, os.kill, (os.getpid(), got)).start()

    def again(ignored: Any) -> None:
        nonlocal in_hook
        # It came in a callback (jax has one of the garbage collector's), which Python goes on from.
        if isinstance(ignored.exc_value, KeyboardInterrupt):
            in_hook = True
            send()
            in_hook = False
        else:
            hook(ignored)

    if threading.current_thread() is not threading.main_thread():
        yield unwind
        return
    hook, sys.unraisablehook = sys.unraisablehook, again
    # Whoever ignores Ctrl-C (a job in the background) goes on doing so.
    heard = [each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, end) for each in heard}
    try:
        yield unwind
    finally:
        sys.unraisablehook = hook
        for each, handler in before.items():
            signal.signal(each, handler)


def _parser(verb: str | None) -> tuple[argparse.ArgumentParser, ModuleType | None]:
    """The parser of all verbs, with the arguments of the one that is asked for."""
    parser = _Parser(
        prog="adastack", description="Reinforcement-learning agents that learn what to remember."
    )
    parser.add_argument("--version", action="version", version=f"adastack {__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    module = None
    for name, line in VERBS.items():
        sub = verbs.add_parser(name, help=line, description=line)
        if name == verb:
            module = importlib.import_module(f"adastack.commands.{name.replace('-', '_')}")
            module.add_arguments(sub)
            sub.add_argument("--json", action="store_true", help="print one JSON object on stdout")
            sub.add_argument(
                "--import",
                action="append",
                default=[],
                dest="imports",
                metavar="MODULE",
                help="a module that registers environments, tasks or rules; it is run",
            )
            sub.add_argument("--traceback", action="store_true", help="show where an error arose")
    return parser, module


def _say(name: str, text: str) -> None:
    with suppress(OSError):  # Nobody may be listening.
        print(f"{name}: {printable(text)}", file=sys.stderr, flush=True)


def _is_bad_input(error: Exception) -> bool:
    return isinstance(error, ValueError | TypeError | OSError | ImportError)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, EnvironmentFailure | _LeftError):
        return f"{text} (--traceback shows where)"
    if isinstance(error, MemoryError):
        return f"out of memory{f': {text}' if text else ''}"
    if _is_bad_input(error) or isinstance(error, RuntimeError):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text} (--traceback shows where)"


if __name__ == "__main__":
    raise SystemExit(main())
