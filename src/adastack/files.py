"""Files that are written whole or not at all, and checked when they are read.

Arrays are safetensors and everything else is JSON, so that reading a file never runs code.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adastack.extras import check_installed

check_installed("safetensors", extra="train")

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save


class DamagedFileError(ValueError):
    """A file that is not what was written."""


def write_whole(path: str | Path, content: bytes) -> None:
    """Writes a file so that a reader, or a crash, sees the old content or the new, never a part."""
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files private; a result is as readable as any other file of its folder.
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


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


def read_json(path: str | Path) -> Any:
    """Reads a JSON document.

    Raises:
        DamagedFileError: If it is not JSON.
    """
    try:
        return json.loads(Path(path).read_bytes())
    except ValueError as error:
        raise DamagedFileError(f"{path}: expected a JSON document ({error})") from None


def write_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Writes named arrays, whole, and returns their checksum."""
    content = save({name: np.asarray(array, order="C") for name, array in arrays.items()})
    write_whole(path, content)
    return hashlib.sha256(content).hexdigest()


def read_arrays(path: str | Path, checksum: str | None = None) -> dict[str, NDArray[Any]]:
    """Reads named arrays.

    Raises:
        DamagedFileError: If the file is not what `write_arrays` wrote under that checksum.
    """
    content = Path(path).read_bytes()
    if checksum is not None and hashlib.sha256(content).hexdigest() != checksum:
        raise DamagedFileError(f"{path}: the content does not match its checksum")
    try:
        return load(content)
    except SafetensorError as error:
        raise DamagedFileError(f"{path}: expected a safetensors file ({error})") from None


def fitting(
    expected: Mapping[str, NDArray[Any]], found: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """The arrays that were found under the expected names.

    Raises:
        DamagedFileError: If one is missing or has another shape or dtype.
    """
    for name, array in expected.items():
        actual = found.get(name)
        if actual is None or actual.shape != array.shape or actual.dtype != array.dtype:
            what = "nothing" if actual is None else f"{actual.dtype}{list(actual.shape)}"
            raise DamagedFileError(
                f"the checkpoint is of another run: {name} must be "
                f"{array.dtype}{list(array.shape)}, actual: {what}"
            )
    return {name: found[name] for name in expected}


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy as JSON knows them."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"cannot write {type(value).__name__} as JSON")
