"""Small trainings of every learner, their undisturbed results, and how to compare with these."""

import os
import re
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from adastack.files import DamagedFileError
from faults.harness import LOST, WRONG, Ended, command, ran, refused, verdict

SMALL = ("n_envs=4", "n_steps=16", "batch_size=32", "n_epochs=2")
_PPO = ("--algo", "ppo", *(word for each in SMALL for word in ("--set", each)))
HOST = "faults.envs:Cue"
TABULAR = {
    "sarsa": ("passive-tmaze:length=4,continual=true", "--steps", "8000", "--seeds", "2"),
    "q": ("active-tmaze:length=3", "--algo", "q", "--preset", "paper", "--steps", "8000"),
    "bonus": (
        *("xormaze", "--k", "3", "--algo", "sarsa", "--steps", "8000"),
        *("--set", "intrinsic=rare"),
    ),
    "reinforce": ("passive-tmaze:length=4", "--algo", "reinforce", "--steps", "8000"),
    "average": (
        *("passive-tmaze:length=4,continual=true", "--algo", "average-reinforce"),
        *("--steps", "8000"),
    ),
}
# A network on each rollout, without a cell and with one.
DEEP = {
    "finite": ("passive-tmaze:length=4", *_PPO, "--steps", "1024", "--seeds", "2"),
    "lstm": ("passive-tmaze:length=4", *_PPO, "--net", "lstm", "--steps", "512"),
    "functional": ("position-only-cartpole", *_PPO, "--steps", "512"),
    "host": (HOST, *_PPO, "--steps", "4096"),
    "finite gru": ("passive-tmaze:length=4", *_PPO, "--cell", "gru", "--steps", "512"),
    "popgym lru": ("popgym-repeat-previous", *_PPO, "--cell", "lru", "--steps", "512"),
    "host gru": (HOST, *_PPO, "--cell", "gru", "--steps", "4096"),
}
ALL = {**TABULAR, **DEEP}


def often() -> None:
    """Checkpoints after every chunk, chunks as short as can be, and little time for the rest."""
    from adastack import training
    from adastack.deep.session import DeepSession
    from adastack.tabular import session
    from adastack.theory import kappa

    training.SAVE_SECONDS = 0.0
    training.picture_of = lambda curves: b"a picture, which takes longer than the training"
    session.CHUNK_SECONDS = 0.002
    session.Session.evaluation_episodes = DeepSession.evaluation_episodes = 10
    kappa.quick_optimum = lambda *args, **options: None


def train(name: str, *more: str, before: Callable[[], None] = often) -> Callable[[], int]:
    """The command that trains, or goes on, in the folder ``run``."""
    return command("train", *ALL[name], "--out", "run", *more, before=before)


class References:
    """The results of undisturbed trainings, each computed once."""

    def __init__(self, place: Path) -> None:
        self.place, self._found = place, dict[str, Path]()

    def __getitem__(self, name: str) -> Path:
        """The folder of a whole run."""
        if name not in self._found:
            place = self.place / f"whole-{name}"
            place.mkdir()
            ended = ran(train(name, before=_copying(place, name in DEEP)), place, 600)
            assert ended.code == 0, ended.said
            self._found[name] = place / "run"
        return self._found[name]

    def points(self, name: str) -> Counter[str]:
        """The write points of a training, and how often each occurs."""
        return Counter((self[name].parent / "points").read_text().splitlines())

    def left(self, name: str, point: str, nth: int) -> Path | None:
        """The run as a kill at this write point leaves it; None if it does not exist yet."""
        lines = (self[name].parent / "points").read_text().splitlines()
        number = [i for i, line in enumerate(lines) if line == point][nth - 1]
        found = self[name].parent / "left" / str(number)
        return found if found.exists() else None

    def unfinished(self, name: str) -> Path:
        """An unfinished run that has a checkpoint."""
        left = self[name].parent / "left"
        for number in (40, 30, 24, 20, 16):
            found = left / str(number)
            if (found / "checkpoint.json").exists() and not (found / "result.json").exists():
                return found
        raise AssertionError(f"{name} has no checkpoint on the way")


def _copying(place: Path, every: bool) -> Callable:
    """What a child does first: notes its write points; copies its run at the first, or all."""
    number, busy = 0, False

    def react(point: str) -> None:
        nonlocal number, busy
        if busy:
            return
        busy = True
        with (place / "points").open("a") as file:
            file.write(f"{point}\n")
        if (every or number <= 40) and (place / "run").exists():
            shutil.copytree(place / "run", place / "left" / str(number))
        number, busy = number + 1, False

    return touching(react)


