# SPDX-License-Identifier: Apache-2.0
"""axe-core, which finds what people who use no mouse, or see little, cannot use of a page."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser

PACKAGE = "axe-core@4"
PROGRAM = "package/axe.min.js"
# what it calls a violation, with the first elements that it is about
ASK = """axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations.map(
  (each) => ({rule: each.id, on: each.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))})
))"""


def axe_or_skip(folder: Path) -> str:
    """The program; skips where npm is not there, or cannot fetch it."""
    if not shutil.which("npm"):
        pytest.skip("there is no npm")
    words = ("--silent", "--fetch-retries=0", "--fetch-timeout=60000", f"--cache={folder}/cache")
    argv = ["npm", "pack", PACKAGE, f"--pack-destination={folder}", *words]
    fetched = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    if fetched.returncode:
        pytest.skip(f"npm cannot fetch axe-core: {fetched.stderr[-300:]}")
    (package,) = folder.glob("axe-core-*.tgz")
    with tarfile.open(package) as archive:
        program = archive.extractfile(PROGRAM)
        assert program
        return program.read().decode()


def violations(browser: Browser, axe: str) -> list[Any]:
    """What axe finds in the page that is shown."""
    browser.value(f"{axe}; 1")
    found = browser.value(ASK)
    assert isinstance(found, list)
    return found
