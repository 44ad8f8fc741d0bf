"""Trees of arrays as named arrays, the form that checkpoints have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from adastack.files import fitting


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
    expected = {f"{prefix}{jax.tree_util.keystr(path)}": leaf for path, leaf in leaves}
    return jax.tree_util.tree_unflatten(structure, fitting(expected, arrays).values())
