# SPDX-License-Identifier: Apache-2.0
"""Compiled templates, and the data that they import, on disk: one file in a folder that only the
caller can write.

Records are only ever appended, each with one write; a reader leaves the file at the first one that
is not whole.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from contextlib import suppress
from functools import partial
from struct import Struct
from types import CodeType

import jinja2

from runner.language.render.jinja.codegen import Unit
from runner.language.render.jinja.repeatable import Uses
from runner.language.render.jinja.repeatable import names as names_in
from runner.language.render.jinja.shared_code import Shaped, renamed
from runner.model.stdlib import blake2b
from runner.support.files.trusted_folder import TrustedFolder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from runner.support.redaction import Keep

_HEAD = Struct("<4s16sII")  # mark, key, length and checksum of what follows
_MARK = b"tpl4"
LARGEST = 64 * 1024 * 1024  # bytes; what is larger is begun anew


class Pack:
    """The compiled templates of one version of runner, PyYAML, Jinja and Python."""

    def __init__(self, folder: TrustedFolder, version: str, keep: Keep) -> None:
        made = f"{_MARK!r}-{version}-{jinja2.__version__}-{sys.version_info[:3]}"
        self._name = f"pack-{blake2b(made.encode(), digest_size=10).hexdigest()}"
        self._folder = folder
        self._keep = keep
        self._records: dict[bytes, tuple[memoryview, int]] | None = None
        self._written: set[bytes] = set()
        self._file = -1

    def of(self, options: str) -> TemplateStore:
        """The templates of an environment with some options."""
        return TemplateStore(self, options)

    def get(self, key: bytes) -> memoryview | None:
        if self._records is None:
            self._records = self._read()
        data, checksum = self._records.get(key, (memoryview(b""), -1))
        return data if zlib.crc32(data) == checksum else None

    def put(self, text: str, *records: tuple[bytes, Callable[[], bytes]]) -> None:
        """Keep records that were made of a text: their keys, and what makes their data."""
        self._keep(text, partial(self._write, records))

    def _write(self, records: Iterable[tuple[bytes, Callable[[], bytes]]]) -> None:
        with suppress(OSError):
            for key, made in records:
                if key in self._written or self.get(key) is not None:
                    continue
                data = made()
                if self._file < 0:
                    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                    self._file = self._folder.open(self._name, flags)
                os.write(self._file, _HEAD.pack(_MARK, key, len(data), zlib.crc32(data)) + data)
                self._written.add(key)

    def _read(self) -> dict[bytes, tuple[memoryview, int]]:
        try:
            data = memoryview(self._folder.read(self._name))
        except OSError:  # none yet, or one that is not ours
            self._clean()
            return {}
        records, at = {}, 0
        while at + _HEAD.size <= len(data):
            mark, key, length, checksum = _HEAD.unpack_from(data, at)
            if mark != _MARK:
                break
            at += _HEAD.size
            records[key] = data[at : at + length], checksum
            at += length
        if at != len(data) or at > LARGEST:  # a write that was cut short
            with suppress(OSError):
                self._folder.remove(self._name)
        return records

    def _clean(self) -> None:
        """Remove what other versions left."""
        with suppress(OSError):
            for name in self._folder.names():
                self._folder.remove(name)


def unit(
    code: CodeType,
    uses: Uses,
    texts: tuple[tuple[str, int], ...],
    strings: tuple[str, ...],
    names: tuple[str, ...],
) -> Unit:
    """The code of a shape as that of one text, with what is its own."""
    return Unit(renamed(code, names), texts, strings, names_in(uses, strings, names))


class TemplateStore:
    """The compiled code of texts: one record for each text, and one for each shape
    (shared_code.py).
    """

    def __init__(self, pack: Pack, options: str) -> None:
        self._pack = pack
        self._options = blake2b(options.encode()).digest()
        self._codes: dict[bytes, tuple[CodeType, Uses]] = {}  # what this run knows of them

    def get(self, text: str) -> Unit | None:
        """The code of a text, if an earlier run made it."""
        data = self._pack.get(self._key(text))
        if data is None:
            return None
        key, texts, strings, names = marshal.loads(data)
        found = self._code(key)
        return unit(*found, texts, strings, names) if found else None

    def code(self, shape: tuple[Any, ...]) -> tuple[CodeType, Uses] | None:
        """The code of a shape and what it uses, if there is some."""
        return self._code(self._key(repr(shape)))

    def _code(self, key: bytes) -> tuple[CodeType, Uses] | None:
        if key not in self._codes:
            data = self._pack.get(key)
            if data is None:
                return None
            self._codes[key] = marshal.loads(data)
        return self._codes[key]

    def put(self, text: str, code: CodeType, uses: Uses, own: Shaped) -> None:
        """Keep the code of a text, of a shape, for later runs."""
        key = self._key(repr(own.shape))
        self._codes[key] = code, uses
        self._pack.put(
            text,
            (key, partial(marshal.dumps, (code, uses))),
            (self._key(text), partial(marshal.dumps, (key, own.texts, own.strings, own.names))),
        )

    def value(self, tag: str, text: str) -> bytes | None:
        """The data of a text for a tag such as `import_yaml`, if an earlier run read it."""
        data = self._pack.get(self._key(f"\0{tag}\0{text}"))
        return None if data is None else bytes(data)

    def keep(self, tag: str, text: str, data: bytes) -> None:
        """Keep what a text is to a tag, for later runs."""
        self._pack.put(text, (self._key(f"\0{tag}\0{text}"), lambda: data))

    def _key(self, text: str) -> bytes:
        return blake2b(
            text.encode("utf-8", "surrogatepass"), digest_size=16, key=self._options
        ).digest()
