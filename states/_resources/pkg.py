"""Packages as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import pkg
from runner.api import Resource


def resources(name: str | None) -> Iterator[Resource]:
    """Packages with their versions, and which of them are held."""
    provider = pkg.provider()
    known = provider.states()
    held = set(provider.held())
    for package in sorted(known) if name is None else [name]:
        state, version = known.get(package, ("", ""))
        if state == "installed":
            yield Resource(
                "pkg.installed",
                package,
                {"version": version} | ({"hold": True} if package in held else {}),
            )
        elif name is not None:
            yield Resource("pkg.removed" if state == "config-files" else "pkg.purged", package)
