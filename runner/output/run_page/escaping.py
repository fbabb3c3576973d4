# SPDX-License-Identifier: Apache-2.0
"""Text of a run as it may stand in HTML: whatever it holds, it stays text."""

from __future__ import annotations

from html import escape as escaped

from runner.output.text import safe

LONG = 300  # characters of a name


def escape(text: str) -> str:
    """Text for HTML; what steers terminals and editors (control characters, marks that turn the
    direction of writing) becomes visible.
    """
    plain = text.replace("\n", "").replace("\t", "").isprintable()
    return escaped(text if plain else safe(text))


def cut(text: str, most: int = LONG) -> str:
    """The text, or its beginning and how much more there is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"
