"""Trees of arrays as named arrays, the form that checkpoints have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from adastack.files import DamagedFileError


def flatten(tree: Any, prefix: str) -> dict[str, NDArray[Any]]:
    """Names every leaf by its path: ``learner/params/...``."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {f"{prefix}{jax.tree_util.keystr(path)}": np.asarray(leaf) for path, leaf in leaves}


def unflatten(template: Any, prefix: str, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Puts named arrays back into a tree like ``template``.

    Raises:
        DamagedFileError: If an array is missing or has another shape or dtype.
    """
    leaves, structure = jax.tree_util.tree_flatten_with_path(template)
    found = []
    for path, leaf in leaves:
        name = f"{prefix}{jax.tree_util.keystr(path)}"
        array = arrays.get(name)
        if array is None or array.shape != leaf.shape or array.dtype != leaf.dtype:
            actual = "nothing" if array is None else f"{array.dtype}{list(array.shape)}"
            raise DamagedFileError(
                f"the checkpoint does not fit this run: {name} must be "
                f"{leaf.dtype}{list(leaf.shape)}, actual: {actual}"
            )
        found.append(array)
    return jax.tree_util.tree_unflatten(structure, found)
