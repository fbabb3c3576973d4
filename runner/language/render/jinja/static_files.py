# SPDX-License-Identifier: Apache-2.0
"""Files that templates import as data and that have no Jinja in them: read without it, and once for
all runs.
"""

from __future__ import annotations

import marshal

from runner.language.filters import serial
from runner.language.render.jinja.cache import TemplateStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Verbatim:
    """A file of the tree without Jinja in it, which gives each import the same."""

    def __init__(self, text: str, file: str, store: TemplateStore | None) -> None:
        """store: where its value is kept between runs."""
        self._text = text
        self._file = file
        self._store = store
        self._known: dict[str, bytes] = {}

    def value(self, tag: str, parse: Callable[[str, str, str], Any]) -> Any:
        """The value for a tag, for the importing template to alter as it likes. parse: (tag, text,
        file) -> value.
        """
        data = self._known.get(tag)
        if data is None:
            data = self._known[tag] = self._read(tag, parse)
        return marshal.loads(data)

    def _read(self, tag: str, parse: Callable[[str, str, str], Any]) -> bytes:
        """The value as bytes."""
        stored = self._store.value(tag, self._text) if self._store else None
        if stored is not None:
            return stored
        data = marshal.dumps(serial.plain(parse(tag, self._text, self._file)))
        if self._store:
            self._store.keep(tag, self._text, data)
        return data
