"""TensorBoard event files, written without TensorBoard: a record format and a few fields."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.folders import Folder
from adastack.memory.regret import REGRETS
from adastack.process.events import LEARNING

_POLYNOMIAL = 0x82F63B78


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc_table()


def _masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and shifted as the record format asks."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def _field(number: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _record(event: bytes) -> bytes:
    length = struct.pack("<Q", len(event))
    checks = struct.pack("<I", _masked_crc(length)), struct.pack("<I", _masked_crc(event))
    return length + checks[0] + event + checks[1]


def version_record(wall_time: float) -> bytes:
    """What every event file begins with."""
    return _record(b"\x09" + struct.pack("<d", wall_time) + _field(3, b"brain.Event:2"))


def scalar_record(wall_time: float, step: int, scalars: Mapping[str, float]) -> bytes:
    """One event that holds named numbers at a step."""
    values = b"".join(
        _field(1, _field(1, name.encode()) + b"\x15" + struct.pack("<f", value))
        for name, value in scalars.items()
    )
    head = b"\x09" + struct.pack("<d", wall_time) + b"\x10" + _varint(step)
    return _record(head + _field(5, values))


class EventFile:
    """An event file that grows; a resumed run cuts it back to its checkpoint."""

    def __init__(self, path: Path, size: int = 0) -> None:
        self.path = path
        folder = Folder(path.parent.parent)
        self.folder, self.name = folder.folder(path.parent.name, make=True), path.name
        self.whole = bool(size) and self.folder.has(self.name) and self.size >= size
        """Whether the file goes on; one that has lost something begins anew."""
        if self.whole:
            self.folder.cut(self.name, size)
        else:
            # Times are steps, not clocks: the same run writes the same bytes.
            self.folder.write_bytes(self.name, version_record(0.0))

    def add(self, step: int, scalars: Mapping[str, float]) -> None:
        """Appends numbers at a step."""
        self.folder.append(self.name, scalar_record(float(step), step, scalars))

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self.folder.size(self.name)


class CurveEvents:
    """Writes curves, averaged over the seeds, with a point for every ten windows.

    Runs of networks have `LEARNING` beside what happened in the environments.
    """

    every = 10
    names = ("return", "success", *REGRETS, *LEARNING)

    def __init__(self, folder: Path, size: int, points: int) -> None:
        self.file = EventFile(folder / "events" / "events.out.tfevents.0", size)
        self.points = points if self.file.whole else 0

    def add(self, curves: Mapping[str, NDArray[Any]]) -> None:
        """Appends the points that are complete and not written yet."""
        while (self.points + 1) * self.every <= len(curves["step"]):
            window = slice(self.points * self.every, (self.points + 1) * self.every)
            self.points += 1
            parts = {name: curves[name][:, window] for name in self.names if name in curves}
            numbers = {
                name: float(np.nanmean(part))
                for name, part in parts.items()
                if not np.isnan(part).all()
            }
            if curves["attempts"][:, window].any():
                numbers["episode_length"] = self._length(curves, window)
            self.file.add(int(curves["step"][window][-1]), numbers)

    def _length(self, curves: Mapping[str, NDArray[Any]], window: slice) -> float:
        """The mean length of the attempts that ended: steps since the last point with any."""
        attempts, step = curves["attempts"].sum(axis=0), curves["step"]
        before = np.flatnonzero(attempts[: window.start])
        # A point is written whole: steps count from the end of the point that an attempt ended in.
        first = 0 if not len(before) else (before[-1] // self.every + 1) * self.every
        steps = step[window.stop - 1] - (step[first - 1] if first else 0)
        return float(steps * len(curves["attempts"]) / attempts[window].sum())
