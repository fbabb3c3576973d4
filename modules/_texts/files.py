# SPDX-License-Identifier: Apache-2.0
"""Texts of files that need not be there."""

from __future__ import annotations

from modules import _paths


def text_of(path: str, errors: str = "replace") -> str:
    """Return the text of a file, as it is planned; empty where there is none, or none for us."""
    try:
        with _paths.open_text(path, "utf-8", errors) as file:
            return file.read()
    except OSError:
        return ""
