"""``done.json``: what a finished folder holds, with the checksum of every file and of itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adastack.algorithms import settings_for
from adastack.files import DamagedFileError
from adastack.folders import Folder
from adastack.lab.job import Evaluation, Job
from adastack.lab.meaning import changed, meaning_of, meaning_of_test
from adastack.schemas import (
    COUNT,
    DIGEST,
    INTEGER,
    NUMBER,
    OBJECT,
    POSITIVE,
    TEXT,
    TRUTH,
    Kind,
    Schema,
    list_of,
    object_of,
)
from adastack.training import TRAINING

DONE = "done.json"
JOB = "job.json"
FAILURE = "failure.json"
PROGRESS = "progress.json"
EVALUATIONS = "evaluations"
_UNLISTED = (DONE, JOB, FAILURE, PROGRESS)
_UNKNOWN = Kind("a finite number or nothing", lambda value: value is None or NUMBER.fits(value))
MEANING = Kind("what the names of a job stood for", lambda value: _is_meaning(value))
COMPUTED = Schema(
    "a computation",
    {"versions": object_of(TEXT), "seconds": NUMBER},
    {
        "meaning": MEANING,
        "machine": object_of(TEXT),
        "finished": TEXT,
        "tests": object_of(Kind("what is known of a test", lambda value: _is_test(value))),
    },
    others=True,
)
"""How and where a job was computed, in a store and in the archive."""
SCHEMAS = {
    JOB: Schema(
        "a job",
        {"kind": TEXT, "settings": OBJECT},
        {"evaluate": list_of(OBJECT), "imports": list_of(TEXT)},
    ),
    DONE: Schema(
        "the document of a finished job",
        {
            "job": OBJECT,
            "result": OBJECT,
            "files": object_of(DIGEST),
            **COMPUTED.entries,
        },
        COMPUTED.optional,
        others=True,
    ),
    FAILURE: Schema("why a job failed", {"reason": TEXT}),
    PROGRESS: Schema(
        "how far a job is",
        {"step": COUNT, "total": COUNT},
        {"rate": _UNKNOWN, "numbers": object_of(_UNKNOWN), "seconds": NUMBER},
        others=True,
    ),
    EVALUATIONS: Schema("an evaluation", {"evaluation": OBJECT, "seeds": list_of(OBJECT)}),
}
"""What the documents of a job's folder have to be."""
_EVALUATION = Schema(
    "an evaluation", {"task": TEXT}, {"episodes": POSITIVE, "greedy": TRUTH, "seed": COUNT}
)
_COMMON = {**TRAINING, "seeds": list_of(COUNT), "overrides": OBJECT}
_SETTINGS = Schema("the settings of a job", {}, _COMMON, others=True)
_TRAINING = Schema("the settings of a training", _COMMON, others=True)
_TRAINED = Schema(
    "the result of a training",
    {"seeds": list_of(OBJECT), "trained_steps": COUNT, "settings": OBJECT},
    others=True,
)

Document = dict[str, Any]


def _is_meaning(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("task"), str | None)
        and object_of(INTEGER).fits(value.get("revisions"))
    )


def _is_test(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and MEANING.fits(value.get("meaning", {"revisions": {}}))
        and NUMBER.fits(value.get("seconds", 0))
    )


def as_document(job: Job) -> Document:
    """A job as JSON knows it."""
    document = {
        "kind": job.kind,
        "settings": dict(job.settings),
        "evaluate": [vars(evaluation) for evaluation in job.evaluate],
    }
    return document | ({"imports": list(job.imports)} if job.imports else {})


def job_from(document: Any) -> Job:
    """The job that `as_document` wrote down.

    Raises:
        DamagedFileError: If it is none.
    """
    found = SCHEMAS[JOB].check(document, "a job")
    settings = _TRAINING if found["kind"] == "train" else _SETTINGS
    settings.check(found["settings"], "a job")
    tests = (_EVALUATION.check(each, "a job") for each in found.get("evaluate", ()))
    evaluate = tuple(Evaluation(**each) for each in tests)
    return Job(found["kind"], found["settings"], evaluate, tuple(found.get("imports", ())))


