"""The command line: ``adastack <verb>``. Verbs live in `adastack.commands`."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from types import ModuleType

from adastack import __version__
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
    "reproduce": "every figure and table of the paper: runs that resume, here or on a cluster",
    "runs": "what was run: list, verify, remove",
    "archive": "what finished runs found, in small files that the repository keeps",
    "report": "one HTML page: figures, claims held or not, missing seeds, how to rerun",
    "bench": "the speed figures, each as a ratio measured in one run",
}
"""Each verb and its line in ``adastack --help``; a verb's module is imported only when it runs."""

DONE, FAILED, BAD_INPUT = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb and returns its exit code: 0 done, 1 a run failed, 2 bad input."""
    words = list(sys.argv[1:] if argv is None else argv)
    verb = words[0] if words and words[0] in VERBS else None
    try:
        parser, module = _parser(verb)
        args = parser.parse_args(words)
        if module is None:
            parser.print_help()
            return BAD_INPUT if words else DONE
        for name in args.imports:
            import_module(name)
        result = module.run(args)
        if args.json:
            print(json.dumps(result, default=lambda value: value.tolist()))
        else:
            module.show(result)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`head`, `less`) has left; what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (ValueError, TypeError, OSError, ImportError, RuntimeError, MemoryError) as error:
        if "--traceback" in words:
            traceback.print_exc()
        print(f"adastack {verb}: {_one_line(error)}", file=sys.stderr)
        return FAILED if isinstance(error, RuntimeError | MemoryError) else BAD_INPUT
    except KeyboardInterrupt as stop:
        print(f"adastack {verb}: {str(stop) or 'interrupted'}", file=sys.stderr)
        return FAILED
    code: int = getattr(module, "exit_code", lambda result: DONE)(result)
    return code


def _parser(verb: str | None) -> tuple[argparse.ArgumentParser, ModuleType | None]:
    """The parser of all verbs, with the arguments of the one that is asked for."""
    parser = argparse.ArgumentParser(
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


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":
    raise SystemExit(main())
