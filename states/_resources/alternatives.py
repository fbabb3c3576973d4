# SPDX-License-Identifier: Apache-2.0
"""Debian's alternatives as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import alternatives, pkg
from runner.api import Resource

ROLE = "files"
AFTER = ("file",)


def resources(name: str | None) -> Iterator[Resource]:
    """Yield what names mean that somebody decided on, and alternatives of no package."""
    brought = pkg.shipped()
    owned = brought.paths if brought else {}
    for known, mode, path in alternatives.selections():
        if name not in (None, known):
            continue
        group = alternatives.group(known) if mode == "manual" or path not in owned else None
        own = [choice for choice in group.choices if choice not in owned] if group else []
        for choice in own:
            if group:
                arguments = {"link": group.link, "path": choice, "priority": group.choices[choice]}
                yield Resource("alternatives.install", known, arguments)
        if mode == "manual":
            yield Resource("alternatives.set", known, {"path": path})
        else:
            yield Resource("alternatives.auto", known, shipped=True)
