"""Packages as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import pkg
from runner.api import Resource


def resources(name: str | None) -> Iterator[Resource]:
    """Packages with their versions, and which of them are held."""
    provider = pkg.provider()
    present, leftovers = provider.list_pkgs(), provider.leftovers()
    held = {*provider.held()} if provider.has("holdable") else set()
    for package in sorted(present) if name is None else [name]:
        if package in present:
            hold = {"hold": True} if package in held else {}
            yield Resource("pkg.installed", package, {"version": present[package], **hold})
        elif name is not None:
            yield Resource("pkg.removed" if package in leftovers else "pkg.purged", package)
