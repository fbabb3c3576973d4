# SPDX-License-Identifier: Apache-2.0
"""The difference of two texts, as results show it."""

from __future__ import annotations

import codecs
import difflib
import io
import re

from modules._texts.secret_values import hide
from runner.api.private_keys import private_keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    Text = TypeVar("Text", str, bytes)

# bytes of both texts together; the difference of larger ones is for nobody to read
LARGEST_DIFF = 4 * 1024 * 1024
AROUND = 32  # lines that are the same, next to a difference, and are compared
_ASCII = bytes([7, 8, 9, 10, 12, 13, 27, *range(0x20, 0x7F)])
_TEXT = bytes([*_ASCII, *range(0x7F, 0x100)])


def not_shown(old: int, new: int) -> str:
    """The note in place of the difference of two texts that are too large to be compared; "" for
    smaller ones.
    """
    if old + new <= LARGEST_DIFF:
        return ""
    return f"The difference is not shown: {_size(new)} instead of {_size(old)}"


def _size(number: int) -> str:
    return f"{number / 1048576:.1f} MiB" if number >= 104858 else f"{number} bytes"


def is_binary(data: bytes) -> bool:
    """Return whether data is not text: it has a NUL, or too much of it is control characters or
    broken UTF-8.
    """
    start = data[:4096]
    if not start:
        return False
    if b"\0" in start:
        return True
    text = _TEXT if _is_utf8(start) else _ASCII
    return len(start.translate(None, text)) / len(start) > 0.3


def _is_utf8(start: bytes) -> bool:
    """Return whether data begins as UTF-8; the last character may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return True


def of_binaries(old: bytes, new: bytes) -> str:
    """The note in place of the difference of two files of which one is no text, of what they begin
    with; "" for two texts.
    """
    return {
        (True, True): "Replace binary file",
        (False, True): "Replace text file with binary file",
        (True, False): "Replace binary file with text file",
        (False, False): "",
    }[is_binary(old), is_binary(new)]


def shown(text: str) -> str:
    """The text as an output can print it."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def diff(old: str, new: str, context: int = 3) -> str:
    """A unified diff. context: lines around each change."""
    if large := not_shown(len(old), len(new)):
        return large
    return "".join(unified(shown(old), shown(new), lines_of, "\n", context))


def unified(
    old: Text, new: Text, split: Callable[[Text], list[str]], end: Text, context: int = 3
) -> Iterator[str]:
    """Yield the lines of a unified diff, as difflib makes it: many states change a line each of
    one file, and difflib looks at each line of both. split: the lines of a text; end: that of a
    line.
    """
    _hide_keys(old, new)
    head, tail = _equal_ends(old, new, end, max(AROUND, context))
    before, after = (split(text[head : len(text) - tail]) for text in (old, new))
    skipped = _number_of_lines(old[:head], split, end)
    for line in difflib.unified_diff(before, after, n=context):
        yield _moved(line, skipped) if skipped and line.startswith("@@") else line


def _hide_keys(*texts: str | bytes) -> None:
    """Have nobody see the private keys that texts hold."""
    for text in texts:
        hide(private_keys(text.decode("utf-8", "replace") if isinstance(text, bytes) else text))


def _number_of_lines(text: Text, split: Callable[[Text], list[str]], end: Text) -> int:
    """How many lines are in whole ones. Those of bytes end with a CR, too."""
    if isinstance(text, bytes) and b"\r" in text:
        return len(split(text))
    return text.count(end)


def _equal_ends(old: Text, new: Text, end: Text, around: int) -> tuple[int, int]:
    """How much at the beginning and at the end need not be compared: what is the same in both, but
    for the lines next to what is not (difflib may take some of them for those that were added). Of
    the longer end twice as many are compared, since difflib begins with what is the longest.
    """
    most = min(len(old), len(new))
    head = old.rfind(end, 0, _equal(lambda a, b: old[a:b] == new[a:b], most)) + 1
    same = _equal(
        lambda a, b: old[len(old) - b : len(old) - a] == new[len(new) - b : len(new) - a], most
    )
    longer_tail = old.count(end, 0, head) < old.count(end, len(old) - same)
    tail = old.find(end, len(old) - min(same, most - head)) + 1 or len(old)
    for _ in range(around if longer_tail else 2 * around):
        head = old.rfind(end, 0, head - 1) + 1 if head else 0
    for _ in range(2 * around if longer_tail else around):
        tail = old.find(end, tail) + 1 or len(old)
    return head, len(old) - tail


def _equal(are_equal: Callable[[int, int], bool], most: int) -> int:
    """How much from the beginning is equal. are_equal: tells it of a part."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if are_equal(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _moved(line: str, down: int) -> str:
    """The first line of a hunk of a diff, so many lines further down."""
    return re.sub(r"(?<= [-+])\d+", lambda number: str(int(number[0]) + down), line)


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends; form feeds and the like end none."""
    return list(io.StringIO(text, newline="\n"))


def plain_lines(text: str) -> list[str]:
    """The lines of a text without their ends, LF or CR LF."""
    return [line.removesuffix("\n").removesuffix("\r") for line in lines_of(text)]
