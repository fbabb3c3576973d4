# SPDX-License-Identifier: Apache-2.0
"""What is being typed: the keys above the cursor, and the word before it.

Read line by line, since a text that somebody types is no YAML most of the time.
"""

from __future__ import annotations

import re

from runner.model.records import Record
from runner.tools.lsp.documents import OpenDocument
from runner.tools.lsp.outline import REQUISITES, masked

_LINE = re.compile(
    r"(?P<indent> *)(?P<dashes>(?:- +)*)(?P<quote>['\"]?)(?P<key>[^\s#].*?)(?P=quote)"
    r"\s*:(?:\s+(?P<value>.*))?$"
)
_TYPED = re.compile(r"(?P<indent> *)(?P<dashes>(?:- *)*)(?:(?P<key>[\w.-]+): +)?(?P<word>.*)$")
_FLOW = re.compile(
    r"(?P<key>\w+): *\[.*[\[{,] *"
    r"(?:\{? *(?P<state>\w+): *)?['\"]?(?P<word>[^\[{,]*)$"
)
_EXPRESSION = re.compile(r"\{[{%](?:(?![}%]\}).)*$", re.S)


class Cursor(Record):
    """What is being typed. path: the keys above it, from the ID down. key: before it on the line
    (`- file: /etc/mo`). word: what there is of it, beginning at `start`. item: it is one of a list.
    """

    path: tuple[str, ...]
    key: str
    word: str
    start: int
    item: bool
    expression: str = ""  # of the template that it stands in, up to it

    @property
    def requisite(self) -> str:
        """The requisite whose list is being typed."""
        last = self.path[-1] if self.path else ""
        return last if last in REQUISITES else ""


def cursor_at(document: OpenDocument, offset: int) -> Cursor:
    """Return what is being typed at a place."""
    text = document.text
    number = document.line_of(offset)
    begin = document.starts[number]
    expression = _EXPRESSION.search(text, max(0, offset - 2000), offset)
    if expression:
        typed = re.search(r"[\w.:/-]*$", expression[0])
        word = typed[0] if typed else ""
        return Cursor((), "", word, offset - len(word), False, expression[0])
    line = masked(text[begin:offset])
    match = _TYPED.match(line)
    assert match, "any text matches"
    indent = len(match["indent"]) + len(match["dashes"])
    item = bool(match["dashes"])
    path = _above(document, number, indent if line.strip() else len(line), item)
    flow = _FLOW.search(line)
    if flow:
        word = flow["word"]
        return Cursor((*path, flow["key"]), flow["state"] or "", word, offset - len(word), True)
    word = match["word"].lstrip("'\"")
    return Cursor(path, match["key"] or "", word, offset - len(word), item)


def _above(document: OpenDocument, number: int, indent: int, item: bool) -> tuple[str, ...]:
    """The keys below which a line stands."""
    keys: list[str] = []
    for above in range(number - 1, -1, -1):
        if indent == 0 and not item:
            break
        match = _LINE.match(masked(document.line(above)))
        if not match or match["key"].startswith("{"):
            continue
        at = len(match["indent"]) + len(match["dashes"])
        # a list may stand at the column of its key
        if at < (indent - 1 if item else indent) and not match["value"]:
            keys.insert(0, match["key"])
            indent, item = at, bool(match["dashes"])
    return tuple(keys)
