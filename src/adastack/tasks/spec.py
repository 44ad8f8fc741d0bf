"""How a task is written on the command line: ``name:option=value,...``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from adastack.settings import did_you_mean


class Spec(NamedTuple):
    """A task's name and its options, as written."""

    name: str
    options: dict[str, str]


def parse_spec(text: str) -> Spec:
    """The name and the options of a task, whether or not it is registered.

    What follows the colon of Gymnasium's ``module:Id-v0`` is no option: it belongs to the name,
    and options may follow it after one more colon.

    Raises:
        ValueError: If an option comes twice.

    Example:
        >>> parse_spec("passive-tmaze:length=5")
        Spec(name='passive-tmaze', options={'length': '5'})
        >>> parse_spec("my_module:MyEnv-v0:delay=30")
        Spec(name='my_module:MyEnv-v0', options={'delay': '30'})
    """
    found = re.fullmatch(r"(.*?)(?::(\w+=.*)?)?", text, re.DOTALL)
    assert found is not None, "every text matches"
    name, rest = found.group(1), found.group(2)
    options: dict[str, str] = {}
    # A comma may stand in a path: only one before the next option separates.
    for word in re.split(r",(?=\w+=)", rest) if rest else []:
        option, _, value = word.partition("=")
        if option in options:
            raise ValueError(f"expected option {option!r} once, actual: twice in {text!r}")
        options[option] = value
    return Spec(name, options)


def spell(name: str, options: Mapping[str, Any]) -> str:
    """The inverse of `parse_spec`, from the values of the options."""
    words = ",".join(f"{option}={_word(value)}" for option, value in options.items())
    return f"{name}:{words}" if words else name


def parse_literal(text: str) -> Any:
    """A word as a number or a truth value, if it is one.

    Example:
        >>> [parse_literal(word) for word in ("true", "3", "0.5", "fast")]
        [True, 3, 0.5, 'fast']
    """
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse_value(option: str, default: Any, text: str) -> float | bool | str:
    """The value of an option, of the same type as its default.

    Raises:
        ValueError: If the text is no such value.
    """
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise ValueError(f"expected {option}=true or {option}=false, actual: {text!r}")
        return text == "true"
    if isinstance(default, int):
        if not re.fullmatch(r"[+-]?\d+", text):
            raise ValueError(f"expected an integer for {option}, actual: {text!r}")
        return int(text)
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"expected a number for {option}, actual: {text!r}") from None
    return text


def check_options(name: str, known: Iterable[str], given: Iterable[str]) -> None:
    """Raises a ValueError if a task has no such option."""
    known = list(known)
    for option in given:
        if option not in known:
            expected = f"of {', '.join(known)}" if known else "(it has none)"
            raise ValueError(
                f"expected an option {expected} for {name}, actual: {option!r}"
                f"{did_you_mean(option, known)}"
            )


def _word(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "..."
    return str(value).lower() if isinstance(value, bool) else str(value)
