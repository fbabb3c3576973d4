# SPDX-License-Identifier: Apache-2.0
"""Python packages that pip installed for the whole machine, as they are."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import glob
import os
from collections.abc import Iterator

from modules.languages import pip
from runner.api import Resource

ROLE = "packages"
AFTER = ("pkg",)
# the file that pip leaves beside what somebody asked for, and not beside what that needs
REQUESTED = "/usr/local/lib/python3*/*-packages/*.dist-info/REQUESTED"


def resources(name: str | None) -> Iterator[Resource]:
    """The packages that somebody asked pip for."""
    folders = (os.path.basename(os.path.dirname(path)) for path in glob.glob(REQUESTED))
    asked = sorted({pip.normalize(folder.partition("-")[0]) for folder in folders})
    known = {pip.normalize(package) for package in pip.list_()} if asked else set()
    for package in asked:
        if package in known and name in (None, package):
            yield Resource("pip.installed", package)
