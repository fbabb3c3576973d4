# SPDX-License-Identifier: Apache-2.0
"""Paths, by their names alone."""

from __future__ import annotations


def lies_in(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it.

    >>> lies_in("/srv/a", "/srv"), lies_in("/srv", "/srv"), lies_in("/srv2", "/srv")
    (True, True, False)
    >>> lies_in("/srv", "/")
    True
    """
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")