def result_of(run: Path) -> object:
    """The result of a run."""
    from adastack.runs import Run

    found = Run.open(run).result
    return {k: v for k, v in found.items() if k not in ("run", "steps_per_second")}


def arrays_of(run: Path) -> dict[str, np.ndarray]:
    """The arrays that a run has learned."""
    from adastack.runs import Run

    saved = Run.open(run).load_checkpoint()
    if saved is None:
        raise DamagedFileError(f"{run}: the checkpoint is missing")
    return saved[0]


def same(run: Path, whole: Path) -> bool:
    """Whether two runs have the same result, bit for bit."""
    arrays, others = arrays_of(run), arrays_of(whole)
    return (
        result_of(run) == result_of(whole)
        and arrays.keys() == others.keys()
        and all(
            arrays[n].dtype == others[n].dtype
            and np.array_equal(arrays[n], others[n], equal_nan=arrays[n].dtype.kind == "f")
            for n in others
        )
    )


def leftovers(run: Path) -> list[str]:
    """Temporary files that nobody will remove."""
    return [path.name for path in run.rglob("*.part")]


def judged_resume(name: str, place: Path, whole: Path) -> tuple[str, str]:
    """Resumes a run that was stopped, and compares it with one that was not."""
    return resumption(ran(train(name, "--resume"), place), place / "run", whole)


def resumption(ended: Ended, run: Path, whole: Path) -> tuple[str, str]:
    """Whether a run that was stopped and resumed has the same result."""
    found = verdict(ended)
    if found or ended.code:
        return found or LOST, f"code {ended.code}: {ended.said}"
    if not same(run, whole):
        return WRONG, "resumed to another result"
    left = leftovers(run)
    return (WRONG, f"left {left}") if left else ("good", "")


def judged_damage(name: str, place: Path, whole: Path) -> tuple[str, str]:
    """Resumes a run that was changed: refused, or the same result."""
    return damage(ran(train(name, "--resume"), place), place / "run", whole)


def damage(ended: Ended, run: Path, whole: Path) -> tuple[str, str]:
    """Whether a run that was changed was refused, or has the same result."""
    found = verdict(ended)
    if found:
        return found, ended.said
    if refused(ended):
        return "good", ""
    if ended.code:
        return LOST, f"code {ended.code}: {ended.said}"
    try:
        right = same(run, whole)
    except DamagedFileError:  # What had finished gives its result; what it learned is refused.
        right = result_of(run) == result_of(whole)
    return ("good", "") if right else (WRONG, "another result, and no word")


def touching(react: Callable[[str], None], begin: Callable[[], None] = often) -> Callable:
    """What a child does first: each touch of the disk calls ``react``, before and after it."""

    def before() -> None:
        begin()

        def watched(function, touch):
            def touched(*args, **options):
                point = f"{touch} {_name_of(touch, args, options)}"
                react(f"before {point}")
                found = function(*args, **options)
                react(f"after {point}")
                return found

            return touched

        for module, touch in (
            *((os, each) for each in ("replace", "fsync", "unlink", "mkdir", "truncate")),
            (tempfile, "mkstemp"),
        ):
            setattr(module, touch, watched(getattr(module, touch), touch))

    return before


def _name_of(touch: str, args: tuple, options: dict) -> str:
    """The file that is touched; the random part of a temporary one's name left out."""
    path = args[touch == "replace"] if args else options.get("prefix", "")
    if touch == "fsync":
        path = os.readlink(f"/proc/self/fd/{path}")
    name = os.path.basename(os.fspath(path))
    return re.sub(r"^\.(.+?)\.(\w{8}\.part)?$", r"\1", name)


def at_point(
    point: str | int, do: Callable[[], None], begin: Callable[[], None] = often, nth: int = 1
) -> Callable:
    """What a child does first: at its n-th touch of the disk, or of one file, ``do``."""
    count = 0

    def react(now: str) -> None:
        nonlocal count
        count += isinstance(point, int) or now == point
        if count == (point if isinstance(point, int) else nth):
            count += 1  # Only once.
            do()

    return touching(react, begin)


def noting(path: Path, begin: Callable[[], None] = often) -> Callable:
    """What a child does first: it notes its write points in a file."""

    def react(now: str) -> None:
        with path.open("a") as file:
            file.write(f"{now}\n")

    return touching(react, begin)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number: int) -> Callable[[], None]:
    """An error of the disk."""

    def raised() -> None:
        raise OSError(number, os.strerror(number))

    return raised


def stopped(ended: Ended) -> bool:
    return ended.code == -signal.SIGKILL
