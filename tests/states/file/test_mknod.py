# SPDX-License-Identifier: Apache-2.0
"""file.mknod: pipes, and what stands in their way (devices: tests/laws, on the machine)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness import apply

from runner.api import StateFailed
from states.file.mknod import mknod


def test_a_pipe_is_made_and_kept(tmp_path: Path) -> None:
    name = f"{tmp_path}/p"
    assert apply(mknod, name, "p").changes == {"new": f"Fifo pipe {name} created."}
    assert apply(mknod, name, "p").comment == f"Fifo pipe {name} is in the correct state"
    assert apply(mknod, name, "p", mode="0640").changes == {"mode": "0640"}
    assert os.stat(name).st_mode == 0o010640


def test_what_is_in_the_way_stays(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    for path, kind, message in (
        ("f", "p", "is not a fifo pipe"),
        ("f", "c", "is not a character device"),
    ):
        with pytest.raises(StateFailed, match=f"{message}. Refusing"):
            apply(mknod, f"{tmp_path}/{path}", kind)
    with pytest.raises(StateFailed, match="exists and cannot be overwritten"):
        apply(mknod, str(tmp_path), "p")
    with pytest.raises(StateFailed, match="different major/minor 1/3"):
        apply(mknod, "/dev/null", "c", 1, 5)
