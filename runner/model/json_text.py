# SPDX-License-Identifier: Apache-2.0
"""JSON that a person or a program of theirs wrote, with the same mistakes on each Python."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str) -> Any:
    """The value of a JSON text. Raises JSONDecodeError, which names a trailing comma itself, as
    only Python 3.13 and later do: before, it was what follows, maybe lines below.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        before, closing = error.doc[: error.pos].rstrip(" \t\n\r"), error.doc[error.pos :][:1]
        if closing not in ("}", "]") or not before.endswith(","):
            raise
        what = "array" if closing == "]" else "object"
        raise json.JSONDecodeError(
            f"Illegal trailing comma before end of {what}", error.doc, len(before) - 1
        ) from None
