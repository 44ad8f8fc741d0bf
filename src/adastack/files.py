"""Files that are written whole or not at all, and checked when they are read.

Arrays are safetensors and everything else is JSON, so that reading a file never runs code.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from adastack.extras import check_installed

check_installed("safetensors", extra="train")

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

MAX_DOCUMENT = 2**26
"""Bytes; a JSON document that is larger is not one of ours."""
_TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}\.part")


class DamagedFileError(ValueError):
    """A file that is not what was written."""


def write_whole(path: str | Path, content: bytes) -> None:
    """Writes a file so that a reader, or a crash, sees the old content or the new, never a part.

    What killed processes left of writing this file is removed.
    """
    path = Path(path)
    handle, temporary = _make_temporary(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            # mkstemp makes files private; a result is as readable as any other of its folder.
            umask = os.umask(0)
            os.umask(umask)
            Path(temporary).chmod(0o666 & ~umask)
            os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    with suppress(OSError):  # The folder may not be listed.
        for name in os.listdir(path.parent):
            if name.startswith(f".{path.name}.") and is_temporary(name):
                _remove_abandoned(path.parent / name)


def _make_temporary(path: Path) -> tuple[int, str]:
    """A file beside another, locked by this process."""
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        if not _lock(handle) or os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)  # Another process took it for abandoned before it was locked.


def _remove_abandoned(path: Path) -> None:
    """Removes a temporary file that no process has locked."""
    with suppress(OSError):  # It is gone, or nothing of ours.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode) and _lock(handle, fcntl.LOCK_NB):
                path.unlink()
        finally:
            os.close(handle)


def _lock(handle: int, how: int = 0) -> bool:
    """Whether a file is now locked; some file systems cannot."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | how)
    except OSError:
        return False
    return True


def is_temporary(name: str) -> bool:
    """Whether a file has the name of a `write_whole` that was killed; all others are somebody's.

    Example:
        >>> is_temporary(".result.json.x7_2kq0a.part"), is_temporary(".bashrc")
        (True, False)
    """
    return _TEMPORARY.fullmatch(name) is not None


def write_json(path: str | Path, value: Any) -> None:
    """Writes a JSON document, whole."""
    write_whole(path, encode_json(value))


def encode_json(value: Any) -> bytes:
    """A JSON document as it is written.

    Raises:
        ValueError: If a number is not finite, which JSON does not know.
    """
    text = json.dumps(value, indent=2, sort_keys=True, default=_plain, allow_nan=False)
    return (text + "\n").encode()


def read_bytes(path: str | Path, most: int | None = None, *, follow: bool = False) -> bytes:
    """The content of a regular file, never of a device or a pipe, which might have no end.

    Args:
        path: The file.
        most: How many bytes it may have.
        follow: Also read it through a link, as a file that the user has named.

    Raises:
        DamagedFileError: If it is a link, no regular file, or too large.
        OSError: If it cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise DamagedFileError(f"{path}: expected a file, actual: a link") from None
        raise
    with os.fdopen(handle, "rb") as file:
        return read_open(file, path, most)


def read_open(file: IO[bytes], path: str | Path, most: int | None = None) -> bytes:
    """The content of an open file; see `read_bytes`."""
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode):
        raise DamagedFileError(f"{path}: expected a file, actual: a folder, pipe or device")
    if most is not None and found.st_size > most:
        raise DamagedFileError(f"{path}: expected at most {most:,} bytes, actual: more")
    return file.read() if most is None else file.read(most + 1)[:most]


def read_json(path: str | Path) -> Any:
    """Reads a JSON document.

    Raises:
        DamagedFileError: If it is not JSON.
    """
    return decode_json(read_bytes(path, MAX_DOCUMENT), path)


def decode_json(content: bytes, path: str | Path) -> Any:
    """The document in the content of a file; JSON has no NaN, nor have our documents.

    Raises:
        DamagedFileError: If it is not JSON.
    """
    try:
        return json.loads(content, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{path}: expected a JSON document ({error})") from None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not a number that JSON knows")


def write_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Writes named arrays, whole, and returns their checksum."""
    content = encode_arrays(arrays)
    write_whole(path, content)
    return hashlib.sha256(content).hexdigest()


def encode_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Named arrays as they are written."""
    content: bytes = save({name: np.asarray(array, order="C") for name, array in arrays.items()})
    return content


def read_arrays(path: str | Path, checksum: str | None = None) -> dict[str, NDArray[Any]]:
    """Reads named arrays.

    Raises:
        DamagedFileError: If the file is not what `write_arrays` wrote under that checksum.
    """
    return decode_arrays(read_bytes(path), path, checksum)


def decode_arrays(
    content: bytes, path: str | Path, checksum: str | None = None
) -> dict[str, NDArray[Any]]:
    """The arrays in the content of a file; see `read_arrays`."""
    if checksum is not None and hashlib.sha256(content).hexdigest() != checksum:
        raise DamagedFileError(f"{path}: the content does not match its checksum")
    try:
        return load(content)
    # KeyError: a dtype that numpy does not have.
    except (SafetensorError, KeyError, ValueError) as error:
        raise DamagedFileError(f"{path}: expected a safetensors file ({error})") from None


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as JSON knows them."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"cannot write {type(value).__name__} as JSON")
