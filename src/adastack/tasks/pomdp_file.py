"""Reads Cassandra's ``.pomdp`` files.

All forms of the format are read: names or counts, wildcards, single entries, rows and matrices,
``uniform``, ``identity`` and ``reset``, all five kinds of ``start``, rewards and costs. A later
entry overrides an earlier one. `adastack.tasks.pomdp_task` turns what was read into a task.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from adastack.extras import check_installed
from adastack.settings import did_you_mean
from adastack.tasks.finite import Bools, Floats

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

    Statement = Tree[Token]

GRAMMAR = r"""
file: statement*
?statement: discount | values | listing | start | choice | entry
discount: "discount" ":" NUMBER
values: "values" ":" (REWARD | COST)
listing: (STATES | ACTIONS | OBSERVATIONS) ":" (NUMBER | NAME+)
start: "start" ":" (UNIFORM | NAME | NUMBER+)
choice: "start" (INCLUDE | EXCLUDE) ":" (NAME | NUMBER)+
entry: (T | O | R) selectors body
selectors: (":" (NAME | NUMBER | STAR))+
body: UNIFORM | IDENTITY | RESET | NUMBER+

REWARD: "reward"
COST: "cost"
STATES: "states"
ACTIONS: "actions"
OBSERVATIONS: "observations"
UNIFORM: "uniform"
IDENTITY: "identity"
RESET: "reset"
INCLUDE: "include"
EXCLUDE: "exclude"
T: "T"
O: "O"
R: "R"
STAR: "*"
NAME: /[A-Za-z][A-Za-z0-9_-]*/
NUMBER: /[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/
%ignore /#[^\n]*/
%ignore /\s+/
"""

LISTING = re.compile(r"\b(states|actions|observations)\s*:([^:#]*)")
STATEMENTS = {"DISCOUNT", "VALUES", "STATES", "ACTIONS", "OBSERVATIONS", "START", "T", "O", "R"}
WORDS = {"COLON": "':'", "NUMBER": "a number", "NAME": "a name", "STAR": "'*'", "$END": "the end"}

KINDS = ("states", "actions", "observations")
AXES = {
    "T": ("actions", "states", "states"),
    "O": ("actions", "states", "observations"),
    "R": ("actions", "states", "states", "observations"),
}

MAX_BYTES = 2**22
"""Of a file; one that is larger describes more than the tables have room for."""
MAX_NAMES = 2**12
"""As many states as there can be, with one action and one observation."""
MAX_ENTRIES = 2**24
TOLERANCE = 2e-4
"""How far a row may be from summing to one; files round their numbers."""


class PomdpError(ValueError):
    """A ``.pomdp`` file that cannot be read; the message names the file and the line."""


@dataclass(frozen=True)
class Pomdp:
    """What a ``.pomdp`` file says."""

    discount: float | None
    states: tuple[str, ...]
    actions: tuple[str, ...]
    observations: tuple[str, ...]
    start: Floats
    """(states,): the first state's distribution."""
    transition: Floats
    """(actions, states, states): the next state's distribution."""
    emission: Floats
    """(actions, states, observations): what is seen after an action that led to a state."""
    reward: Floats
    """(actions, states, states, observations); costs are negative rewards."""
    resets: Bools
    """(actions, states): whether the row said ``reset``."""


def parse_pomdp(text: str, source: str = "pomdp") -> Pomdp:
    """Reads the text of a ``.pomdp`` file.

    Args:
        text: The file's content.
        source: What error messages call it.

    Raises:
        PomdpError: If the text is not such a file.
    """
    if len(text) > MAX_BYTES:
        raise PomdpError(f"{source}: expected at most {MAX_BYTES:,} characters, actual: more")
    for found in LISTING.finditer(text):  # Before the grammar, which takes a while for a million.
        if len(found.group(2).split(None, MAX_NAMES + 1)) > MAX_NAMES + 1:
            raise PomdpError(f"{source}: expected at most {MAX_NAMES:,} {found.group(1)}")
    return _Reader(source).read(_syntax(text, source))


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark(GRAMMAR, start="file", parser="lalr")


def _syntax(text: str, source: str) -> list[Statement]:
    check_installed("lark", extra="train")
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        tree = _parser().parse(text)
    except UnexpectedToken as error:
        line = text.count("\n") + 1 if error.token.type == "$END" else error.line
        actual = "the end" if error.token.type == "$END" else repr(str(error.token))
        raise PomdpError(
            f"{source}, line {line}: expected {_expected(error.expected)}, actual {actual}"
        ) from None
    except UnexpectedCharacters as error:
        actual = repr(error.char)
        raise PomdpError(
            f"{source}, line {error.line}: expected {_expected(error.allowed or ())}, "
            f"actual {actual}"
        ) from None
    return tree.children  # type: ignore[return-value]


def _expected(terminals: Any) -> str:
    """What the grammar would have taken, in words."""
    names = set(terminals)
    words = sorted(WORDS.get(name, f"'{name.lower()}'") for name in names - STATEMENTS - {"$END"})
    if names & STATEMENTS:
        some = sorted(name if len(name) == 1 else name.lower() for name in names & STATEMENTS)
        words.append(f"a new entry ({', '.join(some)})")
    return " or ".join(words)


class _Reader:
    """Fills a model's arrays from the statements of one file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.discount: float | None = None
        self.sign = 1.0
        self.names: dict[str, tuple[str, ...]] = {}
        self.places: dict[str, dict[str, int]] = {}
        self.start: Floats = np.zeros(0)
        self.tables: dict[str, Floats] = {}
        self.lines: dict[str, NDArray[np.int64]] = {}
        self.resets: Bools = np.zeros((0, 0), np.bool_)

    def read(self, statements: Sequence[Statement]) -> Pomdp:
        kinds: dict[str, list[Any]] = {}
        for statement in statements:
            kinds.setdefault(statement.data, []).append(statement.children)
        self._read_preamble(kinds)
        self._allocate()
        self._read_start(kinds.get("start", []) + kinds.get("choice", []))
        for letter, selectors, body in kinds.get("entry", []):
            self._read_entry(letter, selectors.children, body.children)
        self.tables["T"][self.resets] = self.start
        for letter in "TO":
            self._close(letter)
        return Pomdp(
            discount=self.discount,
            states=self.names["states"],
            actions=self.names["actions"],
            observations=self.names["observations"],
            start=self.start,
            transition=self.tables["T"],
            emission=self.tables["O"],
            reward=self.sign * self.tables["R"],
            resets=self.resets,
        )

    def _read_preamble(self, kinds: dict[str, list[Any]]) -> None:
        for (number,) in kinds.get("discount", []):
            self.discount = self._number(number)
            if not 0 <= self.discount <= 1:
                self._fail(number, "a discount in 0..1", number)
        for (word,) in kinds.get("values", []):
            self.sign = 1.0 if word == "reward" else -1.0
        for kind, *items in kinds.get("listing", []):
            if kind in self.names:
                self._fail(kind, f"one '{kind}:'", "a second")
            self.names[kind] = self._listed(kind, items)
            self.places[kind] = {name: place for place, name in enumerate(self.names[kind])}
        for kind in KINDS:
            if kind not in self.names:
                raise PomdpError(f"{self.source}: expected a line '{kind}: ...', there is none")

    def _listed(self, kind: Token, items: Sequence[Token]) -> tuple[str, ...]:
        if items[0].type == "NUMBER":
            if not items[0].isdigit() or int(items[0]) < 1:
                self._fail(items[0], f"how many {kind} there are", items[0])
            if len(items[0]) > 9 or int(items[0]) > MAX_NAMES:
                self._fail(items[0], f"at most {MAX_NAMES:,} {kind}", items[0][:20])
            return tuple(str(place) for place in range(int(items[0])))
        seen = set()
        for item in items:
            if item in seen:
                self._fail(item, f"different {kind}", f"{item} twice")
            seen.add(item)
        return tuple(str(item) for item in items)

    def _allocate(self) -> None:
        states, actions, observations = (len(self.names[kind]) for kind in KINDS)
        size = actions * states * states * observations
        if size > MAX_ENTRIES:
            raise PomdpError(
                f"{self.source}: expected at most {MAX_ENTRIES:,} rewards (actions x states x "
                f"states x observations), actual {size:,}"
            )
        self.start = np.full(states, 1 / states)
        self.tables = {
            "T": np.zeros((actions, states, states)),
            "O": np.zeros((actions, states, observations)),
            "R": np.zeros((actions, states, states, observations)),
        }
        self.lines = {letter: np.zeros((actions, states), np.int64) for letter in "TO"}
        self.resets = np.zeros((actions, states), np.bool_)

    def _read_start(self, starts: Sequence[Sequence[Token]]) -> None:
        if not starts:
            return
        if len(starts) > 1:
            self._fail(starts[1][0], "one 'start'", "a second")
        head, *rest = starts[0]
        n_states = len(self.start)
        if head.type in ("INCLUDE", "EXCLUDE"):
            named = np.isin(np.arange(n_states), [self._place("states", item) for item in rest])
            weights: Floats = np.where(named == (head.type == "INCLUDE"), 1.0, 0.0)
            if not weights.any():
                self._fail(head, "a state to start in", "none is left")
        elif head.type == "NAME" or (head.type == "NUMBER" and not rest and n_states > 1):
            weights = np.eye(n_states)[self._place("states", head)]
        else:
            weights = self._values("start", starts[0], (n_states,))
            if abs(weights.sum() - 1) > TOLERANCE:
                self._fail(head, "a start that sums to 1", f"{weights.sum():.6g}")
        self.start = weights / weights.sum()

    def _read_entry(self, letter: Token, selectors: Sequence[Token], body: Sequence[Token]) -> None:
        table, axes = self.tables[letter], AXES[letter]
        least = len(axes) - 2
        if not least <= len(selectors) <= len(axes):
            expected = f"{least} to {len(axes)} of ':' in an entry of {letter}"
            self._fail(letter, expected, str(len(selectors)))
        index = tuple(
            slice(None) if token.type == "STAR" else self._place(kind, token)
            for kind, token in zip(axes, selectors, strict=False)
        )
        table[index] = self._values(letter, body, table.shape[len(selectors) :])
        if letter != "R":
            self.lines[letter][index[:2]] = letter.line or 0
        if letter == "T":
            self.resets[index[:2]] = body[0].type == "RESET"

    def _values(self, table: str, body: Sequence[Token], shape: tuple[int, ...]) -> Floats:
        """What an entry's word or numbers stand for, shaped like the axes it leaves open."""
        head, is_row, is_matrix = body[0], len(shape) == 1, len(shape) == 2
        if head.type == "NUMBER":
            if len(body) != math.prod(shape):
                self._fail(head, f"{math.prod(shape)} numbers", str(len(body)))
            numbers = np.array([self._number(token) for token in body])
            if table != "R" and numbers.min() < 0:
                self._fail(head, "probabilities", f"{numbers.min():g}")
            return numbers.reshape(shape)
        if head.type == "UNIFORM" and shape and table != "R":
            return np.full(shape, 1 / shape[-1])
        if head.type == "IDENTITY" and table == "T" and is_matrix:
            return np.eye(shape[0])
        if head.type == "RESET" and table == "T" and is_row:
            return self.start
        self._fail(head, "numbers", f"'{head}'")

    def _close(self, letter: str) -> None:
        """Checks that the rows of a table are distributions, and rounds off what files round."""
        table = self.tables[letter]
        sums = table.sum(axis=-1)
        wrong = np.argwhere(np.abs(sums - 1) > TOLERANCE)
        if len(wrong):
            action, state = (int(place) for place in wrong[0])
            line = self.lines[letter][action, state]
            at = f", line {line}" if line else ""
            raise PomdpError(
                f"{self.source}{at}: expected {letter} of action {self.names['actions'][action]}, "
                f"state {self.names['states'][state]} to sum to 1, "
                f"actual {sums[action, state]:.6g}"
            )
        table /= sums[:, :, None]

    def _place(self, kind: str, token: Token) -> int:
        """The number of a state, action or observation."""
        names, places = self.names[kind], self.places[kind]
        if token in places:
            return places[token]
        if token.isdigit() and int(token) < len(names):
            return int(token)
        hint = did_you_mean(token, names)
        some = f"{names[0]} to {names[-1]}" if len(names) > 6 else ", ".join(names)
        self._fail(token, f"one of the {kind} {some}", f"{token}{hint}")

    def _number(self, token: Token) -> float:
        number = float(token)
        if not math.isfinite(number):
            self._fail(token, "a finite number", token)
        return number

    def _fail(self, at: Token, expected: str, actual: str) -> NoReturn:
        raise PomdpError(f"{self.source}, line {at.line}: expected {expected}, actual {actual}")
