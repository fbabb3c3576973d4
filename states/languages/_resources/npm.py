# SPDX-License-Identifier: Apache-2.0
"""npm's global packages as they are."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import glob
from collections.abc import Iterator

from modules.languages import npm
from runner.api import Resource

ROLE = "packages"
AFTER = ("pkg",)
FOLDER = "/usr/local/lib/node_modules"
OF_NODE = ("npm", "corepack")


def resources(name: str | None) -> Iterator[Resource]:
    """The packages that were installed for the whole machine."""
    paths = glob.glob(f"{FOLDER}/[!@.]*") + glob.glob(f"{FOLDER}/@*/*")
    packages = sorted({path.removeprefix(f"{FOLDER}/") for path in paths} - {*OF_NODE})
    known = npm.list_(depth=0) if packages else {}
    for package in packages:
        if package in known and name in (None, package):
            yield Resource("npm.installed", package)
