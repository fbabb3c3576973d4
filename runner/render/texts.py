"""Files and JSON texts, with errors that name their place."""

from __future__ import annotations

import os
from typing import Any

from runner.errors import RenderError
from runner.model import Document, Source


def read_text(path: str) -> str:
    """The text of a template file. Raises RenderError for what is no readable UTF-8 text."""
    try:
        if not os.path.isfile(path):
            raise RenderError(f"{path} is not a regular file", Source(path))
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise RenderError(f"{path} cannot be read: {error.strerror}", Source(path)) from None
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02x}"
        raise RenderError(message, Source(path, line), "save it as UTF-8") from None


def load_json(text: str, document: Document) -> Any:
    """The value of a JSON text. Raises RenderError with the place as written."""
    import json

    try:
        return json.loads(text)
    except ValueError as error:
        place = document.source(getattr(error, "lineno", 1), getattr(error, "colno", 0))
        raise RenderError(f"this is no JSON: {getattr(error, 'msg', error)}", place) from None
