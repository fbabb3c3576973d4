# SPDX-License-Identifier: Apache-2.0
"""The scalar types of a signature, and what all shapes share."""

from __future__ import annotations

from runner.api.argtypes import CheckUnless
from runner.model.chunk import SLOT
from runner.model.places import without_places
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

TRUE = frozenset(["true", "yes", "on", "y", "t", "1"])
FALSE = frozenset(["false", "no", "off", "n", "f", "0"])


class Mismatch(ValueError):
    """A value is not what was expected; `path` leads from the argument to the culprit inside it.

    subject: "path" where only a path is not absolute, "~USER" where that user is not there. hint:
    what to write instead, where the check says so; then the problem does not show the value.
    expected: what it takes there, in words.
    """

    def __init__(
        self,
        problem: str,
        path: tuple[Any, ...] = (),
        subject: str = "",
        hint: str = "",
        expected: str = "",
    ):
        super().__init__(problem)
        self.problem = problem
        self.path = path
        self.subject = subject
        self.hint = hint
        self.expected = expected


class Shape(Record):
    """The values that a type accepts: for people (title), for the binder (convert) and as JSON
    Schema.
    """

    title: str
    convert: Callable[[Any], Any]
    schema: Mapping[str, Any]
    exact: tuple[type, ...] = ()  # values of these classes are taken for it first in a union
    nullable: bool = False
    hidden: bool = False
    identifies: bool = False  # NameVar
    names: Callable[[str], bool] | None = None  # of **options: those that there are
    every: tuple[str, ...] = ()  # the names of all of them, where another one is an error
    spelled: bool = False  # what is in it becomes text as it is
    filled: bool = False  # refuses an empty text; an optional value may be one
    unless: tuple[CheckUnless, ...] = ()  # checks that depend on other arguments


def show(value: object) -> str:
    """A value as a message quotes it: short, in YAML's words."""
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def wrong(title: str, value: object) -> Mismatch:
    """The usual complaint."""
    return Mismatch(f"expected {title}, got {show(value)}", expected=title)


# ---------------------------------------------------------------- scalars


def spelled(value: Any) -> Any:
    """The text of a scalar."""
    if isinstance(value, str):
        if not value.isascii():
            _refuse_no_text(value)
        return value
    if isinstance(value, bool | int | float):
        # True for a bool, as Salt: how it was typed (yes, on, true) is gone after YAML
        return str(value)
    if hasattr(value, "isoformat"):  # YAML reads 2024-01-31 as a date
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    raise wrong("text", value)


def _refuse_no_text(value: str) -> None:
    """Raise Mismatch for halves of characters, which no file and no program can be given."""
    try:
        # bytes of a file's name that are no UTF-8 are fine
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as problem:
        character = f"\\u{ord(value[problem.start]):04x}"
        hint = "in YAML a character beyond U+FFFF is written as it is, or as \\U with eight digits"
        raise Mismatch(f"expected text, and {character} is half a character", hint=hint) from None


def _int(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        if value.startswith(SLOT):
            return value
        try:
            return int(value.strip())
        except ValueError:
            pass
    raise wrong("a whole number", value)


def _float(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(SLOT):
        return value
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise wrong("a number", value)


def _bool(value: Any) -> Any:
    if value is True or value is False:
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in TRUE or word in FALSE:
            return word in TRUE
        if value.startswith(SLOT):
            return value
    raise wrong("true or false", value)


def _nothing(value: Any) -> Any:
    if value is None:
        return None
    raise wrong("nothing", value)


SIMPLE: dict[Any, Shape] = {
    str: Shape("text", spelled, {"type": "string"}, (str,)),
    int: Shape("a whole number", _int, {"type": "integer"}, (int,)),
    float: Shape("a number", _float, {"type": "number"}, (float,)),
    bool: Shape("true or false", _bool, {"type": "boolean"}, (bool,)),
    bytes: Shape("text", lambda value: spelled(value).encode(), {"type": "string"}, (bytes,)),
    type(None): Shape("nothing", _nothing, {"type": "null"}, (type(None),), nullable=True),
    object: Shape("anything", without_places, {}, nullable=True),
}
SIMPLE[None] = SIMPLE[type(None)]
