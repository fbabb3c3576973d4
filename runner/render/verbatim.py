"""Files that templates import as data and that have no Jinja in them: read without it, and once."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import jinja2

_NEWLINE = re.compile(r"\r\n|\r|\n")


class Verbatim:
    """A file of the tree without Jinja in it, which gives each import the same."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._asked = False
        self._known: dict[str, Any] = {}

    def value(self, tag: str, parse: Callable[[str, str, str], Any]) -> Any:
        """The value for a tag, for the importing template to alter as it likes. parse: (tag, text, file) -> value."""
        if tag in self._known:
            return deepcopy(self._known[tag])
        value = parse(tag, self._text, self._file)
        if self._asked:  # a copy is only worth its price for files that many import
            self._known[tag] = deepcopy(value)
        self._asked = True
        return value


def verbatim(environment: jinja2.Environment, text: str, file: str) -> Verbatim | None:
    """The file as it is; None when there is Jinja in it."""
    same = plain(environment, text)
    return None if same is None else Verbatim(same, file)


def plain(environment: jinja2.Environment, text: str) -> str | None:
    """The text with the newlines that Jinja would give it; None when there is Jinja in it."""
    starts = (environment.block_start_string, environment.variable_start_string, environment.comment_start_string)
    if environment.line_statement_prefix or environment.line_comment_prefix or any(start in text for start in starts):
        return None
    newline = environment.newline_sequence
    if "\r" in text or newline != "\n":
        text = newline.join(_NEWLINE.split(text))
    return text if environment.keep_trailing_newline else text.removesuffix(newline)
