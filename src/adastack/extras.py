"""Packages that not everything needs, asked for by the name of their extra.

Wrappers and finite tasks need numpy and Gymnasium. A package that needs more says so before it
imports it, so that the error names what to install.
"""

from __future__ import annotations

import importlib
import platform
from importlib import metadata, util
from types import ModuleType

LIBRARIES = ("adastack", "numpy", "numba", "gymnasium", "jax", "jaxlib", "flax", "optax")


def check_installed(*packages: str, extra: str) -> None:
    """Checks for packages of an extra without importing them.

    Raises:
        ImportError: If one is not installed; the message says what to install.
    """
    for package in packages:
        if util.find_spec(package) is None:
            raise _missing(package, extra)


def require(module: str, extra: str) -> ModuleType:
    """Imports a module of an extra.

    Raises:
        ImportError: If it is not installed; the message says what to install.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise _missing(error.name or module, extra) from None


def _missing(module: str, extra: str) -> ModuleNotFoundError:
    package = module.partition(".")[0]
    message = f"{package} is needed here: pip install 'adastack[{extra}]'"
    return ModuleNotFoundError(message, name=package)


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries a result depends on."""
    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return found
