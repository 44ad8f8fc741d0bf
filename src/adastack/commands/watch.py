"""``adastack watch``: an episode of a trained run, with its memory."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from adastack.commands import Output, check_out, whole_number
from adastack.runs import Run
from adastack.viewer.show import Show, episode_page, show_of

FORMATS = ("html", "gif", "mp4")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack watch``."""
    parser.add_argument("run", metavar="RUN", type=Path, help="the folder of a run")
    parser.add_argument("--seed", type=whole_number, help="one of the run's seeds (the first)")
    parser.add_argument("--task", help="another task with the same observations (the run's own)")
    parser.add_argument("--episode", type=whole_number, default=0, help="which episode (0)")
    parser.add_argument("--steps", type=whole_number, default=200, help="at most so many (200)")
    parser.add_argument(
        "--format", choices=FORMATS, help="by default what --out ends with, or html"
    )
    parser.add_argument("--out", type=Path, help="the file to write (watch.html)")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Plays an episode and writes it."""
    kind = args.format or _ending(args.out)
    out = args.out or Path(f"watch.{kind}")
    show = show_of(Run.open(folder_of(args.run)), args.seed, args.task)
    check_out(out)
    steps = _write(show, kind, out, args.episode, args.steps)
    return {"file": str(out), "format": kind, "shows": show.title, "steps": steps}


def show(result: dict[str, Any]) -> None:
    """Says where the file is."""
    Output().print(
        f"{result['shows']}\n{result['steps']} steps: open {result['file']}", highlight=False
    )


def folder_of(path: Path) -> Path:
    """A run's folder, also where it lies in the folder of a job in a store."""
    return path / "run" if (path / "run" / "settings.json").is_file() else path


def _write(show: Show, kind: str, out: Path, seed: int, max_steps: int) -> int:
    if kind == "html":
        episode = show.episode(seed=seed, max_steps=max_steps)
        episode_page(episode, show.title).write(out)
        return len(episode["frames"]) - 1
    film = show.film(seed=seed, max_steps=max_steps)
    if kind == "gif":
        film.write_gif(out)
    else:
        film.write_mp4(out)
    return len(film.pictures) - 1


def _ending(out: Path | None) -> str:
    """The format that a file's name asks for.

    Raises:
        ValueError: If there is no such format.
    """
    ending = out.suffix.removeprefix(".").lower() if out else ""
    if ending and ending not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise ValueError(f"--out expects an ending of {endings}, or give --format; actual: {out}")
    return ending or FORMATS[0]
