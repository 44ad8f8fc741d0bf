"""The verbs of the command line, one module each.

A verb's module has ``add_arguments(parser)``, ``run(args)`` that returns what
``--json`` prints, and ``show(result)`` that prints the same for a person.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from adastack.extras import check_installed

check_installed("rich", extra="train")

from rich.console import Console
from rich.text import Text

from adastack.settings import printable

PIPE_WIDTH = 120
OF_A_MODULE = "module:MyEnv (a class) or module:MyEnv-v0 (an id)"
"""How an environment of a user's module is named, for the help of verbs."""


class Output(Console):
    """Standard output; wide where it is not a terminal, and it reports a closed pipe.

    Texts are shown as they are: names of folders, tasks and runs are no markup and steer nothing.
    """

    def __init__(self) -> None:
        super().__init__(
            width=None if sys.stdout.isatty() else PIPE_WIDTH, markup=False, emoji=False
        )

    def render_str(self, text: str, **options: Any) -> Text:
        """A text with its control characters spelled out."""
        return super().render_str(printable(text), **options)

    def on_broken_pipe(self) -> None:
        """Raises, so that the command line can end without a failure."""
        raise BrokenPipeError


def check_out(path: Path) -> None:
    """Makes the folder of ``--out``, before any work that could be lost.

    Raises:
        ValueError: If the file cannot be written.
    """
    if path.is_dir():
        raise ValueError(f"--out expects a file, actual: the folder {path}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"--out expects a folder that can be written, actual: {path.parent}")


def add_page_argument(parser: argparse.ArgumentParser | argparse._ArgumentGroup, name: str) -> None:
    """Adds ``--out``, the file of a page."""
    parser.add_argument(
        "--out", type=Path, metavar="FILE", default=Path(name), help=f"the page ({name})"
    )


def add_env_argument(parser: argparse.ArgumentParser) -> None:
    """Adds ``--env-arg``, the arguments with which an environment is made."""
    parser.add_argument(
        "--env-arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an argument of the environment; may be repeated",
    )


def whole_number(text: str) -> int:
    """An integer from the command line, also written as 1e6."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number.is_integer() or number < 0:
        raise argparse.ArgumentTypeError(f"expected an integer, actual: {text!r}")
    return int(number)


def command_line(
    verb: str, operands: Iterable[str], args: argparse.Namespace, defaults: Mapping[str, Any]
) -> str:
    """The command that says the same again: operands, options that differ, and ``--import``.

    Args:
        verb: The verb.
        operands: What stands before its options.
        args: The options as they were parsed.
        defaults: Each option that belongs to the command, by its name in ``args``, and its default.
    """
    words = ["adastack", verb, *operands]
    for name, default in defaults.items():
        value = getattr(args, name)
        if value != default:
            values = value if isinstance(value, list) else [] if value is True else [value]
            words += [f"--{name.replace('_', '-')}", *map(str, values)]
    for module in args.imports:
        words += ["--import", module]
    return shlex.join(words)
