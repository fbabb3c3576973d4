# SPDX-License-Identifier: Apache-2.0
"""file.patch: where the patch program may write."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from harness import HarnessHere, apply, foresee
from needing import needs

from states.file.patch import patch

FILE = "--- a\n+++ b\n@@ -1 +1 @@\n-hi\n+ho\n"
FOLDER = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-hi\n+ho\n"
pytestmark = needs("patch")


@pytest.mark.parametrize("options", ["", "--unified", "--get=0"])  # the last: not foreseen
def test_a_full_tmp_does_not_stop_a_patch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    given = tmp_path / "a.patch"
    for name, text in (("of a file", FILE), ("of a folder", FOLDER)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "f").write_text("hi\n")
        given.write_text(text)
        arguments = {"name": str(folder / "f"), "source": str(given), "options": options}
        if text == FOLDER:
            arguments |= {"name": str(folder), "strip": 1}
        monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
        foresee(patch, **arguments, current=HarnessHere(dry=True))
        apply(patch, **arguments, current=HarnessHere())
        assert (folder / "f").read_text() == "ho\n"


def test_the_program_takes_no_memory_by_the_size_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, seen = shutil.which("patch"), tmp_path / "seen"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/patch").write_text(f'#!/bin/sh\nulimit -v >>{seen}\nexec {real} "$@"\n')
    (tmp_path / "bin/patch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    (tmp_path / "a.patch").write_text(FILE)
    (tmp_path / "f").write_bytes(b"hi\n" + b"line\n" * (2 << 20))
    arguments = {"name": str(tmp_path / "f"), "source": str(tmp_path / "a.patch")}
    foresee(patch, **arguments, current=HarnessHere(dry=True))
    apply(patch, **arguments, current=HarnessHere(opts={"edit_size_limit": 1}))
    assert (tmp_path / "f").read_bytes()[:8] == b"ho\nline\n"
    assert set(seen.read_text().split()) == {str(64 << 10)}
