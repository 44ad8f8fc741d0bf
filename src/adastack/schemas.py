"""What documents and arrays that come from outside have to be: schemas, checksums, limits.

A document is checked once, here, and everybody else gets values of known types.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.files import DamagedFileError, encode_json

CHECKSUM = "checksum"
"""The entry of a document that holds the checksum of all others."""
MOST = 2**62
Arrays = Mapping[str, NDArray[Any]]


class Kind(NamedTuple):
    """What a value in a document has to be."""

    what: str
    fits: Callable[[Any], bool]


def is_count(value: Any) -> bool:
    """Whether a value is an integer that is not negative and fits 64 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, and no integer that is too large to be a float.

    Example:
        >>> is_number(0.5), is_number(True), is_number(float("inf")), is_number(10**400)
        (True, False, False, False)
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) <= sys.float_info.max


TEXT = Kind("a text", lambda value: isinstance(value, str))
INTEGER = Kind("an integer", lambda value: type(value) is int)
COUNT = Kind("an integer of at least 0", is_count)
POSITIVE = Kind("an integer of at least 1", lambda value: is_count(value) and value > 0)
NUMBER = Kind("a finite number", is_number)
TRUTH = Kind("true or false", lambda value: isinstance(value, bool))
OBJECT = Kind("an object", lambda value: isinstance(value, dict))
DIGEST = Kind(
    "a SHA-256 checksum",
    lambda value: isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None,
)


def list_of(kind: Kind) -> Kind:
    """A list, all of one kind."""
    fits = kind.fits
    return Kind(
        f"a list, each {kind.what}",
        lambda value: isinstance(value, list) and all(fits(each) for each in value),
    )


def object_of(kind: Kind) -> Kind:
    """An object whose values are all of one kind."""
    fits = kind.fits
    return Kind(
        f"an object, each value {kind.what}",
        lambda value: isinstance(value, dict) and all(fits(each) for each in value.values()),
    )


@dataclass(frozen=True)
class Schema:
    """What a document has to be."""

    what: str
    """The document, in words."""
    entries: Mapping[str, Kind]
    """What it must have."""
    optional: Mapping[str, Kind] = field(default_factory=dict)
    """What it may have."""
    others: bool = False
    """Whether it may have entries that are not named here."""

    def check(self, document: Any, where: str | Path) -> dict[str, Any]:
        """The document, if it is one.

        Raises:
            DamagedFileError: If not.
        """
        if not isinstance(document, dict):
            raise DamagedFileError(
                f"{where} is not {self.what}: expected an object, actual: {_shortened(document)}"
            )
        missing = [name for name in self.entries if name not in document]
        if missing:
            raise DamagedFileError(f"{where} is not {self.what}: expected {missing[0]!r} in it")
        known = {**self.optional, **self.entries}
        for name, value in document.items():
            if name in known and not known[name].fits(value):
                raise DamagedFileError(
                    f"{where}: expected {known[name].what} as {name!r}, actual: {_shortened(value)}"
                )
            if name not in known and not self.others:
                raise DamagedFileError(f"{where} is not {self.what}: it has {name!r}")
        return document


def _shortened(value: Any, letters: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= letters else f"{text[:letters]}..."


def sealed(body: Mapping[str, Any]) -> dict[str, Any]:
    """A document with the checksum of all it says, as JSON knows it."""
    plain = json.loads(encode_json(dict(body)))
    return {**plain, CHECKSUM: hashlib.sha256(encode_json(plain)).hexdigest()}


def unsealed(document: Any, schema: Schema, where: str | Path) -> dict[str, Any]:
    """What a document says, without its checksum.

    Raises:
        DamagedFileError: If it has none, does not match it, or does not fit the schema.
    """
    whole = Schema(schema.what, {CHECKSUM: DIGEST}, others=True).check(document, where)
    body = {name: value for name, value in whole.items() if name != CHECKSUM}
    if sealed(body)[CHECKSUM] != whole[CHECKSUM]:
        raise DamagedFileError(f"{where}: the content does not match its checksum")
    return schema.check(body, where)


class Expected(NamedTuple):
    """What an array of a checkpoint has to be; all its numbers must be finite."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    low: Any = None
    """The least that each entry may be; a number, or an array that broadcasts."""
    high: Any = None
    """The most."""


def like(array: Any, low: Any = None, high: Any = None) -> Expected:
    """An array of the same shape and dtype, within limits."""
    return Expected(tuple(np.shape(array)), np.dtype(array.dtype), low, high)


def fitting(expected: Mapping[str, Expected], found: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays that were found under the expected names.

    The one place where every learner's checkpoint is checked before a compiled program reads it.

    Raises:
        DamagedFileError: If one is missing, has another shape or dtype, or a number that is not
            finite or out of its limits.
    """
    for name, wanted in expected.items():
        actual = found.get(name)
        if actual is None or actual.shape != wanted.shape or actual.dtype != wanted.dtype:
            what = "nothing" if actual is None else f"{actual.dtype}{list(actual.shape)}"
            raise DamagedFileError(
                f"the checkpoint is of another run: {name} must be "
                f"{wanted.dtype}{list(wanted.shape)}, actual: {what}"
            )
        if actual.dtype.kind == "f" and not np.isfinite(actual).all():
            raise DamagedFileError(f"the checkpoint is damaged: {name} must be finite")
        low = wanted.low is not None and (actual < wanted.low).any()
        if low or (wanted.high is not None and (actual > wanted.high).any()):
            raise DamagedFileError(f"the checkpoint is damaged: {name} is out of range")
    return {name: found[name] for name in expected}
