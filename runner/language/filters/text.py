# SPDX-License-Identifier: Apache-2.0
"""Filters of texts and numbers."""

from __future__ import annotations

import re
import shlex
from typing import Any

import jinja2


def flags(ignorecase: bool, multiline: bool) -> re.RegexFlag:
    """The flags of a regular expression."""
    return (re.I if ignorecase else re.NOFLAG) | (re.M if multiline else re.NOFLAG)


def _groups(match: re.Match[str] | None) -> tuple[str, ...] | None:
    return None if match is None else match.groups() or (match[0],)


def regex_search(
    text: str, rgx: str, ignorecase: bool = False, multiline: bool = False
) -> tuple[str, ...] | None:
    """The groups of the first match anywhere (without groups, the match), or None."""
    return _groups(re.search(rgx, text, flags(ignorecase, multiline)))


def regex_match(
    text: str, rgx: str, ignorecase: bool = False, multiline: bool = False
) -> tuple[str, ...] | None:
    """The groups of a match at the beginning (without groups, the match), or None."""
    return _groups(re.match(rgx, text, flags(ignorecase, multiline)))


def regex_replace(
    text: str, rgx: str, val: str, ignorecase: bool = False, multiline: bool = False
) -> str:
    """The text with all matches replaced."""
    return re.sub(rgx, val, text, flags=flags(ignorecase, multiline))


def regex_escape(text: str) -> str:
    """The text as a pattern that matches it."""
    return re.escape(text)


def quote(value: Any) -> str:
    """A word for the shell."""
    return shlex.quote(value or "")


def to_bool(value: Any) -> bool:
    """True for yes, true, 1, numbers above 0, and lists and mappings that are not empty."""
    if isinstance(value, str):
        return value.lower() in ("yes", "1", "true")
    if value is None or isinstance(value, float | tuple | jinja2.Undefined):
        return False
    return value > 0 if isinstance(value, int) else bool(value)


def to_num(value: Any) -> Any:
    """A number from a text; a text that is none stays as it is."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def is_hex(value: Any) -> bool:
    """Return whether a text is a hexadecimal number."""
    try:
        int(value, 16)
    except (TypeError, ValueError):
        return False
    return True


def contains_whitespace(text: str) -> bool:
    """Return whether a text has white space."""
    return any(char.isspace() for char in text)


def to_bytes(value: Any, encoding: str | None = None, errors: str = "strict") -> bytes:
    """A text as bytes. Raises TypeError for what is neither text nor bytes."""
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if not isinstance(value, str):
        raise TypeError(f"a text is required, not {type(value).__name__}")
    return value.encode(encoding or "utf-8", errors)


def human_to_bytes(size: Any, default_unit: str = "B", handle_metric: bool = False) -> int:
    """`5 GB` as a number of bytes; 0 for what is not a size."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(?:([A-Za-z]?)(i?[Bb]?))?\s*", str(size))
    if match is None:
        return 0
    value, unit, rest = match.groups()
    unit = (unit or default_unit).upper()
    if unit == "B":
        return int(float(value))
    metric = handle_metric and (rest if match[2] else default_unit[1:]).lower() == "b"
    power = "KMGTPEZY".find(unit[0]) + 1
    return int(float(value) * (1000 if metric else 1024) ** power) if power else 0


def to_snake_case(value: str) -> str:
    """fooBarBaz as foo_bar_baz."""
    return re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", value)).lower()


def to_camelcase(value: str, uppercamel: bool = False) -> str:
    """foo_bar as fooBar, or as FooBar."""
    first, *rest = value.split("_")
    rest = [part.capitalize() for part in rest]
    return "".join([first.capitalize() if uppercamel else first, *rest])
