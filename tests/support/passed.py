# SPDX-License-Identifier: Apache-2.0
"""Tests that take minutes and that few files can break: `--rest` leaves them out while these are
as they were when the tests last passed. A line of tests/passed.txt has the digest of both, a file
of tests, and what it tests; `pytest --record FILE` writes the digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path

TABLE = "tests/passed.txt"


def _rows(root: Path) -> Iterator[list[str]]:
    for line in (root / TABLE).read_text().splitlines():
        if not line.startswith("#"):
            yield line.split()


def _digest(root: Path, test: str, patterns: Collection[str]) -> str:
    """The digest of a file of tests and of what it tests."""
    paths = {root / test}
    for pattern in patterns:
        found = {path for path in root.glob(pattern) if path.is_file() and path.suffix != ".pyc"}
        assert found, f"{TABLE}: {pattern} is no file"
        paths |= found
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def unchanged(root: Path) -> frozenset[Path]:
    """The files of tests that passed with what there is now."""
    return frozenset(
        root / test
        for digest, test, *patterns in _rows(root)
        if digest == _digest(root, test, patterns)
    )


def record(root: Path, passed: Collection[Path]) -> None:
    """Note the files of the table that passed."""
    table = root / TABLE
    lines = [line for line in table.read_text().splitlines() if line.startswith("#")]
    for digest, test, *patterns in _rows(root):
        now = _digest(root, test, patterns) if root / test in passed else digest
        lines.append(" ".join([now, test, *patterns]))
    table.write_text("\n".join(lines) + "\n")
