"""Packages that only some tasks need, asked for by the name of their extra."""

from __future__ import annotations

import importlib
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Imports a module of an extra.

    Raises:
        ImportError: If it is not installed; the message says what to install.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{error.name} is needed here: pip install 'adastack[{extra}]'", name=error.name
        ) from None
