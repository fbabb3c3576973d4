# SPDX-License-Identifier: Apache-2.0
"""Edits of texts that are too large to be held: they are read and written in blocks of whole lines,
as far as an edit goes by lines.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable
from importlib import import_module

from modules import _paths
from modules.file._contents.limits import limit_of_edits
from modules.file._contents.streamed import Edited, Streamed, streamed
from modules.file.bounded_regex import matching
from modules.file.differences import lines_of
from runner.api import StateFailed, for_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

LARGE = 8 << 20  # bytes: smaller texts are edited whole
BLOCK = 1 << 20  # bytes of a text that are held at once
LONGEST_LINE = 16 << 20  # bytes
ENDS = 1 << 18  # characters of lines that are held at both ends of a text
MARK = "\ufeff"
MOST_MATCHES = 1000  # lines that an edit of one line looks at

# of what is put into a text: where it begins, where what it takes the place of ends, what it is
Piece = tuple[int, int, str]

# of a block of whole lines; whether it is the first, and the last
BlockEdit = Callable[[str, bool, bool], str]


class WholeText:
    """A text that is held, edited as one block. mark: the byte order mark before its first line,
    which no edit sees.
    """

    def __init__(self, text: str) -> None:
        self.text = text.removeprefix(MARK)
        self.mark = MARK if len(self.text) < len(text) else ""
        self.size = len(self.text)

    def _other(self, text: str) -> str | None:
        return None if text == self.text else self.mark + text

    def first(self) -> str:
        """The first block."""
        return self.text

    def any(self, test: Callable[[str], bool], overlap: int = 0) -> bool:
        """Return whether a test finds something."""
        return test(self.text)

    def whole(self, what: str) -> WholeText:
        """The text itself."""
        return self

    def edited(self, edit: BlockEdit) -> str | None:
        """The edited text; None where that changes nothing."""
        return self._other(edit(self.text, True, True))

    def excerpt(self, wanted: Sequence[re.Pattern[str]]) -> list[str]:
        """The lines."""
        return self.text.split("\n") if self.text else []

    def spliced(self, old: list[str], new: list[str]) -> str | None:
        """The text of edited lines; None where that changes nothing."""
        return None if new == old else self._other("\n".join(new))

    def lines_with(self, *words: str) -> Iterator[Piece]:
        """Yield the lines that have one of some words in them."""
        return _lines_with(self.text, words)

    def line_that(self, test: Callable[[list[str]], list[bool]]) -> Piece | None:
        """The first line that passes a test."""
        return _first_that(self.text, test)

    def is_ended(self) -> bool:
        """Return whether the last line has an end."""
        return not self.text or self.text.endswith("\n")

    def with_pieces(self, pieces: Sequence[Piece]) -> str | None:
        """The text with pieces put into it; None where that changes nothing."""
        parts, at = list[str](), 0
        for begin, end, new in pieces:
            parts += [self.text[at:begin], new]
            at = end
        return self._other("".join([*parts, self.text[at:]]))


class HeldText(WholeText):
    """A large text, all of which is held to be searched."""

    def __init__(self, text: str, large: LargeText) -> None:
        super().__init__(text)
        self.large = large


@for_states
def large_text(path: str) -> LargeText | None:
    """A text that is edited in blocks; None for a smaller one, or where there is no file."""
    try:
        size = _paths.stat(path).st_size
    except OSError:
        return None
    return LargeText(streamed(path)) if size > LARGE else None


class LargeText:
    """A text on disk, as it was when it was looked at."""

    def __init__(self, source: Streamed) -> None:
        self.source, self.size = source, source.size

    def whole(self, what: str) -> WholeText:
        """All of the text. Raises StateFailed where that is more than may be held. what: needs it
        at once.
        """
        limit = limit_of_edits()
        if limit and self.size > limit:
            raise StateFailed(
                f"{self.source.path} is larger than {limit >> 20} MiB, and {what} needs all of it"
                " at once; `edit_size_limit` (MiB) in the configuration allows more"
            )
        decoder, text = getincrementaldecoder("utf-8")("surrogateescape"), ""
        for piece in self.source.pieces():
            text += decoder.decode(piece)  # in its place, as nobody else has it
        return HeldText(text + decoder.decode(b"", True), self)

    # ---------------------------------------------------------------- reading

    def first(self) -> str:
        """The first block."""
        return next(self.blocks())[0]

    def blocks(self) -> Iterator[tuple[str, bool]]:
        """Yield blocks of whole lines, and whether each is the last. Raises StateFailed for a line
        that is too long to be held.
        """
        held, rest = list[bytes](), 0
        for piece in self.source.pieces():
            cut = piece.rfind(b"\n") + 1
            if rest + cut >= BLOCK and cut:
                yield _text(b"".join([*held, piece[:cut]])), False
                held, rest = [piece[cut:]], len(piece) - cut
            else:
                held.append(piece)
                rest += len(piece)
            if rest > LONGEST_LINE:
                raise StateFailed(
                    f"{self.source.path} has a line longer than {LONGEST_LINE >> 20} MiB"
                )
        yield _text(b"".join(held)), True

    def any(self, test: Callable[[str], bool], overlap: int = 0) -> bool:
        """Return whether a test finds something in any block. overlap: characters before each block
        that belong to it, too, from the beginning of a line.
        """
        before = ""
        for block, _ in self.blocks():
            text = before + block
            if test(text):
                return True
            if overlap:
                at = len(text) - overlap
                before = text[text.find("\n", at) + 1 :] if at > 0 else text
        return False

    # ---------------------------------------------------------------- editing

    def edited(self, edit: BlockEdit) -> Edited | None:
        """The text with each block edited; None where that changes nothing."""
        size, is_changed = 0, False
        for number, (block, is_last) in enumerate(self.blocks()):
            new = edit(block, number == 0, is_last)
            size, is_changed = size + len(_bytes(new)), is_changed or new != block

        def pieces() -> Iterator[bytes]:
            for number, (block, is_last) in enumerate(self.blocks()):
                yield _bytes(edit(block, number == 0, is_last))

        return Edited(self.source, size, pieces) if is_changed else None

    def excerpt(self, wanted: Sequence[re.Pattern[str]]) -> list[str]:
        """The lines that an edit of one line may look at: those at both ends, those that match one
        of some expressions, and their neighbours. What is between them is a Gap.
        """
        return _Excerpt(wanted).of(self.blocks())

    def spliced(self, old: list[str], new: list[str]) -> Edited | None:
        """The text with the lines of an excerpt edited; None where that changes nothing."""
        if new == old:
            return None
        size = sum(each.size if isinstance(each, Gap) else len(_bytes(each)) for each in new)

        def pieces() -> Iterator[bytes]:
            for number, each in enumerate(new):
                if number:
                    yield b"\n"
                if isinstance(each, Gap):
                    yield from self.source.part(each.start, each.size)
                else:
                    yield _bytes(each)

        return Edited(self.source, size + len(new) - 1, pieces)

    def lines_with(self, *words: str) -> Iterator[Piece]:
        """Yield the lines that have one of some words in them, with their places in the file."""
        start = 0
        for block, _ in self.blocks():
            for begin, _, line in _lines_with(block, words):
                at = start + len(_bytes(block[:begin]))
                yield at, at + len(_bytes(line)), line
            start += len(_bytes(block))

    def line_that(self, test: Callable[[list[str]], list[bool]]) -> Piece | None:
        """The first line that passes a test, with its place in the file."""
        start = 0
        for block, _ in self.blocks():
            if found := _first_that(block, test):
                at = start + len(_bytes(block[: found[0]]))
                return at, at + len(_bytes(found[2])), found[2]
            start += len(_bytes(block))
        return None

    def is_ended(self) -> bool:
        """Return whether the last line has an end."""
        return b"".join(self.source.part(self.size - 1, 1)) == b"\n"

    def with_pieces(self, pieces: Sequence[Piece]) -> Edited | None:
        """The text with pieces put into it; None where that changes nothing."""
        news = [(begin, end, _bytes(new)) for begin, end, new in pieces]
        grown = sum(len(new) - (end - begin) for begin, end, new in news)
        if all(self._has(*each) for each in news):
            return None

        def parts() -> Iterator[bytes]:
            at = 0
            for begin, end, new in news:
                yield from self.source.part(at, begin - at)
                yield new
                at = end
            yield from self.source.part(at, self.size - at)

        return Edited(self.source, self.size + grown, parts)

    def _has(self, begin: int, end: int, data: bytes) -> bool:
        return end - begin == len(data) and b"".join(self.source.part(begin, end - begin)) == data


class Gap(str):
    """Lines that an edit need not see; it reads as the first of them, which matches nothing. start,
    size: where they are in the file, without the end of the last; lines: how many.
    """

    start: int
    size: int
    lines: int


class _Excerpt:
    """The lines that are shown of a text, while it is read."""

    def __init__(self, wanted: Sequence[re.Pattern[str]]) -> None:
        self._wanted = wanted
        self._lines: list[str] = []
        self._gap: Gap | None = None  # what follows them
        self._tail: deque[tuple[int, str]] = deque()  # what follows that, which is shown at the end
        self._sizes = self._tail_sizes = 0  # of what is shown, of the tail
        self._matches = self._neighbours = 0  # so far; that are shown after the last match

    def of(self, blocks: Iterable[tuple[str, bool]]) -> list[str]:
        start = 0
        for block, is_last in blocks:
            lines = block.split("\n")
            if not is_last:
                lines.pop()  # what follows the end of a line is the next block's
            for line, fits in zip(lines, self._fitting(lines), strict=True):
                self._take(start, line, fits)
                start += (len(line) if line.isascii() else len(_bytes(line))) + 1
        self._close()
        return [*self._lines, *(line for _, line in self._tail)]

    def _fitting(self, lines: list[str]) -> list[bool]:
        found = [False] * len(lines)
        if self._matches < MOST_MATCHES:
            ended = [f"{line}\n" for line in lines]
            for expression in self._wanted:
                found = [a or b for a, b in zip(found, matching(expression, ended), strict=True)]
        return found

    def _take(self, start: int, line: str, fits: bool) -> None:
        if fits and self._matches < MOST_MATCHES:
            self._matches += 1
            self._skip(2)
            self._close()
            self._lines += [*(near for _, near in self._tail), line]
            self._tail.clear()
            self._tail_sizes, self._neighbours = 0, 2
        elif self._neighbours or (self._sizes < ENDS and not (self._gap or self._tail)):
            self._neighbours = max(self._neighbours - 1, 0)
            self._lines.append(line)
            self._sizes += len(line) + 1
        else:
            self._tail.append((start, line))
            self._tail_sizes += len(line) + 1
            while self._tail_sizes > ENDS and len(self._tail) > 2:
                self._skip(len(self._tail) - 1)

    def _skip(self, left: int) -> None:
        """Have the first lines of the tail be part of the gap, but for so many."""
        while len(self._tail) > left:
            start, line = self._tail.popleft()
            self._tail_sizes -= len(line) + 1
            if self._gap is None:
                self._gap = Gap(line)
                self._gap.start, self._gap.lines = start, 0
            self._gap.lines += 1
            self._gap.size = start + len(_bytes(line)) - self._gap.start

    def _close(self) -> None:
        if self._gap is not None:
            self._lines.append(self._gap)
            self._gap = None


def lines_with(text: str, word: str) -> dict[int, int]:
    """Where the lines of a text begin that have a word in them, and where the next ones do."""
    found: dict[int, int] = {}
    at = text.find(word)
    while 0 <= at < len(text):
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at) + 1 or len(text)
        if word in text[begin:end]:
            found[begin] = end
        at = text.find(word, end)
    return found


def _lines_with(text: str, words: Sequence[str]) -> Iterator[Piece]:
    found = {begin: end for word in words for begin, end in lines_with(text, word).items()}
    for begin, end in sorted(found.items()):
        yield begin, end, text[begin:end]


def _first_that(text: str, test: Callable[[list[str]], list[bool]]) -> Piece | None:
    lines = lines_of(text)
    fitting = test(lines)
    if True not in fitting:
        return None
    number = fitting.index(True)
    begin = sum(map(len, lines[:number]))
    return begin, begin + len(lines[number]), lines[number]


# ---------------------------------------------------------------- expressions


def is_by_lines(expression: re.Pattern[str]) -> bool:
    """Return whether an expression finds in each line of a text, its end included, what it finds in
    the whole text.
    """
    parser: Any = import_module("re._parser")
    parsed = parser.parse(expression.pattern, expression.flags & ~re.DEBUG)
    return parsed.getwidth()[0] > 0 and _goes_by_lines(parsed, expression.flags)


def _goes_by_lines(parsed: Iterable[tuple[Any, Any]], flags: int) -> bool:
    return all(_item_goes_by_lines(str(kind), value, flags) for kind, value in parsed)


def _item_goes_by_lines(kind: str, value: Any, flags: int) -> bool:
    if kind in _SIMPLE:
        return _SIMPLE[kind](value, flags)
    if kind == "SUBPATTERN":
        _, added, removed, inner = value
        return _goes_by_lines(inner, (flags | added) & ~removed)
    if kind == "BRANCH":
        return all(_goes_by_lines(branch, flags) for branch in value[1])
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _goes_by_lines(value[2], flags)
    if kind in ("ASSERT", "ASSERT_NOT"):
        return _goes_by_lines(value[1], flags)
    return kind == "ATOMIC_GROUP" and _goes_by_lines(value, flags)


def _is_in_line(value: Any, _: int) -> bool:
    """Return whether a set of characters is without the end of a line."""
    is_negated, has_end = False, False
    for kind, each in value:
        name = str(kind)
        is_negated = is_negated or name == "NEGATE"
        has_end = has_end or (
            (name == "LITERAL" and each == 10)
            or (name == "RANGE" and each[0] <= 10 <= each[1])
            or (name == "CATEGORY" and str(each) in _WITH_LINE_ENDS)
        )
    return has_end is is_negated


_WITH_LINE_ENDS = ("CATEGORY_SPACE", "CATEGORY_NOT_DIGIT", "CATEGORY_NOT_WORD")
_SIMPLE: dict[str, Callable[[Any, int], bool]] = {
    "LITERAL": lambda value, _: bool(value != 10),
    "NOT_LITERAL": lambda value, _: bool(value == 10),
    "ANY": lambda _, flags: not flags & re.DOTALL,
    "IN": _is_in_line,
    "GROUPREF": lambda *_: True,
    "AT": lambda value, flags: (
        str(value) in ("AT_BOUNDARY", "AT_NON_BOUNDARY")
        or (str(value) in ("AT_BEGINNING", "AT_END") and bool(flags & re.MULTILINE))
    ),
}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def size_of(text: str) -> int:
    """The bytes of a text."""
    return len(text) if text.isascii() else len(_bytes(text))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
