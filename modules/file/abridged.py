# SPDX-License-Identifier: Apache-2.0
"""Texts that are read to be edited line by line. Of one that is too large to be held only the lines
are read that an edit asks for; a comment stands in the place of those between them.
"""

from __future__ import annotations

from itertools import chain

from modules.file import _look, large_texts
from modules.file._contents import limits, streamed
from runner.api import Fact, StateFailed, for_states, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    # of a block of whole lines, and whether it is the last: where lines are that are read
    Select = Callable[[str, bool], Iterable[tuple[int, int]]]

# what is between lines: where in which version of the file. No text of a file has this character
_GAP = "#\ud800{}+{}@{}.{}.{}.{}\n"
_GAPS = pattern(
    "#\ud800(-?[0-9]+)[+](-?[0-9]+)@(-?[0-9]+)[.](-?[0-9]+)[.](-?[0-9]+)[.](-?[0-9]+)\n"
)


@for_states
def text_to_edit(path: str, about: Sequence[str] | Select | None = None) -> str:
    """The text of a file; empty where there is none. What is no UTF-8 in it stays as it is. Raises
    StateFailed for one that is too large to be a table.

    about: words; of a large text, only the lines that have one of them are read, the first and the
      last one. Or what selects the lines, block by block.
    """
    if not _look.is_file(path):
        return ""
    try:
        data = _look.read_table(path, None if about is None else large_texts.LARGE)
    except limits.TooLarge:
        if about is None:
            raise
        return _abridged(path, about if callable(about) else _with_words(about))
    return data.decode("utf-8", "surrogateescape")


def _with_words(words: Sequence[str]) -> Select:
    def select(block: str, _: bool) -> Iterable[tuple[int, int]]:
        found = dict[int, int]()
        for word in words:
            found |= large_texts.lines_with(block, word)
        return sorted(found.items())

    return select


def _abridged(path: str, select: Select) -> str:
    text = large_texts.LargeText(streamed.streamed(path))
    identity, limit = text.source.identity, limits.limit_of_tables()
    parts, at, size = list[str](), 0, 0
    for begin, end, lines in chain(_selected(text, select), _last_line(text)):
        if begin > at:
            parts.append(_GAP.format(at, begin - at, *identity))
        if begin >= at:
            parts.append(lines)
            at, size = end, size + len(lines)
        if limit and size > limit:
            raise limits.too_many_lines(path, limit)
    return "".join(parts)


def _selected(text: large_texts.LargeText, select: Select) -> Iterator[tuple[int, int, str]]:
    """Yield the first line, and those that are selected, with their places in the file."""
    start = 0
    for number, (block, is_last) in enumerate(text.blocks()):
        at = 0
        first = [(0, block.find("\n") + 1 or len(block))] if number == 0 else []
        for begin, end in chain(first, select(block, is_last)):
            begin = max(begin, at)  # what is selected twice is one part
            if end > begin:
                start += _size(block[at:begin])
                size = _size(block[begin:end])
                yield start, start + size, block[begin:end]
                start, at = start + size, end
        start += _size(block[at:])
    if start != text.size:  # it grew at this moment, or its size is not that of its contents
        raise StateFailed(f"{text.source.path} was changed while it was being read; run again")


def _last_line(text: large_texts.LargeText) -> Iterator[tuple[int, int, str]]:
    """Yield the last line with its place."""
    held, at = b"", text.size
    while at and b"\n" not in held[:-1]:
        size = min(streamed.PIECE, at)
        at -= size
        held = b"".join(text.source.part(at, size)) + held
    line = held[held.rfind(b"\n", 0, -1) + 1 :]
    yield text.size - len(line), text.size, line.decode("utf-8", "surrogateescape")


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


@for_states
def contents_of(path: str, text: str, encoding: str | None = None) -> streamed.Contents:
    """What is to be written for an edited text of a file, in which comments may stand in the place
    of other lines.
    """
    if "\ud800" not in text:
        return text.encode(encoding or "utf-8", "surrogateescape")
    pieces = [*_pieces(path, text)]
    sources = {piece[0].identity: piece[0] for piece in pieces if isinstance(piece, tuple)}
    size = sum(piece[2] if isinstance(piece, tuple) else len(piece) for piece in pieces)
    if len(sources) != 1:
        raise StateFailed(f"{path} was changed while it was being read; run again")

    def parts() -> Iterator[bytes]:
        for piece in pieces:
            if isinstance(piece, tuple):
                source, start, length = piece
                yield from source.part(start, length)
            else:
                yield piece

    return streamed.Edited(next(iter(sources.values())), size, parts)


def _pieces(path: str, text: str) -> Iterator[bytes | tuple[streamed.Streamed, int, int]]:
    """Yield the parts of an edited text, those of the file as places in it."""
    at = 0
    for gap in _GAPS.finditer(text):
        start, size, device, inode, changed, touched = map(int, gap.groups())
        yield text[at : gap.start()].encode("utf-8", "surrogateescape")
        yield streamed.Streamed(path, 0, (device, inode, changed, touched)), start, size
        at = gap.end()
    yield text[at:].encode("utf-8", "surrogateescape")


@for_states
def is_large(path: str) -> bool:
    """Return whether a file is read only in part where an edit says what it is about."""
    at = _look.seen(path)
    return at is not None and at.size > large_texts.LARGE


@for_states
def unforeseen(path: str) -> list[Fact]:
    """What an edit of a file leaves unknown: the contents of a large one are not held."""
    return [("altered", path)] if is_large(path) else []
