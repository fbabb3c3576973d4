# SPDX-License-Identifier: Apache-2.0
"""The plainest YAML, read without PyYAML: importing that costs a fifth of a short run.

That is a tree of mappings and lists, in blocks or in brackets and braces, with words, whole
numbers, switches, null, texts in quotes without escapes, texts of several lines after `|` and
comments, in ASCII. What is not surely plain (a colon where it may mean something, an anchor, a
folded text, a date, a mistake) is left to PyYAML, which gives the same values and places for it.
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache

from runner.model.places import Document, PlacedList, PlacedMap, Value, without_places
from runner.model.stdlib import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 65536  # characters; to have read more in vain would cost more than PyYAML
SHORT = 2048  # characters; what is longer is read faster by `json`, its import included
DEEPEST = 40  # levels
KNOWN = 256  # lines and words of which it is known what they are: most stand in a text many times
_KEY = pattern(
    r"([A-Za-z_/](?:[^ :#]|[ ](?![ #:])){0,999}|'[^']{1,999}'|\"[^\"\\]{1,999}\"):(?: +|$)"
)
_WORD = pattern(
    r"(?:[A-Za-z_/$(]|--?[A-Za-z]|\.\.?/|\.[A-Za-z]|[0-9]+\.[0-9]+\.[0-9]|<[A-Za-z]|\+ [A-Za-z.]"
    # a letter that no number has, nor a time
    r"|(?!0[xX])[0-9](?=[0-9A-Za-z:._@/+-]*[acdf-su-wyACDF-SU-WY]))"
    r"(?:[^ :]|:(?! |$)| (?!#))*|\.\.?"
)
_IN_FLOW = pattern(
    r"([A-Za-z_/0-9.~$(](?:[A-Za-z_/0-9.~$()@=+%*;-]|[: ](?=[A-Za-z_/0-9.$(]))*"
    r"|'[^']*'|\"[^\"\\]*\")(: +)?"
)
_FIRST = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/")  # of plain words
_INSIDE_WORD, _ENDS_FLOW_WORD, _QUOTES = frozenset("_-./@+"), frozenset(",]}"), frozenset("'\"")
_OF_WORDS = "".join((*_FIRST, *_INSIDE_WORD, "0123456789"))
_CONSTANTS: dict[str, bool | None] = {
    form: value
    for value, words in ((True, "true yes on"), (False, "false no off"), (None, "null"))
    for word in words.split()
    for form in (word, word.title(), word.upper())
}
_CONSTANTS["~"] = None
_OTHER_MEANING = frozenset((*(word.lower() for word in _CONSTANTS), "y", "n", ".inf", ".nan"))


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
    value = reader.document_value()
    if reader.lines:
        raise NotSimple
    return value


def read_plain(text: str) -> Any:
    """The value of a YAML text without places, as `read` gives it; the text may also be JSON with
    no more in it than that. Raises NotSimple.
    """
    if "yaml" not in sys.modules and text.startswith("{") and SHORT < len(text) <= LONGEST:
        return parse_json(text)
    nowhere: Any = None
    return without_places(read(text, nowhere))


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
    if not _is_number(word):
        raise NotSimple
    return int(word)


def _with_keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise NotSimple
    return made


class _PlainReader:
    """What is left of a text: (number of the line, its indentation, what stands there), the next
    line last.
    """

    def __init__(self, text: str, document: Document) -> None:
        self.document = document
        self._all = text.split("\n")
        self.lines: list[tuple[int, int, str]] = []
        for number, line in enumerate(self._all, 1):
            content = line.strip(" ")
            if content and content[0] != "#":
                self.lines.append((number, line.index(content[0]), content))
        if len(self.lines) > 1 and self.lines[-1][1:] == (0, "..."):
            del self.lines[-1]
        if self.lines and self.lines[0][1:] == (0, "---"):
            del self.lines[0]
        self.lines.reverse()

    def document_value(self) -> Value:
        """The value of all lines, of which there is one at least."""
        number, indent, content = self.lines[-1]
        if content[0] not in "[{":
            return self.block(DEEPEST)
        self.lines.pop()
        return self._scalar(content, -1, (number, indent + 1))

    def block(self, levels: int) -> PlacedMap | PlacedList:
        """The mapping or the list that begins with the next line."""
        if not levels:
            raise NotSimple
        number, indent, content = self.lines[-1]
        if content == "-" or content.startswith("- "):
            return self._list(indent, PlacedList(self.document, (number, indent + 1)), levels)
        return self._mapping(indent, PlacedMap(self.document, (number, indent + 1)), levels)

    def _mapping(self, indent: int, made: PlacedMap, levels: int) -> PlacedMap:
        while self.lines and self.lines[-1][1] == indent:
            number, _, content = self.lines.pop()
            found = _key(content)
            if found is None or found[0] in made or found[0] == "<<":
                raise NotSimple
            key, behind, end = found
            rest = content[end:]
            rest = "" if rest[:1] == "#" else rest
            at, to = number, indent + end + 1
            if rest:
                value = self._scalar(rest, indent, (at, to))
            elif self.lines and (
                self.lines[-1][1] > indent
                or (self.lines[-1][1] == indent and self.lines[-1][2][:2] in ("- ", "-"))
            ):
                at, to = self.lines[-1][0], self.lines[-1][1] + 1
                value = self.block(levels - 1)
            else:
                value, to = None, indent + behind + 2
            made[key] = value
            made.at[key] = (number, indent + 1, at, to)
        return made

    def _list(self, indent: int, made: PlacedList, levels: int) -> PlacedList:
        while self.lines and self.lines[-1][1] == indent and self.lines[-1][2][:2] in ("- ", "-"):
            number, _, content = self.lines.pop()
            rest = content[1:].lstrip(" ")
            rest = "" if rest[:1] == "#" else rest
            at, to = number, indent + len(content) - len(rest)
            if rest and (rest[:2] in ("-", "- ") or _key(rest) is not None):
                self.lines.append((number, to, rest))
                if rest[0] == "-" or levels < 2:
                    value = self.block(levels - 1)
                else:
                    begin = number, to + 1
                    value = self._mapping(to, PlacedMap(self.document, begin), levels - 1)
            elif rest:
                value = self._scalar(rest, indent, (at, to + 1))
            elif self.lines and self.lines[-1][1] > indent:
                at, to = self.lines[-1][:2]
                value = self.block(levels - 1)
            else:
                value, to = None, indent + 1
            made.append(value)
            made.items_at.append((at, to + 1))
        return made

    def _scalar(self, word: str, indent: int, at: tuple[int, int]) -> Value:
        """The value of what is no block. indent: of what it is in; at: where it stands."""
        if word[0] in "[{":
            value = _Flow(self, word, at).whole()
        elif ("#" in word and (word := _without_comment(word)) == "|") or word == "|":
            return self._literal(indent, at[0])
        else:
            value = _plain(word)
        if self.lines and self.lines[-1][1] > indent:
            raise NotSimple  # it may go on there
        return value

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
        filled = next((count for count in range(len(rows), 0, -1) if rows[count - 1]), 0)
        if not filled or (is_last and filled == len(rows)):
            raise NotSimple  # empty, or no newline ends the text
        return "\n".join(rows[:filled]) + "\n"


class _Flow:
    """A list in brackets or a mapping in braces, and what is in it, on one line or more.

    line: what is left of its line; at: where that stands.
    """

    def __init__(self, reader: _PlainReader, line: str, at: tuple[int, int]) -> None:
        self._reader = reader
        self._line = line
        self._number, self._column = at
        self._at = 0

    def whole(self) -> Value:
        """The value, where nothing but a comment follows on its last line."""
        value = self._value(DEEPEST)
        rest = self._line[self._at :]
        if (rest and not rest.lstrip(" ").startswith("#")) or rest[:1] == "#":
            raise NotSimple
        return value

    def _next(self) -> str:
        """The next character that means something, on a line below if there is none on this."""
        while True:
            rest = self._line[self._at :]
            word = rest.lstrip(" ")
            if word and (word[0] != "#" or word == rest):
                self._at += len(rest) - len(word)
                return word[0]
            lines = self._reader.lines
            if not lines:
                raise NotSimple
            self._number, column, self._line = lines.pop()
            self._column, self._at = column + 1, 0

    def _place(self) -> tuple[int, int]:
        return self._number, self._column + self._at

    def _value(self, levels: int) -> Value:
        if not levels:
            raise NotSimple
        first = self._next()
        if first == "[":
            return self._list(PlacedList(self._reader.document, self._place()), levels)
        if first == "{":
            return self._mapping(PlacedMap(self._reader.document, self._place()), levels)
        word, is_key = self._word()
        if is_key:
            raise NotSimple
        return _plain(word)

    def _word(self) -> tuple[str, bool]:
        """A word, and whether a colon follows it."""
        line, at = self._line, self._at
        end = _end_of_word(line, at)
        if end > at and line[end : end + 1] in _ENDS_FLOW_WORD:  # most, without an expression
            self._at = end
            return line[at:end], False
        if end > at and line[end : end + 2] == ": ":
            self._at = len(line) - len(line[end + 1 :].lstrip(" "))
            return line[at:end], True
        match = _IN_FLOW.match(line, at)
        if match is None:
            raise NotSimple
        self._at = match.end()
        return match[1], bool(match[2])

    def _goes_on(self, closing: str, was_comma: bool) -> bool:
        """Return whether another item follows; after the last one, step behind what closes."""
        if self._next() == closing:
            self._at += 1
            return False
        if not was_comma:
            raise NotSimple
        return True

    def _comma(self) -> bool:
        found = self._next() == ","
        self._at += found
        return found

    def _list(self, made: PlacedList, levels: int) -> PlacedList:
        self._at += 1
        comma = True
        while self._goes_on("]", comma):
            place = self._place()
            made.append(self._value(levels - 1))
            made.items_at.append(place)
            comma = self._comma()
        return made

    def _mapping(self, made: PlacedMap, levels: int) -> PlacedMap:
        self._at += 1
        comma = True
        while self._goes_on("}", comma):
            place = self._place()
            word, is_key = self._word()
            key = _plain(word)
            if not is_key or not isinstance(key, str) or key in made or key == "<<":
                raise NotSimple
            self._next()
            at = self._place()
            made[key] = self._value(levels - 1)
            made.at[key] = (*place, *at)
            comma = self._comma()
        return made


def _without_comment(word: str) -> str:
    """A word or a text in quotes, without the comment behind it."""
    behind = word.find(word[0], 1) if word[0] in "'\"" else 0
    comment = word.find(" #", behind)
    return word if comment < 0 else word[:comment].rstrip(" ")


@lru_cache(KNOWN)
def _key(line: str) -> tuple[str, int, int] | None:
    """The key that a line begins with; where it ends, and where its value begins; None where it
    begins with none. Raises NotSimple for one that is no text.

    >>> _key("file_roots:  {}")
    ('file_roots', 10, 13)
    """
    key, colon, rest = line.partition(":")
    if colon and rest[:1] in ("", " ") and _is_word(key):  # most keys, without a regular expression
        behind, end = len(key), len(line) - len(rest.lstrip(" "))
    else:
        match = _KEY.match(line) if colon else None
        if match is None:
            return None
        key, behind, end = match[1], match.end(1), match.end()
    if not end or key.lower() in _OTHER_MEANING:
        raise NotSimple
    return key[1:-1] if key[0] in "'\"" else key, behind, end


def _is_word(text: str) -> bool:
    """Return whether this is nothing but a word, of letters, digits and the like."""
    return text.isidentifier() or (text[:1] in _FIRST and not text.strip(_OF_WORDS))


def _end_of_word(line: str, at: int) -> int:
    """Where the word or the text in quotes ends that begins at a place; there, where none does."""
    first = line[at : at + 1]
    if first in _QUOTES:
        end = line.find(first, at + 1) + 1
        return end if end and not (first == '"' and "\\" in line[at:end]) else at
    if first not in _FIRST:
        return at
    end = at + 1
    while line[end : end + 1].isalnum() or line[end : end + 1] in _INSIDE_WORD:
        end += 1
    return end


@lru_cache(KNOWN)
def _plain(word: str) -> str | int | bool | None:
    """The value of a word, a number or a text in quotes."""
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if word[0].isdecimal() and _is_number(word):
        return int(word)
    if word[0] in _QUOTES:
        text = word[1:-1]
        if len(word) < 2 or word[-1] != word[0] or word[0] in text:
            raise NotSimple
        if word[0] == '"' and "\\" in text:
            raise NotSimple
        return text
    if not _is_text(word) or word.lower() in _OTHER_MEANING:
        raise NotSimple
    return word


def _is_text(word: str) -> bool:
    """Return whether words are a text without quotes: as `_WORD`, which is not needed for most."""
    if word[0] in _FIRST:
        return not (": " in word or " #" in word or word[-1] == ":")
    return _WORD.fullmatch(word) is not None


def _is_number(word: str) -> bool:
    return word.isdecimal() and len(word) <= 16 and (word[0] != "0" or word == "0")
