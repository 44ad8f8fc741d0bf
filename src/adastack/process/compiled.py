"""How the kernels of this room are compiled.

Small functions over tuples of arrays read well, but cost ten times their work in calls and in
reference counts unless they are inlined and the counting is off. Nothing here may allocate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

Function = Callable[..., Any]
# numba's type hints do not know all of its options.
_njit: Any = numba.njit


def compiled(function: Function) -> Function:
    """A function that Python calls: cached on disk, without the global lock."""
    decorated: Function = _njit(nogil=True, cache=True, error_model="numpy", _nrt=False)(function)
    return decorated


def inlined(function: Function) -> Function:
    """A part of a compiled function."""
    decorated: Function = _njit(forceinline=True, error_model="numpy", _nrt=False)(function)
    return decorated
