# SPDX-License-Identifier: Apache-2.0
"""salt.utils.versions: versions compared."""

from __future__ import annotations

import re
import warnings
from functools import total_ordering
from typing import Any

from runner.api.versions import OPERATORS, holds


@total_ordering
class LooseVersion:
    """A version of numbers and letters in any order."""

    def __init__(self, vstring: Any = "") -> None:
        self.vstring = str(vstring)
        parts = re.findall(r"\d+|[a-z]+", self.vstring, re.I)
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def _key(self) -> list[tuple[int, Any]]:
        return [(0, part) if isinstance(part, int) else (1, part) for part in self.version]

    def __eq__(self, other: object) -> bool:
        return self._key() == self._of(other)._key()

    def __lt__(self, other: object) -> bool:
        return self._key() < self._of(other)._key()

    def _of(self, other: object) -> LooseVersion:
        return type(self)(other)

    def __hash__(self) -> int:
        return hash(self.vstring)

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"LooseVersion ('{self.vstring}')"


Version = LooseVersion


class StrictVersion(LooseVersion):
    """A version of numbers, whose zeros at the end make no difference."""

    def _key(self) -> list[tuple[int, Any]]:
        key = super()._key()
        while key and key[-1] == (0, 0):
            key.pop()
        return key


def version_cmp(pkg1: Any, pkg2: Any, ignore_epoch: bool = False) -> int | None:
    """-1, 0 or 1: whether the first version is older, equal or newer."""
    texts = [
        str(version).split(":", 1)[-1] if ignore_epoch else str(version) for version in (pkg1, pkg2)
    ]
    first, second = map(LooseVersion, texts)
    return (first > second) - (first < second)


def compare(
    ver1: Any = "",
    oper: str = "==",
    ver2: Any = "",
    cmp_func: Any = None,
    ignore_epoch: bool = False,
) -> bool:
    """Return whether a comparison of two versions holds."""
    order = (cmp_func or version_cmp)(ver1, ver2, ignore_epoch=ignore_epoch)
    oper = oper or "=="
    return oper in OPERATORS and order is not None and holds(order, oper)


def warn_until(
    version: Any, message: str, category: Any = DeprecationWarning, **options: Any
) -> None:
    """Warn of what will be gone."""
    warnings.warn(
        str(message).format(version=version), category, stacklevel=options.get("stacklevel") or 2
    )


def kwargs_warn_until(kwargs: Any, version: Any, **options: Any) -> None:
    """Warn of arguments that nobody takes."""
    if kwargs:
        warn_until(
            version,
            "The following parameter(s) have been deprecated: " + ", ".join(map(repr, kwargs)),
        )
