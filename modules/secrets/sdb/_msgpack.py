# SPDX-License-Identifier: Apache-2.0
"""MessagePack, the form in which Salt's sqlite3 store keeps values (msgpack.org has its
specification).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

_NUMBERS = {  # first byte -> form of struct
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_SIZES = {  # first byte -> what it is, and the form of its size
    0xC4: ("bytes", ">B"),
    0xC5: ("bytes", ">H"),
    0xC6: ("bytes", ">I"),
    0xD9: ("text", ">B"),
    0xDA: ("text", ">H"),
    0xDB: ("text", ">I"),
    0xDC: ("list", ">H"),
    0xDD: ("list", ">I"),
    0xDE: ("map", ">H"),
    0xDF: ("map", ">I"),
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def packed(value: Any) -> bytes:
    """A value as bytes. Raises TypeError for what has no such form.

    >>> packed({"a": [1, True]})
    b'\\x81\\xa1a\\x92\\x01\\xc3'
    """
    if value is None or isinstance(value, bool):
        return bytes([{None: 0xC0, False: 0xC2, True: 0xC3}[value]])
    if isinstance(value, int):
        return _packed_number(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode()
        return _head(len(data), (0xA0, 32), (0xD9, 0xDA, 0xDB)) + data
    if isinstance(value, bytes):
        return _head(len(value), (0, 0), (0xC4, 0xC5, 0xC6)) + value
    if isinstance(value, Mapping):
        pairs = [packed(key) + packed(item) for key, item in value.items()]
        return _head(len(pairs), (0x80, 16), (None, 0xDE, 0xDF)) + b"".join(pairs)
    if isinstance(value, list | tuple):
        return _head(len(value), (0x90, 16), (None, 0xDC, 0xDD)) + b"".join(map(packed, value))
    raise TypeError(f"a {type(value).__name__} cannot be stored")


def _packed_number(value: int) -> bytes:
    if -32 <= value < 128:
        return bytes([value & 0xFF])
    for first in (0xCC, 0xCD, 0xCE, 0xCF) if value > 0 else (0xD0, 0xD1, 0xD2, 0xD3):
        try:
            return bytes([first]) + struct.pack(_NUMBERS[first], value)
        except struct.error:
            continue
    raise TypeError("a number of more than 64 bits cannot be stored")


def _head(size: int, short: tuple[int, int], kinds: tuple[int | None, int, int]) -> bytes:
    first, limit = short
    if size < limit:
        return bytes([first | size])
    for kind, form, most in zip(kinds, (">B", ">H", ">I"), (0xFF, 0xFFFF, 0xFFFFFFFF), strict=True):
        if kind is not None and size <= most:
            return bytes([kind]) + struct.pack(form, size)
    raise TypeError("this is too large to be stored")


def unpacked(data: bytes) -> Any:
    """The value of bytes. Raises ValueError for what is no MessagePack."""
    try:
        value, end = _read(data, 0)
    except (IndexError, struct.error, RecursionError, UnicodeDecodeError):
        raise ValueError("this is no MessagePack") from None
    if end != len(data):
        raise ValueError("there is more behind the value")
    return value


def _read(data: bytes, at: int) -> tuple[Any, int]:
    first = data[at]
    at += 1
    if first < 0x80 or first >= 0xE0:
        return (first if first < 0x80 else first - 256), at
    if first in _CONSTANTS:
        return _CONSTANTS[first], at
    if first in _NUMBERS:
        form = _NUMBERS[first]
        return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)
    if first in _SIZES:
        kind, form = _SIZES[first]
        size = struct.unpack_from(form, data, at)[0]
        return _read_sized(kind, size, data, at + struct.calcsize(form))
    if 0xA0 <= first < 0xC0:
        return _read_sized("text", first & 0x1F, data, at)
    if first < 0xA0:
        return _read_sized("map" if first < 0x90 else "list", first & 0x0F, data, at)
    raise ValueError(f"{first:#x} is not a form that is stored")


def _read_sized(kind: str, size: int, data: bytes, at: int) -> tuple[Any, int]:
    if kind in ("bytes", "text"):
        if at + size > len(data):
            raise ValueError("it ends too early")
        part = data[at : at + size]
        return (part if kind == "bytes" else part.decode()), at + size
    items = []
    for _ in range(size * (2 if kind == "map" else 1)):
        item, at = _read(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2], strict=True)) if kind == "map" else items), at
