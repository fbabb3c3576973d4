# SPDX-License-Identifier: Apache-2.0
"""Packages as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import pkg
from runner.api import Resource

ROLE = "packages"


def resources(name: str | None) -> Iterator[Resource]:
    """Packages, and which of them are held; with its version one that is named."""
    provider = pkg.provider()
    present, leftovers = provider.list_pkgs(), provider.leftovers()
    held = {*provider.held()} if provider.has("holdable") else set()
    chosen = {*provider.manually_installed()} if provider.has("install_reasons") else {*present}
    brought = pkg.shipped()
    chosen -= brought.usual if brought else set()
    for package in sorted(present) if name is None else [name]:
        if package in present:
            version = {"version": present[package]} if name is not None else {}
            hold = {"hold": True} if package in held else {}
            shipped = package not in chosen and not hold
            yield Resource("pkg.installed", package, {**version, **hold}, shipped=shipped)
        elif name is not None:
            yield Resource("pkg.removed" if package in leftovers else "pkg.purged", package)
