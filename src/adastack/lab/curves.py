"""Curves as Parquet: a row for each seed and point, a column for each metric."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from adastack.files import DamagedFileError, write_whole

METRICS = "metrics.parquet"

Arrays = Mapping[str, NDArray[Any]]


def write_curves(path: Path, seeds: Sequence[int], curves: Arrays) -> None:
    """Writes arrays of shape (seeds, points) and ``step`` (points,), whole.

    An array with a third axis, such as the evictions of each slot, becomes a column for each.
    """
    points = len(curves["step"])
    columns = {
        "seed": np.repeat(np.asarray(seeds, np.int64), points),
        "step": np.tile(curves["step"], len(seeds)),
    }
    # In a fixed order, so that the same curves are the same file.
    for name, values in sorted(curves.items()):
        if name != "step" and values.ndim == 2:
            columns[name] = values.ravel()
        elif name != "step":
            parts = np.moveaxis(values, 2, 0)
            columns |= {f"{name}_{i}": part.ravel() for i, part in enumerate(parts)}
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def read_curves(path: Path, seeds: Sequence[int]) -> dict[str, NDArray[Any]]:
    """The arrays that `write_curves` wrote, seeds in the order asked for.

    Raises:
        DamagedFileError: If they are not there.
    """
    try:
        table = pq.read_table(path)
        columns = {name: table[name].to_numpy() for name in table.column_names}
        row = {int(seed): i for i, seed in enumerate(dict.fromkeys(columns.pop("seed").tolist()))}
        order = [row[seed] for seed in seeds]
        shaped = {name: column.reshape(len(row), -1) for name, column in columns.items()}
    except (pa.ArrowInvalid, KeyError, ValueError) as error:
        raise DamagedFileError(f"{path}: expected the curves of seeds {seeds} ({error})") from None
    step = shaped.pop("step")[0]
    return {"step": step, **{name: array[order] for name, array in shaped.items()}}
