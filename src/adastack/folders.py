"""Reads folders that others may have written: runs, stores, policies, archives.

What is in them is data: documents are checked against their schemas and checksums (`schemas`). No
file of a folder is opened through a link, so that nothing outside is read, written or removed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

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
from adastack.schemas import Schema, sealed, unsealed

LOCK = ".lock"


class HeldError(ValueError):
    """A folder that another process writes to."""


class Folder:
    """A folder whose files are read, written and removed without following a link.

    Args:
        path: The folder itself, which the user has named: it may be a link.

    Example:
        >>> import tempfile
        >>> from adastack.schemas import TEXT, Schema
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
                    f"{self.path / name}: expected a file or folder, actual: a link"
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
