# SPDX-License-Identifier: Apache-2.0
"""Texts without Jinja in them, which are their own result."""

from __future__ import annotations

import re

from runner.sources.config import jinja_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

STARTS = ("{%", "{{", "{#")  # of a block, a variable and a comment, unless options say otherwise


def has_usual_marks(options: Mapping[str, Any]) -> bool:
    """Return whether what begins Jinja in a text is as usual with these options."""
    return all(
        name in jinja_options.SWITCHES and type(value) is bool for name, value in options.items()
    )


def marks(options: Mapping[str, Any]) -> tuple[bytes, ...]:
    """The bytes of which a template in UTF-8 has some, unless it is its own result with the newline
    that it ends with; none where the options leave that open.
    """
    if not has_usual_marks(options):
        return ()
    return (*(start.encode() for start in STARTS), b"#jinja2:", b"\r")


def without_jinja(
    text: str, starts: tuple[str, ...] = STARTS, newline: str = "\n", *, keeps_newline: bool
) -> str | None:
    """The text with the newlines that Jinja would give it; None when there is Jinja in it.

    keeps_newline: whether the last newline stays.
    """
    if any(start in text for start in starts):
        return None
    if "\r" in text or newline != "\n":
        text = newline.join(re.split(r"\r\n|\r|\n", text))
    return text if keeps_newline else text.removesuffix(newline)
