"""YAML as nearly all SLS files are written, read line by line: half of the time that libyaml's nodes take.

Keys, lists, words, quotes without escapes, `|` blocks and flow collections within a line; the value and its places are
those that yaml.py makes. Of anything else (an anchor, a tag, a text over several lines, a mistake) it makes nothing:
`Unusual`, and libyaml reads the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from runner.model import Document, PlacedList, PlacedMap, Value

_WORD = r"[^:#]*+(?::(?=[^ ])[^:#]*+)*"  # up to a colon that ends a key, or to a comment
_FIRST = r"[A-Za-z0-9_/.(+$^;\\]"  # what no other meaning can begin with
_QUOTED = r"'[^']*+'|\"[^\"\\]*+\""
_LINE = re.compile(
    rf"( *+)((?:- ++)*+)(?:({_FIRST}{_WORD}|{_QUOTED}):(?: ++|$))?"
    rf"((?:{_FIRST}|-(?=[A-Za-z0-9./-])){_WORD}|(?:{_QUOTED}) *+|[\[{{].*|\|-? *+)?(#.*)?$"
)
_FLOW = re.compile(rf" *+(?:([\[{{}},:\]])|({_QUOTED})|(-?[A-Za-z0-9_/.][A-Za-z0-9_/.-]*+(?: ++[A-Za-z0-9_/.-]++)*+))")
LARGEST = 1_000_000  # characters of a text
LONGEST = 1000  # characters of a key: from 1024 on libyaml refuses them
DEEPEST = 50

Plain = Callable[[str], Value]  # what a word without quotes means
At = tuple[int, int]


class Unusual(Exception):
    """A text that libyaml has to read."""


_DASH, _KEY, _LONE = range(3)
_NOWHERE = (0, 0)
# (kind, column, its place, key, value, place of the value: None when it is what follows, place of an empty one)
Entry = tuple[int, int, At, Value, Value, At | None, At]


class PlainReader:
    """Reads one text."""

    def __init__(self, text: str, document: Document, plain: Plain) -> None:
        self._text = text
        self._document = document
        self._plain = plain
        self._entries: list[Entry] = []
        self._lines = text.split("\n")

    def read(self) -> Value:
        """The value of the text. Raises Unusual."""
        text = self._text
        if len(text) > LARGEST or not text.isascii() or not text.replace("\n", " ").isprintable():
            raise Unusual
        if text.startswith("...") or "\n..." in text:
            raise Unusual
        self._scan()
        if not self._entries:
            raise Unusual
        value, after = self._node(0, 0)
        if after != len(self._entries):
            raise Unusual
        return value

    # -------------------------------------------------- lines -> entries

    def _scan(self) -> None:
        lines, number, match, entries = self._lines, 0, _LINE.match, self._entries
        begun = False
        while number < len(lines):
            line = lines[number]
            number += 1
            found = match(line)
            if found is None:
                raise Unusual
            indent, dashes, key, value, comment = found.groups()
            column = len(indent)
            if dashes:
                if dashes == "- ":
                    entries.append((_DASH, column, (number, column + 1), None, None, None, _NOWHERE))
                    column += 2
                else:
                    column = self._dashes(dashes, number, column)
            at = (number, column + 1)
            if key is not None:
                if key[-1] == " " or len(key) > LONGEST:
                    raise Unusual
                key = self._plain(key) if key[0] not in "'\"" else key[1:-1]
                after = (number, found.end(3) + 2)
                if value is None:
                    entries.append((_KEY, column, at, key, None, None, after))
                    continue
                value_at = (number, found.start(4) + 1)
                if value[0] != "|":
                    value = self._inline(value, comment, value_at)
                    entries.append((_KEY, column, at, key, value, value_at, after))
                    continue
                text, number = self._block(value, column, number)
                entries.append((_KEY, column, at, key, text, value_at, after))
            elif value is None:
                if dashes or (comment and column != found.start(5)):
                    raise Unusual
            elif value[0] == "|":
                if not dashes:
                    raise Unusual
                text, number = self._block(value, entries[-1][1], number)
                entries.append((_LONE, column, at, None, text, at, at))
            elif value[0] == "-" and not dashes:
                if line != "---" or entries or begun:
                    raise Unusual
                begun = True
            else:
                entries.append((_LONE, column, at, None, self._inline(value, comment, at), at, at))

    def _dashes(self, dashes: str, number: int, column: int) -> int:
        """Add the lists of a line that begins several; the column after them."""
        for offset, letter in enumerate(dashes):
            if letter == "-":
                at = (number, column + offset + 1)
                self._entries.append((_DASH, column + offset, at, None, None, None, at))
        return column + len(dashes)

    def _inline(self, text: str, comment: str | None, at: At) -> Value:
        """The value that stands in a line."""
        first = text[0]
        if first == "[" or first == "{":
            value, after = self._flow(text, 0, at[0], at[1], 0)
            rest = text[after:].lstrip(" ")
            if rest and (rest[0] != "#" or text[after] != " "):
                raise Unusual
            return value
        bare = text.rstrip(" ")
        if comment and bare == text:
            raise Unusual
        return bare[1:-1] if first in "'\"" else self._plain(bare)

    def _block(self, header: str, column: int, number: int) -> tuple[str, int]:
        """The text of a `|` block, whose lines are deeper than a column, and the number of lines up to its end."""
        lines, first, last = self._lines, number, number
        margin = -1
        while number < len(lines):
            line = lines[number]
            bare = line.lstrip(" ")
            indent = len(line) - len(bare)
            if bare:
                if indent <= column:
                    break
                if margin < 0:
                    margin = indent
                if indent < margin:
                    raise Unusual
                last = number + 1
            elif margin < 0 or indent > margin:
                raise Unusual
            number += 1
        if margin < 0 or last == len(lines):
            raise Unusual
        end = "" if header[1:2] == "-" else "\n"
        return "\n".join([line[margin:] for line in lines[first:last]]) + end, number

    # -------------------------------------------------- flow collections

    def _token(self, text: str, at: int) -> re.Match[str]:
        found = _FLOW.match(text, at)
        if found is None:
            raise Unusual
        return found

    def _flow(self, text: str, at: int, line: int, column: int, depth: int) -> tuple[Any, int]:
        """The collection that begins at an offset of a text, and the offset after it."""
        if depth > DEEPEST:
            raise Unusual
        if text[at] == "{":
            return self._flow_map(text, at, line, column, depth)
        made = PlacedList(self._document, (line, column + at))
        found = self._token(text, at + 1)
        if found[1] == "]":
            return made, found.end()
        while True:
            value, start, after = self._flow_value(text, found, line, column, depth)
            made.append(value)
            made.items_at.append((line, start))
            end = self._token(text, after)
            if end[1] == "]":
                return made, end.end()
            if end[1] != ",":
                raise Unusual
            found = self._token(text, end.end())

    def _flow_map(self, text: str, at: int, line: int, column: int, depth: int) -> tuple[Any, int]:
        made = PlacedMap(self._document, (line, column + at))
        found = self._token(text, at + 1)
        if found[1] == "}":
            return made, found.end()
        while True:
            if found[1] or len(found[0]) > LONGEST:
                raise Unusual
            key = found[2][1:-1] if found[2] else self._plain(found[3])
            colon = self._token(text, found.end())
            if colon[1] != ":" or key in made or text[colon.end() : colon.end() + 1] != " ":
                raise Unusual
            made.keys_at[key] = (line, column + found.start(found.lastindex or 0))
            value, start, after = self._flow_value(text, self._token(text, colon.end()), line, column, depth)
            made[key] = value
            made.values_at[key] = (line, start)
            end = self._token(text, after)
            if end[1] == "}":
                return made, end.end()
            if end[1] != ",":
                raise Unusual
            found = self._token(text, end.end())

    def _flow_value(self, text: str, found: re.Match[str], line: int, column: int, depth: int) -> tuple[Any, int, int]:
        """A value inside of a collection, its column and the offset after it."""
        start = found.start(found.lastindex or 0)
        mark, quoted, word = found.groups()
        if quoted is not None:
            return quoted[1:-1], column + start, found.end()
        if word is not None:
            return self._plain(word), column + start, found.end()
        if mark not in "[{":
            raise Unusual
        value, after = self._flow(text, start, line, column, depth + 1)
        return value, column + start, after

    # -------------------------------------------------- entries -> values

    def _node(self, index: int, depth: int) -> tuple[Value, int]:
        """The value that begins with an entry, and the number of the entry after it."""
        if depth > DEEPEST:
            raise Unusual
        entry = self._entries[index]
        kind = entry[0]
        if kind == _KEY:
            return self._mapping(index, entry, depth)
        return self._sequence(index, entry, depth) if kind == _DASH else (entry[4], index + 1)

    def _sequence(self, index: int, entry: Entry, depth: int) -> tuple[Value, int]:
        entries, column = self._entries, entry[1]
        made = PlacedList(self._document, entry[2])
        places = made.items_at
        while True:
            index += 1
            inner = entries[index]  # something stands behind each dash
            places.append(inner[2])
            if inner[0] == _LONE:
                made.append(inner[4])
                index += 1
            else:
                value, index = self._node(index, depth + 1)
                made.append(value)
            if index == len(entries):
                return made, index
            entry = entries[index]
            if entry[1] != column or entry[0] != _DASH:
                if entry[1] > column:
                    raise Unusual
                return made, index

    def _mapping(self, index: int, entry: Entry, depth: int) -> tuple[Value, int]:
        entries, column = self._entries, entry[1]
        made = PlacedMap(self._document, entry[2])
        keys_at, values_at = made.keys_at, made.values_at
        while True:
            _, _, place, key, value, at, empty_at = entry
            index += 1
            if at is None:
                at = empty_at
                if index < len(entries):
                    inner = entries[index]
                    if inner[1] > column or (inner[1] == column and inner[0] == _DASH):
                        at = inner[2]
                        value, index = self._node(index, depth + 1)
            if key in made:
                raise Unusual
            made[key] = value
            keys_at[key] = place
            values_at[key] = at
            if index == len(entries):
                return made, index
            entry = entries[index]
            if entry[1] != column or entry[0] != _KEY:
                if entry[1] > column:
                    raise Unusual
                return made, index
