# SPDX-License-Identifier: Apache-2.0
"""The words of scripts of packages, expanded as the shell does; None for each that is not known."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar

from modules._texts import shell
from modules._texts.shell import Unread, Word

# where a command is run; empty where that is not known
working_folder: ContextVar[str] = ContextVar("working_folder", default="/")


_PATTERN = re.compile(r"[*?]|\[.+\]", re.DOTALL)
_BLANKS = " \t\n"  # what divides words
_QUOTE = shell.Text("", True)  # what a word in quotes begins with
_SUM = re.compile(r"(\$?\w+)\s*([-+])\s*(\$?\w+)")


def in_folder(path: str) -> str:
    """Return a path where a command is run; empty where that is not known."""
    folder = working_folder.get()
    return os.path.join(folder, path) if folder or path.startswith("/") else ""


COMMAND = 1_000  # what a command takes, in characters that are handled
PROGRAM = 20 * COMMAND  # and one that is started for what it says
MOST_WORK = 50_000 * COMMAND  # of one script, with those that it calls


class TooMuchWork(Exception):
    """A script takes more than anybody waits for."""


class Work:
    """What a script may take still."""

    def __init__(self) -> None:
        self.left = MOST_WORK

    def spend(self, amount: int) -> None:
        """Raises TooMuchWork."""
        self.left -= amount
        if self.left < 0:
            raise TooMuchWork("it takes too many steps")


working: ContextVar[Work | None] = ContextVar("working", default=None)


def spend(amount: int) -> None:
    """Note what a command takes beside being run. Raises TooMuchWork."""
    if work := working.get():
        work.spend(amount)


class Words:
    """The words of a script. glob: the paths that a pattern means."""

    def __init__(
        self,
        script: str,
        arguments: Sequence[str],
        glob: Callable[[str], list[str]],
        variables: Mapping[str, str],
    ) -> None:
        self.script, self.glob = script, glob
        self.work = Work()
        self.arguments: list[str | None] = [*arguments]
        self.variables: dict[str, str | None] = {**variables}
        self._status: int | None = 0

    def _output(self, part: shell.Substitution) -> str | None:
        """What commands print."""
        raise NotImplementedError

    def _fields(self, words: Sequence[Word]) -> list[str | None]:
        """The words that a command gets; None for each that is not known."""
        return [field for word in words for field in self._fields_of(word)]

    def _fields_of(self, word: Word) -> list[str | None]:
        alone = _alone(word)
        if alone is not None:
            value = self._counted(alone)
            if value is None or alone.quoted or isinstance(alone, shell.Text):
                return [value]
            return self._split(value)
        if any(
            isinstance(part, shell.Expansion) and part.name == "@" and not part.operation
            for part in word.parts
        ):
            plain = [part for part in word.parts if part != _QUOTE]
            if len(plain) != 1:
                return [None]
            if plain[0].quoted:
                return [*self.arguments]
            return [field for each in self.arguments for field in self._split(each)]
        fields: list[str | None] = [""]
        is_there = has_pattern = False
        for part in word.parts:
            value = self._counted(part)
            if value is None:
                return [None]
            if isinstance(part, shell.Text) or part.quoted:
                is_there = True
                unquoted = isinstance(part, shell.Text) and not part.quoted
                has_pattern |= unquoted and any(sign in value for sign in "*?[")
                fields[-1] = (fields[-1] or "") + value
                continue
            if self._is_split_otherwise(value):
                return [None]
            has_pattern |= bool(_PATTERN.search(value))
            pieces = value.split()
            if pieces and value[:1].isspace() and fields[-1]:
                fields.append("")
            for position, piece in enumerate(pieces):
                if position:
                    fields.append("")
                fields[-1] = (fields[-1] or "") + piece
                is_there = True
        if not is_there and fields == [""]:
            return []
        return self._meant(fields) if has_pattern else fields

    def _split(self, value: str | None) -> list[str | None]:
        """The words that the shell makes of a value."""
        if value is None or self._is_split_otherwise(value):
            return [None]
        return self._meant([*value.split()])

    def _is_split_otherwise(self, value: str) -> bool:
        """Return whether a script has said what divides words, and that is in a value."""
        signs = self.variables.get("IFS", _BLANKS)
        return signs != _BLANKS and not {*value}.isdisjoint({*(signs or ""), *_BLANKS})

    def _meant(self, fields: list[str | None]) -> list[str | None]:
        """The words, instead of patterns the paths that are like them."""
        meant: list[str | None] = []
        for each in fields:
            found = self._paths_like(each) if each and _PATTERN.search(each) else []
            meant += found or [each]
        return meant

    def _paths_like(self, pattern: str) -> list[str]:
        if pattern.startswith("/"):
            return self.glob(pattern)
        folder = working_folder.get().rstrip("/") + "/"
        return [path.removeprefix(folder) for path in self.glob(folder + pattern)]

    def _text(self, word: Word) -> str | None:
        """What a word says, without being split."""
        text = ""
        for part in word.parts:
            value = self._counted(part)
            if value is None:
                return None
            text += value
        return text

    def _counted(self, part: shell.Text | shell.Expansion | shell.Substitution) -> str | None:
        """A part of a word. Raises TooMuchWork."""
        value = self._part(part)
        if value:
            self.work.spend(len(value))
        return value

    def _part(self, part: shell.Text | shell.Expansion | shell.Substitution) -> str | None:
        if isinstance(part, shell.Text):
            return part.text
        if isinstance(part, shell.Substitution):
            return self._output(part)
        if part.name == shell.ARITHMETIC:
            return self._number(part.operation)
        value = self._value(part.name)
        is_set = part.name in self.variables or value is None or value != ""
        operation = part.operation
        if not operation:
            return value
        if operation.startswith(":") and value == "":
            is_set = False
        sign = operation.lstrip(":")
        if sign in ("-", "=", "?"):
            return value if is_set else self._text(part.word)
        if sign == "+":
            return self._text(part.word) if is_set else ""
        if value is None:
            return None
        if operation == "length":
            return str(len(value))
        pattern = self._pattern(part.word)
        if pattern is None:
            return None
        self.work.spend(len(value) ** 2 // 16)  # a look at each beginning, or end
        return _cut(value, operation, pattern)

    def _number(self, text: str) -> str | None:
        """What is calculated of two numbers; None where that is not known."""
        match = _SUM.fullmatch(text)
        sides = [match[1], match[3]] if match else []
        values = [each if each.isdigit() else self._value(each.lstrip("$")) for each in sides]
        if match is None or not all(value and value.isdigit() for value in values):
            return None
        first, second = (int(value or 0) for value in values)
        return str(first + second if match[2] == "+" else first - second)

    def _value(self, name: str) -> str | None:
        if name.isdigit():
            number = int(name)
            if number == 0:
                return self.script
            return self.arguments[number - 1] if number <= len(self.arguments) else ""
        if name in ("@", "*"):
            known = [each for each in self.arguments if each is not None]
            return " ".join(known) if len(known) == len(self.arguments) else None
        if name == "#":
            return str(len(self.arguments))
        if name == "?":
            return None if self._status is None else str(self._status)
        if name in ("$", "!", "-"):
            return None
        return self.variables.get(name, "")

    def _pattern(self, word: Word) -> str | None:
        text = ""
        for part in word.parts:
            value = part.text if isinstance(part, shell.Text) else self._part(part)
            if value is None:
                return None
            quoted = part.quoted
            text += re.sub(r"([*?[])", r"[\1]", value) if quoted else value
        return text


def _alone(word: Word) -> shell.Text | shell.Expansion | shell.Substitution | None:
    """The only part of a word, where that is no pattern, and does not stand for all arguments."""
    parts = word.parts
    if len(parts) == 2 and parts[0] == _QUOTE and parts[1].quoted:
        parts = parts[1:]
    if len(parts) != 1:
        return None
    part = parts[0]
    if isinstance(part, shell.Text):
        return part if part.quoted or not _PATTERN.search(part.text) else None
    return None if isinstance(part, shell.Expansion) and part.name == "@" else part


# the classes of characters that a pattern may name in its brackets
_CLASSES = {"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \t", "digit": "0-9"}
_CLASSES |= {"lower": "a-z", "space": " \t\n\r\f\v", "upper": "A-Z", "xdigit": "0-9A-Fa-f"}


def fits(text: str, pattern: str) -> bool:
    """Return whether a text is what a pattern of the shell says.

    >>> fits("a\tb", "a[[:space:]]*"), fits("ab", "[![:alpha:]]*")
    (True, False)
    """

    def characters(found: re.Match[str]) -> str:
        before = re.sub(r"\[:\w+:\]", "", pattern[: found.start()])
        if found[1] not in _CLASSES or before.rfind("[") <= before.rfind("]"):
            raise Unread(f"the pattern {pattern}")
        return _CLASSES[found[1]]

    if "[:" in pattern:
        pattern = re.sub(r"\[:(\w+):\]", characters, pattern)
    return fnmatch.fnmatchcase(text, pattern)


def _cut(value: str, operation: str, pattern: str) -> str:
    """Return a value without its shortest or longest beginning (#) or end (%) that matches."""
    positions = range(len(value) + 1)
    if operation in ("##", "%"):
        positions = positions[::-1]
    for position in positions:
        if operation[0] == "#" and fits(value[:position], pattern):
            return value[position:]
        if operation[0] == "%" and fits(value[position:], pattern):
            return value[:position]
    return value
