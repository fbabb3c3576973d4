# SPDX-License-Identifier: Apache-2.0
"""The further arguments (`**kwargs`) of a call."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def options_of(kwargs: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """The arguments without what Salt adds to calls (__pub_fun, ...) and without others."""
    return {
        key: value
        for key, value in kwargs.items()
        if key not in others and not key.startswith("__")
    }
