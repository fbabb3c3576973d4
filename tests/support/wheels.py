# SPDX-License-Identifier: Apache-2.0
"""Wheels that are made here, without a network: one of runner and what it needs, small ones."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from runner.sources.bundle import LIBRARIES, contents

COMMIT = "0123456789ab"
# of extractall, which Python before 3.11.4 lacks
SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
LEFT_OUT = f"{LIBRARIES}/networkx"  # most of the files, and only a cycle of requisites needs it


def write_demo(folder: Path, version: str, name: str = "demo") -> None:
    """Write a wheel with one module."""
    info = f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    with ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", f"VERSION = {version!r}\n")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


def write_wheel(folder: Path) -> None:
    """Write the one wheel, for packaging/stage."""
    folder.mkdir()
    with ZipFile(folder / "all-0-py3-none-any.whl", "w") as wheel:
        for path, data in sorted(contents().items()):
            inside = path.removeprefix(f"{LIBRARIES}/")
            if inside != path and not path.startswith(LEFT_OUT):
                wheel.writestr(inside, data if isinstance(data, bytes) else data.read_bytes())
        wheel.writestr("runner/commit.txt", f"{COMMIT}\n")
