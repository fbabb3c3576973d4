# SPDX-License-Identifier: Apache-2.0
"""The folders above a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from modules import file
from states.file._permissions import missing_folders


def test_a_folder_that_another_state_makes_meanwhile_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States that run side by side may make the same one."""
    folder, look = tmp_path / "made", file.is_dir

    def is_dir_and_then_made(path: str) -> bool:
        there = look(path)
        if path == str(folder):
            folder.mkdir(exist_ok=True)
        return there

    monkeypatch.setattr(file, "is_dir", is_dir_and_then_made)
    assert missing_folders(f"{folder}/f") == [str(folder)]
