# SPDX-License-Identifier: Apache-2.0
"""What somebody installed for the whole machine with gem, npm and pip."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import glob
import os
import re
from collections.abc import Iterator

from modules.languages import gem, npm, pip
from runner.api import Resource

ROLE = "packages"
AFTER = ("pkg",)
SPECIFICATIONS = "/var/lib/gems/*/specifications/*.gemspec"
FOLDER = "/usr/local/lib/node_modules"
OF_NODE = ("npm", "corepack")
# the file that pip leaves beside what somebody asked for, and not beside what that needs
REQUESTED = "/usr/local/lib/python3*/*-packages/*.dist-info/REQUESTED"


def gem_resources(name: str | None) -> Iterator[Resource]:
    """The gems that were installed with gem."""
    files = map(os.path.basename, glob.glob(SPECIFICATIONS))
    gems = sorted({re.sub(r"-\d[^-]*\.gemspec", "", file) for file in files})
    known = gem.list_() if gems else {}
    for one in gems:
        if one in known and name in (None, one):
            yield Resource("gem.installed", one)


def npm_resources(name: str | None) -> Iterator[Resource]:
    """The packages that were installed for the whole machine."""
    paths = glob.glob(f"{FOLDER}/[!@.]*") + glob.glob(f"{FOLDER}/@*/*")
    packages = sorted({path.removeprefix(f"{FOLDER}/") for path in paths} - {*OF_NODE})
    known = npm.list_(depth=0) if packages else {}
    for package in packages:
        if package in known and name in (None, package):
            yield Resource("npm.installed", package)


def pip_resources(name: str | None) -> Iterator[Resource]:
    """The packages that somebody asked pip for."""
    folders = (os.path.basename(os.path.dirname(path)) for path in glob.glob(REQUESTED))
    asked = sorted({pip.normalize(folder.partition("-")[0]) for folder in folders})
    known = {pip.normalize(package) for package in pip.list_()} if asked else set()
    for package in asked:
        if package in known and name in (None, package):
            yield Resource("pip.installed", package)
