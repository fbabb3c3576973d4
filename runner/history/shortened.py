# SPDX-License-Identifier: Apache-2.0
"""Changes as the history keeps them: long texts are cut, so that one large difference does not fill
the disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST = 256 * 1024  # characters of one text


def shortened(value: Any) -> Any:
    """The same value with its long texts cut."""
    if isinstance(value, str):
        return shortened_text(value)
    if isinstance(value, Mapping):
        return {key: shortened(item) for key, item in value.items()}
    return [shortened(item) for item in value] if isinstance(value, list | tuple) else value


def shortened_text(text: str) -> str:
    """A text, or its beginning and how much of it is not there."""
    if len(text) <= LONGEST:
        return text
    return (
        f"{text[:LONGEST]}\n[... {len(text) - LONGEST} more characters are not kept in the history]"
    )
