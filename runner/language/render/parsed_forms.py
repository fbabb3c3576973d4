# SPDX-License-Identifier: Apache-2.0
"""What SLS files say, kept between runs: what a rendered text is as YAML, with its places, is a
function of the text alone.

One file for each SLS, in a folder that only the caller can write: the key of the text that it was
made from, and its value. A text that holds a secret is not kept: it may stand nowhere else on the
disk.
"""

from __future__ import annotations

import io
import sys
import zlib
from _pickle import Pickler, Unpickler  # the package imports what only Python's own needs
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from struct import Struct

from runner.language.render.code_revision import parser_files
from runner.model.places import PlacedList, PlacedMap, Value
from runner.model.stdlib import blake2b
from runner.support.files.trusted_folder import TrustedFolder, trusted_folder
from runner.support.own_modules import revision_of
from runner.support.yaml.rendered_text import Rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.support.redaction import Keep

_HEAD = Struct("<4s16sI")  # mark, key of the text and checksum of what follows
_MARK = b"sls2"
_CLASSES = {kind.__name__: kind for kind in (PlacedMap, PlacedList)}
PART = 1000  # keys of a mapping that are written at once


class ParsedForms:
    """The parsed SLS files of earlier runs."""

    def __init__(self, folder: str, keep: Keep) -> None:
        """folder: made when there is something to keep. keep: writes what is kept of a text."""
        self._path, self._keep = folder, keep
        self._opened: TrustedFolder | None = None
        self._revision = b""

    def load(self, text: Rendered, name: str, parse: Callable[[Rendered], Value]) -> Value:
        """The value of a rendered text. name: of its SLS; parse: reads a text that is new.

        Raises what `parse` raises, and Untrusted where others can write the folder.
        """
        file, key = blake2b(name.encode(), digest_size=16).hexdigest(), self._key(text)
        with suppress(OSError):
            self._opened = self._opened or trusted_folder(self._path)
            data = self._opened.read(file)
            kept = _value(data, key, text)
            if kept is not None:
                return kept
            self._opened.remove(file)  # the new text may be one that is not kept
        value = parse(text)
        if self._opened:
            with suppress(ValueError, RecursionError):
                made = _bytes(value, key, text)  # now: what compiles it may alter it
                self._keep(text.text, partial(self._write, self._opened, file, made))
        return value

    @staticmethod
    def _write(folder: TrustedFolder, file: str, made: bytes) -> None:
        with suppress(OSError):
            folder.write(file, made)

    def _key(self, text: Rendered) -> bytes:
        if not self._revision:
            made = repr((revision_of(parser_files()), sys.version_info[:3]))
            self._revision = blake2b(made.encode()).digest()
        data = text.text.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=16, key=self._revision).digest()


def _value(data: bytes, key: bytes, text: Rendered) -> Value:
    """The value that a file holds; None when it is not that of this text, or not whole."""
    body = memoryview(data)[_HEAD.size :]
    if data[: _HEAD.size] != _HEAD.pack(_MARK, key, zlib.crc32(body)):
        return None
    file = io.BytesIO(body)
    value, parts = _FormReader(file, text).load()
    for _ in range(parts):
        values, keys, places = _FormReader(file, text).load()
        value.update(zip(keys, values, strict=True))
        value.at.update(zip(keys, places, strict=True))
    return value


def _bytes(value: Value, key: bytes, text: Rendered) -> bytes:
    """Return what a file holds. A large mapping is written in parts, each of which forgets the
    objects of the one before: remembering all of them would take more memory than the value.
    """
    made = io.BytesIO()
    writer = Pickler(made, 5)
    writer.dispatch_table = {type(text): _document_itself}
    made.write(_HEAD.pack(_MARK, key, 0))
    if type(value) is not PlacedMap or len(value) <= PART or "*" in text.text:  # aliases: shared
        writer.dump((value, 0))
    else:
        keys = list(value)
        writer.dump((PlacedMap(text, value.start), -(-len(keys) // PART)))
        for first in range(0, len(keys), PART):
            writer.clear_memo()
            part = keys[first : first + PART]
            writer.dump(([value[key] for key in part], part, [value.where(key) for key in part]))
    with made.getbuffer() as data:
        _HEAD.pack_into(data, 0, _MARK, key, zlib.crc32(data[_HEAD.size :]))
    return made.getvalue()


def _document_itself(document: object) -> tuple[Callable[..., Any], tuple[()]]:
    """Return how a value says that it refers to its text."""
    return _document, ()


def _document() -> None:
    """Stand for the text in what is kept."""


class _FormReader(Unpickler):
    def __init__(self, file: io.BytesIO, text: Rendered) -> None:
        super().__init__(file)
        # not a method: what this one remembers would live as long as both refer to each other
        self._names: dict[str, Any] = {**_CLASSES, _document.__name__: lambda: text}

    def find_class(self, module: str, name: str) -> Any:
        return self._names[name]
