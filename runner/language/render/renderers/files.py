# SPDX-License-Identifier: Apache-2.0
"""Files and JSON texts, with errors that name their place."""

from __future__ import annotations

import os
import re
import tomllib

from runner.model import json_text
from runner.model.errors import MAY_READ, RenderError, RunnerError
from runner.model.nested import mapped
from runner.model.places import Document, Source
from runner.support.files.text import IS_LOCKED, LOCKED, UNLOCK, read_bounded, size_limit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def read_text(path: str, opts: Mapping[str, Any]) -> str:
    """The text of a template file. Raises RenderError if it is not UTF-8, not readable, or larger
    than allowed.
    """
    try:
        data = read_bounded(path, size_limit(opts))
    except RunnerError as error:
        raise RenderError(error.message, error.source, error.hint, error.code) from None
    except OSError as error:
        if not os.path.isfile(path):
            raise RenderError(f"{path} is not a regular file", Source(path)) from None
        hint = MAY_READ if isinstance(error, PermissionError) else None
        raise RenderError(f"{path} cannot be read: {error.strerror}", Source(path), hint) from None
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, data, error.start) from None


def _not_utf8(path: str, data: bytes, at: int) -> RenderError:
    if data.startswith(LOCKED):
        return RenderError(f"the file is {IS_LOCKED}", Source(path), UNLOCK, "undecrypted")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return RenderError(
            "the file is UTF-16, not UTF-8", Source(path, 1, 1), "save it as UTF-8", "encoding"
        )
    before = data[data.rfind(b"\n", 0, at) + 1 : at]
    place = Source(path, data.count(b"\n", 0, at) + 1, len(before.decode("utf-8", "replace")) + 1)
    letter = data[at : at + 1].decode("latin-1")
    hint = f"save it as UTF-8; in Latin-1 that byte is {letter!r}"
    return RenderError(f"the file is not UTF-8: byte 0x{data[at]:02x}", place, hint, "encoding")


def below(path: str, root: str) -> str:
    """The path of a file below its root."""
    root = root.rstrip("/") + "/"
    inner = path.removeprefix(root)
    plain = inner != path and "//" not in path and "./" not in path and inner[:1] != "/"
    return inner if plain else os.path.relpath(path, root)


def load_json(text: str, document: Document) -> Any:
    """The value of a JSON text. Raises RenderError with the place as written."""
    try:
        return json_text.parse_json(text)
    except RecursionError:
        raise RenderError(
            "the JSON is nested too deeply", document.source(1, 1), code="json"
        ) from None
    except ValueError as error:
        place = document.source(getattr(error, "lineno", 1), getattr(error, "colno", 0))
        hint = "JSON has no comma before } or ], no single quotes and no comments"
        raise RenderError(
            f"this is not JSON: {getattr(error, 'msg', error)}", place, hint, "json"
        ) from None


def load_toml(text: str, document: Document) -> Any:
    """The value of a TOML text; dates and times are texts. Raises RenderError with the place as
    written.
    """
    try:
        return mapped(tomllib.loads(text), _undated)
    except tomllib.TOMLDecodeError as error:
        position = re.search(r"^(.*) \(at line (\d+), column (\d+)\)$", str(error))
        what, line, column = (
            (position[1], int(position[2]), int(position[3])) if position else (str(error), 1, 0)
        )
        raise RenderError(f"this is not TOML: {what}", document.source(line, column)) from None


def _undated(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else str(value)
