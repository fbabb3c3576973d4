# SPDX-License-Identifier: Apache-2.0
"""The file of the kernel modules that are loaded at each start."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import HarnessHere

from modules import kmod
from runner.api import changes_allowed, running


@pytest.mark.parametrize(
    ("before", "keep", "comment", "after"),
    [
        ("a\nb\n", False, True, "a\n#b\n"),
        ("a\nb\n", False, False, "a\n"),
        ("a\n# b\n", True, False, "a\nb\n"),
        ("#bb\na\n", True, False, "#bb\na\nb\n"),
        ("#b c\n", True, False, "#b c\nb\n"),
        ("b\n", True, False, "b\n"),
    ],
)
def test_a_module_goes_into_a_comment_and_comes_back(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    before: str,
    keep: bool,
    comment: bool,
    after: str,
) -> None:
    path = tmp_path / "modules"
    path.write_text(before)
    monkeypatch.setattr(kmod, "_config", lambda: str(path))
    with running(HarnessHere()), changes_allowed():
        kmod.persist(["b"], keep=keep, comment=comment)
    assert path.read_text() == after


def test_bytes_of_others_stay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "modules"
    path.write_bytes(b"# caf\xe9 \xc2\x85 x\na\n")
    monkeypatch.setattr(kmod, "_config", lambda: str(path))
    with running(HarnessHere()), changes_allowed():
        kmod.persist(["b"])
    assert path.read_bytes() == b"# caf\xe9 \xc2\x85 x\na\nb\n"
