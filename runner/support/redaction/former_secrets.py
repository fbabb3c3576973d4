# SPDX-License-Identifier: Apache-2.0
"""Secrets of former runs, known by keyed hashes: a value that was changed is still hidden where the
machine has it.

The file holds a random key and hashes, never a secret: who can read it can only try values.
"""

from __future__ import annotations

import itertools
import os
import time
from contextlib import suppress

from runner.model.stdlib import blake2b, pattern
from runner.support.files.trusted_folder import trusted_folder
from runner.support.redaction.keys import FORMER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from re import Pattern

KEY, DIGEST = 32, 16  # bytes
MOST = 5000  # hashes that are kept, the latest
LONGEST = 4096  # characters of a value that is remembered
_PIECE = pattern(r"""[^\s=:,;@/&?"'<>()\[\]{}|]+""")
_WORD = pattern(r"\S+")
_DELIMITER = pattern(r"""[=:,;@/&?"'<>()\[\]{}|+-]+""")
_LINE = pattern(r"[^\n]+")
_BEGIN = pattern(r"""^[+-]?[ \t]*|[=:>][ \t]*["']?|["']""")
_SLASH = pattern("/")
BEGINNINGS = 8  # places in a word or a line where a value may begin

# A record: the hash, the length of the value in characters (4 bytes), the day when it was last used
# (4 bytes)
RECORD = DIGEST + 8


class Former:
    """The secrets of former runs, of the state folder of a machine."""

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self._key = b""
        self._days: dict[
            bytes, tuple[int, int]
        ] = {}  # hash -> length of the value, day of its last use
        self._read()
        self._lengths = {length for length, _ in self._days.values()}

    def __bool__(self) -> bool:
        return bool(self._days)

    def remember(self, values: Iterable[str]) -> None:
        """Keep the hashes of these values. What cannot be written is not remembered."""
        today = int(time.time() // 86400)
        self._key = self._key or os.urandom(KEY)
        used = {self._hash(value): (len(value), today) for value in values if len(value) <= LONGEST}
        if all(self._days.get(digest) == entry for digest, entry in used.items()):
            return
        days = {
            **{digest: entry for digest, entry in self._days.items() if digest not in used},
            **used,
        }
        latest = list(days.items())[-MOST:]
        records = (
            digest + length.to_bytes(4) + max(0, day).to_bytes(4)
            for digest, (length, day) in latest
        )
        with suppress(OSError):
            trusted_folder(self._state_dir).write(FORMER, self._key + b"".join(records))

    def spans(self, text: str, is_name: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
        """The spans of values of former runs in a text. is_name: what is not to be hidden."""
        if not self._days:
            return
        seen: dict[str, bool] = {}
        for start, end in _parts(text, min(self._lengths)):
            if end - start not in self._lengths:
                continue
            part = text[start:end]
            if part not in seen:
                seen[part] = self._hash(part) in self._days and not is_name(part)
            if seen[part]:
                yield start, end

    def _hash(self, value: str) -> bytes:
        data = value.encode("utf-8", "surrogateescape")
        return blake2b(data, key=self._key, digest_size=DIGEST).digest()

    def _read(self) -> None:
        try:
            handle = trusted_folder(self._state_dir, make=False).open(FORMER, os.O_RDONLY)
            with open(handle, "rb") as file:
                data = file.read(KEY + MOST * RECORD)
        except OSError:
            return
        if len(data) < KEY or (len(data) - KEY) % RECORD:
            return  # broken: begin anew
        self._key = data[:KEY]
        for at in range(KEY, len(data), RECORD):
            record = data[at : at + RECORD]
            self._days[record[:DIGEST]] = (
                int.from_bytes(record[DIGEST:-4]),
                int.from_bytes(record[-4:]),
            )


def _parts(text: str, least: int) -> Iterator[tuple[int, int]]:
    """The parts of a text that may be whole values: pieces between delimiters, what is left of a
    word or a line from one on. least: the length of the shortest value.
    """
    for match in _PIECE.finditer(text):
        yield match.span()
    for match in _WORD.finditer(text):
        if len(match[0]) >= least:
            yield from _ends(text, *match.span(), _DELIMITER)
    for match in _LINE.finditer(text):
        if len(match[0]) >= least and " " in match[0].strip():
            for begin in (_BEGIN, _SLASH):  # each with its own number of places
                yield from _ends(text, *match.span(), begin)


def _ends(text: str, start: int, end: int, begin: Pattern[str]) -> Iterator[tuple[int, int]]:
    """From the start, and from what follows each delimiter, to the end, with and without what ends
    it.
    """
    starts = [
        start,
        *(match.end() for match in itertools.islice(begin.finditer(text, start, end), BEGINNINGS)),
    ]
    ends = {
        end,
        start + len(text[start:end].rstrip()),
        start + len(text[start:end].rstrip(" \t,;\"')]}>")),
    }
    login = text.rfind("@", start, end)
    for first in starts:
        yield from ((first, last) for last in ends if last > first)
        if login > first:
            yield first, login
