"""A file of the archive: what one job found, as JSON that checks itself.

One file for each job, so that runs made here and elsewhere meet as files side by side and neither
git nor `merged_bodies` ever has to join two of them line by line. A part stands on a line of its
own, for `git diff`; numbers of seeds are columns, which keeps names from being written for each.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adastack.files import DamagedFileError, decode_json
from adastack.lab.job import Job
from adastack.lab.manifest import (
    COMPUTED,
    Document,
    evaluation_file,
    job_from,
    outdated_test,
    to_jsonable,
)
from adastack.lab.store import Store
from adastack.schemas import OBJECT, TEXT, Kind, Schema

RUN = ("meaning", "versions", "machine", "seconds", "finished")
"""Of a job's ``done.json``: how and where it was computed."""
_DERIVED = ("means", "curves", "tests")
"""What can be made of a finished run at any time."""


_WHOLE = Schema("the file of an archived job", {"checksum": TEXT}, others=True)
SCHEMA = Schema(
    "the file of an archived job",
    {"job": OBJECT, "result": OBJECT, **COMPUTED.entries},
    COMPUTED.optional,
    others=True,
)
_COLUMNS = Kind("rows or columns", lambda value: isinstance(value, dict | list))
_RESULT = Schema("an archived result", {"seeds": _COLUMNS, "settings": OBJECT}, others=True)
_TRAINED = Schema(
    "an archived training", {"tests": OBJECT, "means": OBJECT, "curves": OBJECT}, others=True
)
_TEST = Schema("an archived test", {"evaluation": OBJECT, "seeds": _COLUMNS}, others=True)


def body_of(store: Store, job: Job) -> Document:
    """What a finished job of a store found, as the archive keeps it.

    Curves are kept as figures draw them, with the means of the whole beside; learned weights are
    not kept.

    Raises:
        DamagedFileError: If a file is not what was written.
        KeyError: If the job has not finished.
    """
    document = store.document(job)
    body = {
        "job": {"kind": job.kind, "settings": dict(job.settings)},
        "result": document["result"],
        **{name: document[name] for name in RUN if name in document},
    }
    if job.kind != "train":
        return body
    tests = {
        test.address: {
            "evaluation": vars(test),
            **document.get("tests", {}).get(test.address, {}),
            "seeds": columns(store.evaluation(job, test)["seeds"]),
        }
        for test in job.evaluate
        if evaluation_file(test) in document["files"] and not outdated_test(document, test)
    }
    return {
        **body,
        "result": {**document["result"], "seeds": columns(document["result"]["seeds"])},
        "means": to_jsonable(store.means(job)),
        "curves": to_jsonable(store.curves(job)),
        "tests": tests,
    }


def encode(body: Document) -> bytes:
    """The content of a file; the same for the same body."""
    whole = {**body, "checksum": _checksum(body)}
    lines = ",\n".join(f"{json.dumps(name)}:{_compact(whole[name])}" for name in sorted(whole))
    return f"{{\n{lines}\n}}\n".encode()


def decode(content: bytes) -> Document:
    """The body in a file.

    Raises:
        DamagedFileError: If it is not what was written.
    """
    where = "an archived file"
    whole = _WHOLE.check(decode_json(content, where), where)
    body = {name: value for name, value in whole.items() if name != "checksum"}
    if whole["checksum"] != _checksum(body):
        raise DamagedFileError("the content does not match its checksum")
    SCHEMA.check(body, where)
    kind, result = body["job"].get("kind"), body["result"]
    if kind == "train":
        _TRAINED.check(body, where)
        _RESULT.check(result, where)
    for test in body.get("tests", {}).values():
        _TEST.check(test, where)
    if kind == "train":
        _check_numbers(body)
    job_from(body["job"])
    return body


def _check_numbers(body: Document) -> None:
    """Raises DamagedFileError unless a training's numbers are tables and curves."""
    try:
        tables = [rows_of(part["seeds"]) for part in (body["result"], *body["tests"].values())]
        curves = [arrays(body[name]) for name in ("means", "curves")]
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise DamagedFileError("its columns are no tables of numbers") from None
    if not all(isinstance(row, dict) for rows in tables for row in rows):
        raise DamagedFileError("its rows are no rows")
    if any(array.ndim > 2 for each in curves for array in each.values()):
        raise DamagedFileError("its curves are no curves")


def merged_bodies(one: Document, other: Document) -> Document:
    """One body of two of the same job, whichever comes first.

    The newer computation is kept: that of the newer package, then the one that ended last. What
    was made of the same computation, means, curves and tests, is joined.
    """
    older, newer = sorted((one, other), key=_age)
    if _age(older) != _age(newer):
        return newer
    joined = {name: _joined(older[name], newer[name]) for name in _DERIVED if name in newer}
    return {**newer, **joined}


def _joined(one: Document, other: Document) -> Document:
    if one.get("step") != other.get("step"):  # Curves of other points do not belong together.
        return max(one, other, key=_compact)
    return dict(sorted([*one.items(), *other.items()], key=_compact))


def job_of(body: Document) -> Job:
    """The job that was archived, with the tests that were."""
    tests = [test["evaluation"] for test in body.get("tests", {}).values()]
    return job_from({**body["job"], "evaluate": tests})


def columns(rows: Sequence[Any]) -> Any:
    """Rows of the same names as lists of values.

    Example:
        >>> columns([{"seed": 0, "kept": {"red": 1}}, {"seed": 1, "kept": {"red": 2}}])
        {'kept': {'red': [1, 2]}, 'seed': [0, 1]}
    """
    names = [list(row) if isinstance(row, Mapping) else [] for row in rows]
    if not names or not names[0] or any(set(each) != set(names[0]) for each in names):
        return list(rows)
    return {name: columns([row[name] for row in rows]) for name in sorted(names[0])}


def rows_of(table: Any) -> list[Any]:
    """The inverse of `columns`."""
    if isinstance(table, list):
        return table
    parts = {name: rows_of(column) for name, column in table.items()}
    return [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]


def arrays(table: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Lists of numbers as arrays; NaN where there is none."""
    return {
        name: np.array(values, np.int64 if name == "step" else np.float64)
        for name, values in table.items()
    }


def version_of(body: Document) -> tuple[int, ...]:
    """The version of the package that computed a body, for comparison."""
    return tuple(map(int, re.findall(r"\d{1,9}", body["versions"].get("adastack", ""))))


def _age(body: Document) -> tuple[Any, ...]:
    """What orders computations of a job by age, and is the same for the same computation only."""
    computed = {name: part for name, part in body.items() if name not in _DERIVED}
    return version_of(body), body.get("finished", ""), _checksum(computed)


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _checksum(body: Document) -> str:
    return hashlib.sha256(_compact(body).encode()).hexdigest()
