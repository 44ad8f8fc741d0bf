"""What all settings share: how values are checked and replaced."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def check_one_of(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Raises unless a value is one of those allowed."""
    allowed = tuple(allowed)
    if value not in allowed:
        raise ValueError(
            f"{name} must be one of {', '.join(allowed)}, actual: {value!r}"
            f"{did_you_mean(str(value), allowed)}"
        )


def check_within(settings: Any, names: Iterable[str], low: float, high: float) -> None:
    """Raises unless these settings are within limits."""
    for name in names:
        value = getattr(settings, name)
        if not low <= value <= high:
            raise ValueError(f"{name} must be in {low}..{high}, actual: {value!r}")


def check_positive(settings: Any, names: Iterable[str]) -> None:
    """Raises unless these settings are above zero."""
    for name in names:
        value = getattr(settings, name)
        if not value > 0:
            raise ValueError(f"{name} must be positive, actual: {value!r}")


def check_at_least_one(settings: Any, names: Iterable[str]) -> None:
    """Raises unless these settings are integers of at least one."""
    for name in names:
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be an integer of at least 1, actual: {value!r}")


def check_types(settings: Any) -> None:
    """Raises if a setting is not a finite number, or not true or false, where it has to be."""
    for field in fields(settings):
        value, kind = getattr(settings, field.name), str(field.type)
        truth = isinstance(value, bool)
        number = isinstance(value, int | float) and not truth and math.isfinite(value)
        undecided = value is None and kind.endswith("None")
        if kind.startswith("float") and not (number or undecided):
            raise ValueError(f"{field.name} must be a finite number, actual: {value!r}")
        if kind.startswith("bool") and not (truth or undecided):
            raise ValueError(f"{field.name} must be true or false, actual: {value!r}")


def replaced(base: Kind, overrides: Mapping[str, Any]) -> Kind:
    """Settings with some replaced.

    Raises:
        ValueError: If a setting is unknown, or its value has the wrong type or size.
    """
    known = {field.name for field in fields(base)}  # type: ignore[arg-type]
    for name in overrides:
        if name not in known:
            raise ValueError(
                f"expected a setting of {', '.join(sorted(known))}, actual: {name!r}"
                f"{did_you_mean(name, known)}"
            )
    typed = {name: _typed(base, name, value) for name, value in overrides.items()}
    return replace(base, **typed)  # type: ignore[type-var]


def from_document(kind: type[Kind], document: Any) -> Kind:
    """The settings that a run folder holds.

    Raises:
        ValueError: If they are not settings of this kind.
    """
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(document, Mapping) or not names >= set(document):
        raise ValueError(f"expected a run with {kind.__name__}, actual settings: {document!r}")
    return kind(**document)


def printable(text: str) -> str:
    r"""A text with control characters spelled out, so that it cannot steer a terminal.

    Example:
        >>> print(printable("red \x1b[31m"))
        red \x1b[31m
    """
    return "".join(
        each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What might have been meant, as the end of an error message."""
    close = difflib.get_close_matches(word, list(known), 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _typed(base: Any, name: str, value: Any) -> Any:
    """The value in the type that the setting has."""
    kind = type(getattr(base, name))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind is str and not isinstance(value, str):
        raise ValueError(f"{name} must be of type str, actual: {value!r}")
    return value
