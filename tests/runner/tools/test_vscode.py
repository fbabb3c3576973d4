# SPDX-License-Identifier: Apache-2.0
"""The extension for VS Code, made into a package by the tool that is made for it."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from needing import needs

EXTENSION = Path(__file__).parents[3] / "editors" / "vscode"
OWN = {"package.json", "extension.js", "language.json", "sls.tmLanguage.json"}
CLIENT = "node_modules/vscode-languageclient/package.json"


@needs("npm")
def test_the_extension_is_packaged(tmp_path: Path) -> None:
    folder = tmp_path / "vscode"
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules"))

    def npm(*words: str) -> subprocess.CompletedProcess[str]:
        argv = ["npm", "--cache", str(tmp_path / "cache"), *words]
        return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)

    fetched = npm(
        "install", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=60000"
    )
    if fetched.returncode:
        pytest.skip(f"npm cannot fetch what the extension needs: {fetched.stderr[-300:]}")
    packaged = npm("run", "package")
    assert packaged.returncode == 0, packaged.stderr
    (package,) = folder.glob("runner-sls-*.vsix")
    with zipfile.ZipFile(package) as archive:
        names = {name.removeprefix("extension/") for name in archive.namelist()}
    assert {*OWN, CLIENT} <= names
    assert not any(name.startswith("node_modules/@vscode/vsce") for name in names)
