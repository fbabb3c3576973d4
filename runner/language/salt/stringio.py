# SPDX-License-Identifier: Apache-2.0
"""`salt.utils.stringio` as a tree's renderers import it: tells a file from a text."""

from __future__ import annotations

import io

StringIO = io.StringIO


def is_stringio(value: object) -> bool:
    """Return whether a value is a text that is read like a file."""
    return isinstance(value, io.StringIO)


def is_readable(value: object) -> bool:
    """Return whether a value can be read like a file."""
    return is_stringio(value) and hasattr(value, "read")


def is_writable(value: object) -> bool:
    """Return whether a value can be written like a file."""
    return is_stringio(value) and hasattr(value, "write")
