# SPDX-License-Identifier: Apache-2.0
"""Changes as the history keeps them: long texts are cut, so that one large difference does not fill
the disk.
"""

from __future__ import annotations

from runner.model.nested import mapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 256 * 1024  # characters of one text


def shortened(value: Any) -> Any:
    """The same value with its long texts cut."""
    return mapped(value, lambda item: shortened_text(item) if isinstance(item, str) else item)


def shortened_text(text: str) -> str:
    """A text, or its beginning and how much of it is not there."""
    if len(text) <= LONGEST:
        return text
    return (
        f"{text[:LONGEST]}\n[... {len(text) - LONGEST} more characters are not kept in the history]"
    )