def to_jsonable(value: Any) -> Any:
    """A value as JSON holds it: dataclasses as their fields, and None for what is not finite.

    Example:
        >>> to_jsonable({1: (2.0, float("nan"))})
        {'1': [2.0, None]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return to_jsonable(vars(value))
    if isinstance(value, Mapping):
        return {str(name): to_jsonable(entry) for name, entry in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return to_jsonable(value.tolist())
    if isinstance(value, list | tuple):
        return [to_jsonable(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def evaluation_file(evaluation: Evaluation) -> str:
    """Where an evaluation stands in its folder."""
    return f"{EVALUATIONS}/{evaluation.address}.json"


def write_manifest(folder: Path, document: Document) -> None:
    """Writes ``done.json``, with checksums of all files; those that are known are kept."""
    known = document.get("files", {})
    place = Folder(folder)
    files = {name: known.get(name) or place.digest(name) for name in _content(folder)}
    place.write(DONE, {**document, "files": files})


def read_manifest(folder: Path, job: Job) -> Document | None:
    """What ``done.json`` says of a job; None if there is none.

    Raises:
        DamagedFileError: If it is not what was written, or is another job's.
    """
    path, place = folder / DONE, Folder(folder)
    if not place.has(DONE):
        return None
    document = place.document(DONE, SCHEMAS[DONE])
    if job_from(document["job"]).address != job.address:
        raise DamagedFileError(f"{path}: it is another job's, expected {job.address}")
    if job.kind == "train":
        _TRAINED.check(document["result"], path)
    reason = outdated(document, job)
    if reason is not None:
        raise DamagedFileError(f"{path}: {reason}")
    return document


def outdated(document: Document, job: Job) -> str | None:
    """Why a result is no longer that of its job; None if it is."""
    reason = changed(document.get("meaning"), meaning_of(job))
    if reason is None and job.kind == "train":
        return _changed_preset(document["result"]["settings"], job)
    return reason


def _changed_preset(settings: Mapping[str, Any], job: Job) -> str | None:
    """Whether the job's preset stood for other settings; ones that are new since do not count."""
    try:
        now = settings_for(*(job.settings[name] for name in ("algo", "preset", "overrides")))
    except ValueError as error:
        return str(error)
    if all(to_jsonable(now.get(name)) == value for name, value in settings.items()):
        return None
    return f"the preset {job.settings['preset']} has changed since"


def check_files(folder: Path, document: Document, names: Iterable[str] | None = None) -> None:
    """Compares files with their checksums; all that are listed, unless some are named.

    Raises:
        DamagedFileError: If a file is missing or is not what was written.
    """
    place = Folder(folder)
    for name in document["files"] if names is None else names:
        if name not in document["files"]:
            raise DamagedFileError(f"{folder / name} is missing")
        if place.digest(name) != document["files"][name]:
            raise DamagedFileError(f"{folder / name}: the content does not match its checksum")


def missing_evaluations(document: Document, job: Job) -> list[Evaluation]:
    """The evaluations that are asked for and not there, or of a task that has changed since."""
    return [
        each
        for each in job.evaluate
        if evaluation_file(each) not in document["files"] or outdated_test(document, each)
    ]


def outdated_test(document: Document, evaluation: Evaluation) -> str | None:
    """Why an evaluation is no longer what its name says; None if it is."""
    about = document.get("tests", {}).get(evaluation.address, {})
    return changed(about.get("meaning"), meaning_of_test(evaluation.task))


def _content(folder: Path) -> list[str]:
    names = (path.relative_to(folder) for path in Folder(folder).walk())
    return sorted(
        name.as_posix()
        for name in names
        if name.as_posix() not in _UNLISTED and not name.name.startswith(".")
    )
