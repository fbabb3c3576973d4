# SPDX-License-Identifier: Apache-2.0
"""The attributes of files that chattr(1) sets, by descriptor (ioctl_iflags(2))."""

from __future__ import annotations

import fcntl
import struct

from runner.api import StateFailed, for_states

GET, SET = (number | struct.calcsize("l") << 16 for number in (0x80006601, 0x40006602))
LETTERS = {
    "s": 0x1,
    "u": 0x2,
    "c": 0x4,
    "S": 0x8,
    "i": 0x10,
    "a": 0x20,
    "d": 0x40,
    "A": 0x80,
    "m": 0x400,
    "j": 0x4000,
    "t": 0x8000,
    "D": 0x10000,
    "T": 0x20000,
    "e": 0x80000,
    "C": 0x800000,
    "x": 0x2000000,
    "P": 0x20000000,
    "F": 0x40000000,
}


def flags(handle: int) -> int:
    """The attributes of an open file as a number. Raises OSError where the file system has none."""
    (number,) = struct.unpack("I", fcntl.ioctl(handle, GET, bytes(8))[:4])
    return int(number)


def change(handle: int, text: str) -> None:
    """Change the attributes of an open file: "+ia", "-i", "=a". Raises StateFailed for an unknown
    attribute.
    """
    sign, letters = text[:1], text[1:]
    if sign not in ("+", "-", "="):
        raise _no_attribute(text)
    refuse_attributes(letters)
    present, wanted = flags(handle), sum({LETTERS[letter] for letter in letters})
    new = present | wanted if sign == "+" else present & ~wanted
    if sign == "=":
        new = present & ~sum(LETTERS[letter] for letter in LETTERS if letter != "e") | wanted
    fcntl.ioctl(handle, SET, struct.pack("I", new) + bytes(4))


@for_states
def refuse_attributes(letters: str) -> None:
    """Raise StateFailed for letters that are no attributes."""
    unknown = "".join(letter for letter in letters if letter not in LETTERS)
    if unknown:
        raise _no_attribute(unknown)


def _no_attribute(text: str) -> StateFailed:
    return StateFailed(
        f"there is no attribute {text!r}: expected +, - or = and letters as of chattr"
    )
