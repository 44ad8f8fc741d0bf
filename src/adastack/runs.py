"""A run: a folder that is finished, resumable, or marked failed with its reason.

A run folder holds

- ``settings.json``: what was asked for, and the versions of the libraries that answer;
- ``checkpoint.json`` and the arrays it names: where the run stands, its curves among them;
- ``events/``: the curves for TensorBoard;
- ``curves.png``: a picture of them, once the run has finished;
- ``result.json``: the outcome, once the run has finished, or ``failure.json``, why it has not;
- ``.lock``: held by the process that trains, and let go when that process ends, however it does.

Every document has a checksum of all it says; `adastack.folders` checks it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from adastack.extras import versions
from adastack.files import DamagedFileError, encode_arrays
from adastack.folders import Folder
from adastack.process.events import check_windows, saved_curves
from adastack.schemas import COUNT, DIGEST, NUMBER, OBJECT, TEXT, Kind, Schema, list_of, object_of

MAX_SEED = 2**31 - 1
SETTINGS, CHECKPOINT = "settings.json", "checkpoint.json"
RESULT, FAILURE = "result.json", "failure.json"
SCHEMAS = {
    SETTINGS: Schema("a run's settings", {"settings": OBJECT, "versions": object_of(TEXT)}),
    CHECKPOINT: Schema(
        "a checkpoint",
        {
            "slot": Kind("0 or 1", lambda value: COUNT.fits(value) and value < 2),
            "arrays": DIGEST,
            "meta": object_of(COUNT),
        },
    ),
    RESULT: Schema("a run's result", {}, others=True),
    FAILURE: Schema("why a run failed", {"reason": TEXT}),
}
"""What the documents of a run have to be."""
RESULT_OF_LEARNER = Schema(
    "the result of a training",
    {
        "run": TEXT,
        "settings": OBJECT,
        "trained_steps": COUNT,
        "steps_per_second": NUMBER,
        "seeds": list_of(OBJECT),
    },
    others=True,
)


class RunError(ValueError):
    """A run folder that cannot be used as asked."""


class Run:
    """One run's folder.

    Example:
        >>> run = Run.create("runs/demo", {"task": "xormaze", "seeds": 4})  # doctest: +SKIP
        >>> run.save_checkpoint({"q": q}, step=1000)                        # doctest: +SKIP
        >>> run.finish({"success": 1.0})                                    # doctest: +SKIP
    """

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        self.folder = Folder(path)
        self.settings = settings

    @classmethod
    def create(cls, path: str | Path, settings: Mapping[str, Any]) -> Run:
        """Makes a new run folder; an existing one is never overwritten.

        Raises:
            RunError: If the folder already holds a run or other files.
        """
        path = Path(path)
        if path.exists() and not (path.is_dir() and Folder(path).unused):
            raise RunError(
                f"{path} already exists: resume it (--resume, Agent.load), or choose another folder"
            )
        try:
            path.mkdir(parents=True, exist_ok=True)
            document = {"settings": dict(settings), "versions": versions()}
            Folder(path).write(SETTINGS, document)
        except OSError as error:
            raise RunError(f"cannot write a run to {path}: {error.strerror}") from None
        return cls(path, dict(settings))

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Opens a run folder.

        Raises:
            RunError: If there is none.
            DamagedFileError: If its settings are not what was written.
        """
        path = Path(path)
        if not (path / SETTINGS).is_file():
            raise RunError(f"expected a run folder with a settings.json, actual: {path}")
        return cls(path, Folder(path).document(SETTINGS, SCHEMAS[SETTINGS])["settings"])

    @classmethod
    def resume(
        cls,
        path: str | Path,
        settings: Mapping[str, Any],
        defaults: Mapping[str, Any] | None = None,
    ) -> Run:
        """Opens a run folder to go on with, or makes a new one if there is none.

        Args:
            path: The folder.
            settings: What the run is asked to be.
            defaults: What the learner's settings are in a run that was begun before they existed.

        Raises:
            RunError: If the folder holds a run with other settings.
        """
        path = Path(path)
        # Killed before its settings were in place, a run has not begun.
        if not path.exists() or (path.is_dir() and Folder(path).unused):
            return cls.create(path, settings)
        run = cls.open(path)
        stored = dict(run.settings)
        if defaults is not None and isinstance(stored.get("settings"), Mapping):
            stored["settings"] = {**defaults, **stored["settings"]}
        for name, value in settings.items():
            # A module may have been renamed; the task's name is compared.
            if name != "imports" and stored.get(name) != value:
                raise RunError(f"{path} {_difference(name, stored.get(name), value)}")
        return run

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the folder while it is trained in, and clears what a killed training has left.

        Raises:
            HeldError: If another process trains in it.
        """
        with self.folder.held():
            self.folder.remove_temporaries()
            yield

    @property
    def status(self) -> str:
        """``"finished"``, ``"failed"`` or ``"resumable"``."""
        if self.folder.has(RESULT):
            return "finished"
        return "failed" if self.folder.has(FAILURE) else "resumable"

    @property
    def result(self) -> dict[str, Any]:
        """What `finish` was given.

        Raises:
            RunError: If the run has not finished.
            DamagedFileError: If it is not what was written, or another run's.
        """
        if self.status != "finished":
            raise RunError(f"{self.path} has not finished: resume it with --resume {self.path}")
        path, result = self.path / RESULT, self.folder.document(RESULT, SCHEMAS[RESULT])
        if "algo" in self.settings:
            RESULT_OF_LEARNER.check(result, path)
            seeds = [row.get("seed") for row in result["seeds"]]
            if result["settings"] != self.settings or seeds != self.settings.get("seeds"):
                raise DamagedFileError(f"{path}: it is the result of another run")
            result["run"] = str(self.path)
        return result

    def save_checkpoint(self, arrays: Mapping[str, NDArray[Any]], **meta: int) -> None:
        """Saves where the run stands; a crash in between leaves the previous checkpoint.

        The arrays go to one of two files in turn and the JSON that names it is replaced last.
        """
        previous = self._checkpoint()
        slot = 1 - previous["slot"] if previous else 0
        content = encode_arrays(arrays)
        self.folder.write_bytes(_arrays_file(slot), content)
        digest = hashlib.sha256(content).hexdigest()
        self.folder.write(CHECKPOINT, {"slot": slot, "arrays": digest, "meta": meta})

    def load_checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, int]] | None:
        """The last checkpoint's arrays and metadata; None if there is none yet.

        Raises:
            DamagedFileError: If the checkpoint is not what was saved.
        """
        document = self._checkpoint()
        if document is None:
            return None
        arrays = self.folder.arrays(_arrays_file(document["slot"]), document["arrays"])
        return arrays, document["meta"]

    def _checkpoint(self) -> dict[str, Any] | None:
        if not self.folder.has(CHECKPOINT):
            return None
        return self.folder.document(CHECKPOINT, SCHEMAS[CHECKPOINT])

    def curves(self) -> dict[str, NDArray[Any]]:
        """Metrics over the training: arrays (seeds, windows), and ``step`` (windows,).

        Raises:
            RunError: If nothing has been saved yet.
            DamagedFileError: If what was saved has no such metrics.
        """
        saved = self.load_checkpoint()
        if saved is None:
            raise RunError(f"{self.path} has no checkpoint yet: train it first")
        check_windows(saved[0])
        return saved_curves(saved[0])

    def save_picture(self, picture: bytes) -> None:
        """Keeps a picture of the curves, a PNG."""
        self.folder.write_bytes("curves.png", picture)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Marks the run finished."""
        self.folder.write(RESULT, dict(result))
        self.folder.remove(FAILURE)

    def fail(self, reason: str) -> None:
        """Marks the run failed."""
        self.folder.write(FAILURE, {"reason": reason})


def _arrays_file(slot: int) -> str:
    return f"checkpoint-{slot}.safetensors"


def check_seeds(seeds: Sequence[int], steps: int) -> None:
    """Raises unless there are different seeds, all in range, and at least one step."""
    if not seeds or len(set(seeds)) != len(seeds) or not all(0 <= s <= MAX_SEED for s in seeds):
        raise ValueError(f"seeds must be different numbers in 0..{MAX_SEED}, actual: {seeds}")
    if steps < 1:
        raise ValueError(f"steps must be at least 1, actual: {steps}")


def _difference(name: str, theirs: Any, ours: Any) -> str:
    """What a run has another value of; of a group of settings, the first."""
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
        for part in (*ours, *theirs):
            if name == "settings" and part not in ours:
                return f"was begun by another version: it has {part}, which is not a setting now"
            if theirs.get(part) != ours.get(part):
                return _difference(part, theirs.get(part), ours.get(part))
    return f"holds another run: its {name} is {theirs!r}, expected {ours!r}"
