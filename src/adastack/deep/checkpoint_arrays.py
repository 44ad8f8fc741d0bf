"""Trees of arrays as named arrays, the form that checkpoints have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from adastack.schemas import fitting, like


def flatten(tree: Any, prefix: str) -> dict[str, NDArray[Any]]:
    """Names every leaf by its path: ``learner/params/...``."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {f"{prefix}{jax.tree_util.keystr(path)}": np.asarray(leaf) for path, leaf in leaves}


Limits = Callable[[str], tuple[Any, Any]]
"""The least and the most that the entries of an array may be, by its name; None for no limit."""


def unflatten(
    template: Any, prefix: str, arrays: Mapping[str, NDArray[Any]], limits: Limits
) -> Any:
    """Puts named arrays back into a tree like ``template``.

    Raises:
        DamagedFileError: If an array is missing, has another shape or dtype, or numbers that are
            not finite or out of their limits.
    """
    leaves, structure = jax.tree_util.tree_flatten_with_path(template)
    names = {f"{prefix}{jax.tree_util.keystr(path)}": leaf for path, leaf in leaves}
    expected = {name: like(leaf, *limits(name)) for name, leaf in names.items()}
    return jax.tree_util.tree_unflatten(structure, fitting(expected, arrays).values())
