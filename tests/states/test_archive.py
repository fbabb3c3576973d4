# SPDX-License-Identifier: Apache-2.0
"""archive.extracted from run to run."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path

import pytest
from command import Machine


def release(machine: Machine, text: str, **more: str) -> None:
    """Write a state that wants an archive with this text in its one file, and the archive."""
    member = machine.folder / "top"
    member.mkdir(exist_ok=True)
    (member / "a").write_text(text)
    with tarfile.open(machine.folder / "x.tar", "w") as made:
        made.add(member, "top")
    found = hashlib.sha256((machine.folder / "x.tar").read_bytes()).hexdigest()
    lines = "".join(f"    - {key}: {value}\n" for key, value in more.items())
    machine.write(
        a=(
            f"x:\n  archive.extracted:\n    - name: {machine.folder}/out\n    - source:"
            f" {machine.folder}/x.tar\n    - source_hash: sha256={found}\n    - source_hash_update:"
            f" true\n{lines}"
        )
    )


def comment(machine: Machine, *words: str) -> str:
    return str(machine.results("sls", "a", *words)["x"]["comment"])


@pytest.mark.parametrize("more", [{}, {"if_missing": "{out}/top"}])
def test_another_archive_is_extracted_again(machine: Machine, more: dict[str, str]) -> None:
    member = Path(machine.folder, "out", "top", "a")
    more = {key: value.format(out=f"{machine.folder}/out") for key, value in more.items()}
    release(machine, "one", **more)
    assert "extracted" in comment(machine)
    release(machine, "two", **more)
    assert comment(machine, "--test").endswith(
        "would be extracted to " + f"{machine.folder}/out/, due to source_hash update"
    )
    assert member.read_text() == "one"
    assert comment(machine).endswith("due to source_hash update")
    assert member.read_text() == "two"
    assert "extracted to" not in comment(machine)
