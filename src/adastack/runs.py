"""A run: a folder that is finished, resumable, or marked failed with its reason.

A run folder holds

- ``settings.json``: what was asked for, and the versions of the libraries that answer;
- ``checkpoint.json`` and the arrays it names: where the run stands, its curves among them,
  checksummed;
- ``events/``: the curves for TensorBoard;
- ``curves.png``: a picture of them, once the run has finished;
- ``result.json``: the outcome, once the run has finished, or ``failure.json``, why it has not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from adastack.extras import versions
from adastack.files import (
    DamagedFileError,
    encode_json,
    read_arrays,
    read_json,
    write_arrays,
    write_json,
    write_whole,
)
from adastack.process.events import saved_curves

MAX_SEED = 2**31 - 1


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
        self.settings = settings

    @classmethod
    def create(cls, path: str | Path, settings: Mapping[str, Any]) -> Run:
        """Makes a new run folder; an existing one is never overwritten.

        Raises:
            RunError: If the folder already holds a run or other files.
        """
        path = Path(path)
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RunError(
                f"{path} already exists: resume it with --resume, or choose another folder"
            )
        try:
            content = encode_json({"settings": dict(settings), "versions": versions()})
            path.mkdir(parents=True, exist_ok=True)
            write_whole(path / "settings.json", content)
        except OSError as error:
            raise RunError(f"cannot write a run to {path}: {error.strerror}") from None
        return cls(path, dict(settings))

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Opens a run folder.

        Raises:
            RunError: If there is none.
        """
        path = Path(path)
        if not (path / "settings.json").is_file():
            raise RunError(f"expected a run folder with a settings.json, actual: {path}")
        document = read_json(path / "settings.json")
        if not isinstance(document, dict) or "settings" not in document:
            raise RunError(f"{path / 'settings.json'} is not a run's settings")
        return cls(path, document["settings"])

    @classmethod
    def resume(cls, path: str | Path, settings: Mapping[str, Any]) -> Run:
        """Opens a run folder to go on with, or makes a new one if there is none.

        Raises:
            RunError: If the folder holds a run with other settings.
        """
        path = Path(path)
        if not path.exists():
            return cls.create(path, settings)
        run = cls.open(path)
        for name, value in settings.items():
            if run.settings.get(name) != value:
                raise RunError(
                    f"{path} holds another run: its {name} is {run.settings.get(name)!r}, "
                    f"expected {value!r}"
                )
        return run

    @property
    def status(self) -> str:
        """``"finished"``, ``"failed"`` or ``"resumable"``."""
        if (self.path / "result.json").exists():
            return "finished"
        return "failed" if (self.path / "failure.json").exists() else "resumable"

    @property
    def result(self) -> dict[str, Any]:
        """What `finish` was given."""
        if self.status != "finished":
            raise RunError(f"{self.path} has not finished: resume it with --resume {self.path}")
        result: dict[str, Any] = read_json(self.path / "result.json")
        return result

    def save_checkpoint(self, arrays: Mapping[str, NDArray[Any]], **meta: Any) -> None:
        """Saves where the run stands; a crash in between leaves the previous checkpoint.

        The arrays go to one of two files in turn and the JSON that names it is replaced last.
        """
        previous = self._checkpoint_meta()
        slot = 1 - previous["slot"] if previous else 0
        checksum = write_arrays(self.path / f"checkpoint-{slot}.safetensors", arrays)
        write_json(
            self.path / "checkpoint.json", {"slot": slot, "checksum": checksum, "meta": meta}
        )

    def load_checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]] | None:
        """The last checkpoint's arrays and metadata; None if there is none yet.

        Raises:
            DamagedFileError: If the checkpoint is not what was saved.
        """
        document = self._checkpoint_meta()
        if document is None:
            return None
        path = self.path / f"checkpoint-{document['slot']}.safetensors"
        if not path.is_file():
            raise DamagedFileError(f"{path} is missing")
        return read_arrays(path, document["checksum"]), document["meta"]

    def _checkpoint_meta(self) -> dict[str, Any] | None:
        path = self.path / "checkpoint.json"
        if not path.exists():
            return None
        document = read_json(path)
        if not isinstance(document, dict) or {"slot", "checksum", "meta"} - set(document):
            raise DamagedFileError(f"{path} is not a checkpoint")
        return document

    def curves(self) -> dict[str, NDArray[Any]]:
        """Metrics over the training: arrays (seeds, windows), and ``step`` (windows,).

        Raises:
            RunError: If nothing has been saved yet.
        """
        saved = self.load_checkpoint()
        if saved is None:
            raise RunError(f"{self.path} has no checkpoint yet: train it first")
        return saved_curves(saved[0])

    def save_picture(self, picture: bytes) -> None:
        """Keeps a picture of the curves, a PNG."""
        write_whole(self.path / "curves.png", picture)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Marks the run finished."""
        write_json(self.path / "result.json", dict(result))
        (self.path / "failure.json").unlink(missing_ok=True)

    def fail(self, reason: str) -> None:
        """Marks the run failed."""
        write_json(self.path / "failure.json", {"reason": reason})


def check_seeds(seeds: Sequence[int], steps: int) -> None:
    """Raises unless there are different seeds, all in range, and at least one step."""
    if not seeds or len(set(seeds)) != len(seeds) or not all(0 <= s <= MAX_SEED for s in seeds):
        raise ValueError(f"seeds must be different numbers in 0..{MAX_SEED}, actual: {seeds}")
    if steps < 1:
        raise ValueError(f"steps must be at least 1, actual: {steps}")
