# SPDX-License-Identifier: Apache-2.0
"""salt.utils.stringutils: texts."""

from __future__ import annotations

import difflib
import fnmatch
import re
import unicodedata
from typing import Any

from runner.language.filters.hashing import random_str as random
from runner.language.filters.lists import check_whitelist_blacklist
from runner.language.filters.text import contains_whitespace, human_to_bytes, is_hex, to_num
from runner.language.filters.text import to_camelcase as snake_to_camel_case
from runner.language.filters.text import to_snake_case as camel_to_snake_case


def to_unicode(
    s: Any, encoding: Any = None, errors: str = "strict", normalize: bool = False
) -> str:
    """A text, of text or bytes. Raises TypeError for any other value."""
    if not isinstance(s, str | bytes | bytearray):
        raise TypeError(f"expected str, bytes, or bytearray not {type(s)}")
    text = s if isinstance(s, str) else bytes(s).decode(_first(encoding), errors)
    return unicodedata.normalize("NFC", text) if normalize else text


to_str = to_unicode


def to_bytes(s: Any, encoding: Any = None, errors: str = "strict") -> bytes:
    """Bytes, of text or bytes. Raises TypeError for any other value."""
    if not isinstance(s, str | bytes | bytearray):
        raise TypeError("expected str, bytes, or bytearray")
    return s.encode(_first(encoding), errors) if isinstance(s, str) else bytes(s)


def _first(encoding: Any) -> str:
    return (encoding[0] if isinstance(encoding, tuple | list) else encoding) or "utf-8"


def to_none(text: Any) -> Any:
    """None of an empty text."""
    return text if str(text).strip() else None


def is_quoted(value: Any) -> str:
    """The quotes that a text stands in; empty when it does not."""
    quoted = (
        isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    )
    return value[0] if quoted else ""


def dequote(value: Any) -> Any:
    """A text without the quotes that it stands in."""
    return value[1:-1] if is_quoted(value) else value


def is_binary(data: Any) -> bool:
    """Return whether bytes or a text hold what no text does."""
    if not data or not isinstance(data, str | bytes):
        return False
    content = data.encode() if isinstance(data, str) else data
    text = bytes(range(32, 127)) + b"\n\r\t\f\b"
    return b"\0" in content or len(content.translate(None, text)) / len(content) > 0.30


def expr_match(line: str, expr: str) -> bool:
    """Return whether a line fits a glob, or as a whole a regular expression."""
    if line == expr or fnmatch.fnmatch(line, expr):
        return True
    try:
        return bool(re.match(rf"\A{expr}\Z", line))
    except re.error:
        return False


def check_include_exclude(
    path_str: str, include_pat: str | None = None, exclude_pat: str | None = None
) -> bool:
    """Return whether a path is wanted: by patterns, globs or `E@regular expressions`."""

    def fits(pattern: str) -> bool:
        return bool(
            re.search(pattern[2:], path_str)
            if pattern[:2] == "E@"
            else fnmatch.fnmatch(path_str, pattern)
        )

    return bool(not include_pat or fits(include_pat)) and not (exclude_pat and fits(exclude_pat))


def get_diff(a: Any, b: Any, *args: Any, **options: Any) -> str:
    """The differences between two lists of lines, as a unified diff."""
    old, new = ([to_unicode(line) for line in lines] for lines in (a, b))
    return "".join(difflib.unified_diff(old, new, *args, **options))


def get_context(template: str, line: int, num_lines: int = 5, marker: str | None = None) -> str:
    """The lines around one, which a marker may point out."""
    lines = template.splitlines()
    first, last = max(0, line - num_lines - 1), min(len(lines), line + num_lines)
    shown = [
        f"{text}{marker or ''}" if number == line else text for number, text in enumerate(lines, 1)
    ][first:last]
    before, after = ["[...]"] if first else [], ["[...]"] if last < len(lines) else []
    return "\n".join(["---", *before, *shown, *after, "---"])


def build_whitespace_split_regex(text: str) -> str:
    """A regular expression of a text that is written with other spaces."""
    space = r"(?:[\s]+)?"
    lines = [
        space.join(re.escape(word) for word in re.split(r"[\s]+", line.strip()))
        for line in text.splitlines()
    ]
    return f"(?m)^{space}{(space * 2).join(lines)}{space}$"
