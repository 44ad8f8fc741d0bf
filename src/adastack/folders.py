"""Reads folders that somebody else may have written: runs, stores, policies, archives.

What is in them is data. A document is checked once, here, against its schema and its checksum, and
everybody else gets values of known types; arrays are checked against what is expected of them. No
file of a folder is opened through a link, so that nothing outside is read, written or removed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adastack.files import (
    MAX_DOCUMENT,
    DamagedFileError,
    decode_arrays,
    decode_json,
    encode_json,
    is_temporary,
    read_open,
    write_whole,
)

CHECKSUM = "checksum"
"""The entry of a document that holds the checksum of all others."""
MOST = 2**62
LOCK = ".lock"
Arrays = Mapping[str, NDArray[Any]]


class HeldError(ValueError):
    """A folder that another process writes to."""


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


class Folder:
    """A folder whose files are read, written and removed without following a link.

    Args:
        path: The folder itself, which the user has named: it may be a link.

    Example:
        >>> import tempfile
        >>> folder = Folder(tempfile.mkdtemp())
        >>> note = Schema("a note", {"text": TEXT})
        >>> folder.write("note.json", {"text": "hello"})
        >>> folder.document("note.json", note)
        {'text': 'hello'}
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def has(self, name: str) -> bool:
        """Whether there is something of that name, be it a link that leads nowhere."""
        return os.path.lexists(self.path / name)

    def folder(self, name: str, *, make: bool = False) -> Folder:
        """A folder inside this one, which is made if it is wanted.

        Raises:
            DamagedFileError: If it is a link or no folder.
            FileNotFoundError: If there is none.
        """
        inner = self.path / name
        if make:
            with suppress(FileExistsError):
                inner.mkdir(parents=True)
        os.close(self.open(name, os.O_RDONLY | os.O_DIRECTORY))
        return Folder(inner)

    def read(self, name: str, most: int | None = None) -> bytes:
        """The content of a file.

        Raises:
            DamagedFileError: If it is a link, no regular file, larger than it may be, or missing.
        """
        with os.fdopen(self._regular(name), "rb") as file:
            return read_open(file, self.path / name, most)

    def digest(self, name: str) -> str:
        """The SHA-256 checksum of a file.

        Raises:
            DamagedFileError: If it is a link, no regular file, or missing.
        """
        with os.fdopen(self._regular(name), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def document(self, name: str, schema: Schema) -> dict[str, Any]:
        """A document that `write` wrote, without its checksum.

        Raises:
            DamagedFileError: If it is not what was written.
        """
        path = self.path / name
        return unsealed(decode_json(self.read(name, MAX_DOCUMENT), path), schema, path)

    def plain_document(self, name: str, schema: Schema) -> dict[str, Any]:
        """A document without a checksum, such as one that is replaced every second."""
        path = self.path / name
        return schema.check(decode_json(self.read(name, MAX_DOCUMENT), path), path)

    def arrays(self, name: str, checksum: str) -> dict[str, NDArray[Any]]:
        """Named arrays.

        Raises:
            DamagedFileError: If they are not what was written.
        """
        return decode_arrays(self.read(name), self.path / name, checksum)

    def write(self, name: str, body: Mapping[str, Any]) -> None:
        """Writes a document with its checksum, whole."""
        self.write_bytes(name, encode_json(sealed(body)))

    def write_bytes(self, name: str, content: bytes) -> None:
        """Writes a file, whole; a link of that name is replaced, not followed."""
        self._parent(name)
        write_whole(self.path / name, content)

    def append(self, name: str, content: bytes) -> None:
        """Adds to the end of a file, which is made if there is none."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
        with os.fdopen(self._regular(name, flags), "ab") as file:
            file.write(content)

    def cut(self, name: str, size: int) -> None:
        """Cuts a file back to a size; it never grows.

        Raises:
            DamagedFileError: If it is shorter.
        """
        with os.fdopen(self._regular(name, os.O_RDWR | os.O_NONBLOCK), "r+b") as file:
            if os.fstat(file.fileno()).st_size < size:
                raise DamagedFileError(f"{self.path / name}: expected at least {size} bytes")
            file.truncate(size)

    def size(self, name: str) -> int:
        """The bytes of a file."""
        return (self.path / name).lstat().st_size

    def remove(self, name: str) -> None:
        """Removes a file, or the link of that name; nothing, if there is none."""
        self._parent(name)
        (self.path / name).unlink(missing_ok=True)

    def remove_temporaries(self) -> None:
        """Removes what killed writes have left, in inner folders, too; never anything else."""
        for path in self.walk():
            if is_temporary(path.name):
                path.unlink(missing_ok=True)

    def check_no_links(self) -> None:
        """Raises DamagedFileError if there is a link anywhere inside."""
        for path in self.walk():
            if path.is_symlink():
                raise DamagedFileError(f"{path}: expected a file or folder, actual: a link")

    def walk(self) -> Iterator[Path]:
        """Every file and link inside, without following links."""
        for place, folders, files in os.walk(self.path):
            yield from (Path(place) / name for name in sorted(files))
            yield from (p for name in sorted(folders) if (p := Path(place) / name).is_symlink())

    @property
    def unused(self) -> bool:
        """Whether there is nothing in it but what a killed start has left."""
        names = os.listdir(self.path)
        return all(is_temporary(name) or name == LOCK for name in names)

    @contextmanager
    def held(self) -> Iterator[Self]:
        """Holds the folder, so that no other process writes to it; ends with the process.

        Raises:
            HeldError: If another process holds it.
        """
        handle = self.open(LOCK, os.O_RDWR | os.O_CREAT)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HeldError(
                    f"{self.path} is in use by another process: wait for it, or choose another"
                ) from None
            yield self
        finally:
            os.close(handle)

    def _parent(self, name: str) -> None:
        """Checks that a file's folder is inside this one, by no link."""
        parent = os.path.dirname(name)
        if parent:
            os.close(self.open(parent, os.O_RDONLY | os.O_DIRECTORY))

    def open(self, name: str, flags: int) -> int:
        """A handle of a file inside; every step of the way is taken without following a link."""
        parts = name.split("/")
        if not name or any(part in ("", ".", "..") for part in parts):
            raise DamagedFileError(f"{self.path}: expected a name of a file in it, actual: {name}")
        handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for i, part in enumerate(parts):
                last = i == len(parts) - 1
                how = flags if last else os.O_RDONLY | os.O_DIRECTORY
                following = os.open(part, how | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=handle)
                os.close(handle)
                handle = following
        except OSError as error:
            os.close(handle)
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise DamagedFileError(
                    f"{self.path / name}: expected a file or folder, actual: a link or another"
                ) from None
            raise
        return handle

    def _regular(self, name: str, flags: int = os.O_RDONLY | os.O_NONBLOCK) -> int:
        """A handle of a file inside that is no folder, pipe or device."""
        try:
            handle = self.open(name, flags)
        except FileNotFoundError:
            raise DamagedFileError(f"{self.path / name} is missing") from None
        except OSError as error:
            # A folder cannot be written, a pipe that nobody reads neither, a socket not opened.
            if error.errno in (errno.EISDIR, errno.ENXIO):
                raise DamagedFileError(f"{self.path / name}: expected a file") from None
            raise
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise DamagedFileError(f"{self.path / name}: expected a file, actual: another thing")
        return handle


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
