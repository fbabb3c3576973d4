# SPDX-License-Identifier: Apache-2.0
"""The plainest YAML, read without PyYAML: importing that costs a fifth of a short run.

That is a tree of block mappings and lists with words, whole numbers, `true` and `false`, texts in
quotes without escapes, texts of several lines after `|`, `[a, 1]`, `[]` and `{}`, in ASCII. What is
not surely plain (a colon or `#` where it may mean something, an anchor, a folded text, a date, a
mistake) is left to PyYAML, which gives the same values and places for the rest.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from runner.model.patterns import pattern
from runner.model.places import Document, PlacedList, PlacedMap, Value

LONGEST = 16384  # characters; what is longer is read faster by PyYAML, its import included
DEEPEST = 40  # levels
_KEY = pattern(
    r"([A-Za-z_/](?:[^ :#]|[ ](?![ #:])){0,999}|'[^']{1,999}'|\"[^\"\\]{1,999}\"):(?: +|$)"
)
_WORD = pattern(r"(?:[A-Za-z_/]|\.\.?/|\.[A-Za-z])(?:[^ :]|:(?! |$)| (?!#))*|\.\.?")
_NUMBER = pattern(r"0|[1-9][0-9]{0,15}")
_QUOTED = pattern(r"'([^']*)'|\"([^\"\\]*)\"")
_ITEM = pattern(r" *([A-Za-z_/0-9.][A-Za-z_/0-9.-]*|'[^']*'|\"[^\"\\]*\") *(,|$)")
_SWITCHES = {"true": True, "True": True, "false": False, "False": False}
_OTHER_MEANING = frozenset(
    ("true", "false", "yes", "no", "on", "off", "y", "n", "null", ".inf", ".nan")
)


class NotSimple(Exception):
    """This is for PyYAML."""


def read(text: str, document: Document) -> Value:
    """The value of a YAML text, with places. Raises NotSimple for a text that is not plain, or
    long, and where PyYAML is there already.
    """
    if "yaml" in sys.modules or len(text) > LONGEST:
        raise NotSimple
    return parse(text, document)


def parse(text: str, document: Document) -> Value:
    """The value of a plain text, with places. Raises NotSimple.

    >>> parse("a:\\n  - b: 1\\n  - c d\\n", None)
    {'a': [{'b': 1}, 'c d']}
    """
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        raise NotSimple
    reader = _PlainReader(text, document)
    if not reader.lines:
        return None
    value = reader.block(DEEPEST)
    if reader.lines:
        raise NotSimple
    return value


def read_plain(text: str) -> Any:
    """The value of a YAML text without places, as `read` gives it; the text may also be JSON with
    no more in it than that. Raises NotSimple.
    """
    if "yaml" not in sys.modules and text.startswith("{") and len(text) <= LONGEST:
        return parse_json(text)
    nowhere: Any = None
    return _without_places(read(text, nowhere))


def parse_json(text: str) -> Any:
    """The value of JSON without escapes, fractions and non-ASCII letters. Raises NotSimple."""
    if "\\" in text or not (text.isascii() and text.replace("\n", "").isprintable()):
        raise NotSimple
    try:
        return json.loads(
            text,
            parse_float=_refuse,
            parse_constant=_refuse,
            parse_int=_whole_number,
            object_pairs_hook=_with_keys_once,
        )
    except (ValueError, RecursionError):
        raise NotSimple from None


def _refuse(word: str) -> Any:
    raise NotSimple


def _whole_number(word: str) -> int:
    if not _NUMBER.fullmatch(word):
        raise NotSimple
    return int(word)


def _with_keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise NotSimple
    return made


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_places(item) for key, item in value.items()}
    return [_without_places(item) for item in value] if isinstance(value, list) else value


class _PlainReader:
    """What is left of a text: (number of the line, its indentation, what stands there), the next
    line last.
    """

    def __init__(self, text: str, document: Document) -> None:
        self._document = document
        self._all = text.split("\n")
        self.lines: list[tuple[int, int, str]] = []
        for number, line in enumerate(self._all, 1):
            content = line.strip(" ")
            if content and content[0] != "#":
                self.lines.append((number, line.index(content[0]), content))
        self.lines.reverse()

    def block(self, levels: int) -> PlacedMap | PlacedList:
        """The mapping or the list that begins with the next line."""
        if not levels:
            raise NotSimple
        number, indent, content = self.lines[-1]
        if content == "-" or content.startswith("- "):
            return self._list(indent, PlacedList(self._document, (number, indent + 1)), levels)
        return self._mapping(indent, PlacedMap(self._document, (number, indent + 1)), levels)

    def _mapping(self, indent: int, made: PlacedMap, levels: int) -> PlacedMap:
        while self.lines and self.lines[-1][1] == indent:
            number, _, content = self.lines.pop()
            match = _KEY.match(content)
            if match is None or match[1].lower() in _OTHER_MEANING:
                raise NotSimple
            key = match[1][1:-1] if match[1][0] in "'\"" else match[1]
            if key in made or key == "<<":
                raise NotSimple
            rest = content[match.end() :]
            rest = "" if rest[:1] == "#" else rest
            at, to = number, indent + match.end() + 1
            if rest:
                value = self._scalar(rest, indent, (at, to))
            elif self._goes_on(indent, "- "):
                at, to = self.lines[-1][0], self.lines[-1][1] + 1
                value = self.block(levels - 1)
            else:
                value, to = None, indent + match.end(1) + 2
            made[key] = value
            made.at[key] = (number, indent + 1, at, to)
        return made

    def _list(self, indent: int, made: PlacedList, levels: int) -> PlacedList:
        while (
            self.lines and self.lines[-1][1] == indent and f"{self.lines[-1][2]} ".startswith("- ")
        ):
            number, _, content = self.lines.pop()
            rest = content[1:].lstrip(" ")
            at, to = number, indent + len(content) - len(rest)
            if rest and (rest[:2] in ("-", "- ") or _KEY.match(rest)):
                self.lines.append((number, to, rest))
                value = self.block(levels - 1)
            elif rest:
                value = self._scalar(rest, indent, (at, to + 1))
            elif self._goes_on(indent):
                at, to = self.lines[-1][:2]
                value = self.block(levels - 1)
            else:
                value, to = None, indent + 1
            made.append(value)
            made.items_at.append((at, to + 1))
        return made

    def _goes_on(self, indent: int, beginning: str = "\n") -> bool:
        """Return whether the next line is a part of what stands at an indentation. beginning: what
        makes a line at the same indentation a part of it.
        """
        if not self.lines:
            return False
        _, below, content = self.lines[-1]
        return below > indent or (below == indent and f"{content} ".startswith(beginning))

    def _scalar(self, word: str, indent: int, at: tuple[int, int]) -> Value:
        """The value of what is no block. indent: of what it is in; at: where it stands."""
        if word == "|":
            return self._literal(indent, at[0])
        if self.lines and self.lines[-1][1] > indent:
            raise NotSimple  # it may go on there
        if word == "{}":
            return PlacedMap(self._document, at)
        if word[0] == "[":
            return self._flow(word, at)
        return _plain(word)

    def _flow(self, word: str, at: tuple[int, int]) -> PlacedList:
        """A list on one line, in brackets."""
        made = PlacedList(self._document, at)
        inside, end = word[1:-1], 0
        if word[-1] != "]":
            raise NotSimple
        while inside:
            match = _ITEM.match(inside, end)
            if match is None:
                raise NotSimple
            made.append(_plain(match[1]))
            made.items_at.append((at[0], at[1] + 1 + match.start(1)))
            end = match.end()
            if not match[2]:
                break
        return made

    def _literal(self, indent: int, number: int) -> str:
        """The text of several lines below `|`. indent: of what it is in; number: of its line."""
        rows: list[str] = []
        margin = 0
        for line in self._all[number:]:
            content = line.lstrip(" ")
            column = len(line) - len(content)
            if content and column <= indent:
                break
            margin = margin or (column if content else 0)
            if column < margin if content else (column and not margin):
                raise NotSimple
            rows.append(line[margin:])
        while self.lines and self.lines[-1][0] <= number + len(rows):
            self.lines.pop()
        is_last = number + len(rows) == len(self._all)
        filled = len("\n".join(rows).rstrip("\n").split("\n")) if margin else 0
        if not filled or (is_last and filled == len(rows)):
            raise NotSimple  # empty, or no newline ends the text
        return "\n".join(rows[:filled]) + "\n"


def _plain(word: str) -> str | int | bool:
    """The value of a word, a number or a text in quotes."""
    if _WORD.fullmatch(word):
        if word.lower() in _OTHER_MEANING:
            if word not in _SWITCHES:
                raise NotSimple
            return _SWITCHES[word]
        return word
    if _NUMBER.fullmatch(word):
        return int(word)
    if quoted := _QUOTED.fullmatch(word):
        return quoted[1] if quoted[2] is None else quoted[2]
    raise NotSimple
