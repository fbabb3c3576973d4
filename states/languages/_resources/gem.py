# SPDX-License-Identifier: Apache-2.0
"""Ruby's gems of the whole machine as they are."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import glob
import os
import re
from collections.abc import Iterator

from modules.languages import gem
from runner.api import Resource

ROLE = "packages"
AFTER = ("pkg",)
SPECIFICATIONS = "/var/lib/gems/*/specifications/*.gemspec"


def resources(name: str | None) -> Iterator[Resource]:
    """The gems that were installed with gem."""
    files = map(os.path.basename, glob.glob(SPECIFICATIONS))
    gems = sorted({re.sub(r"-\d[^-]*\.gemspec", "", file) for file in files})
    known = gem.list_() if gems else {}
    for one in gems:
        if one in known and name in (None, one):
            yield Resource("gem.installed", one)
