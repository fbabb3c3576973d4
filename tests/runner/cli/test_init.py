# SPDX-License-Identifier: Apache-2.0
"""`runner init --containerfile`: a file that makes an image by the tree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "work")


def init(machine: Machine, *words: str, code: int = 0) -> str:
    argv = machine.argv("init")
    argv = [*argv[: argv.index("init") + 1], *words]
    done = subprocess.run(
        argv, capture_output=True, text=True, env=machine.environment, cwd=machine.folder
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_a_containerfile_comes_with_a_tree_or_to_one(machine: Machine) -> None:
    tree, file = machine.folder / "tree", machine.folder / "tree/Containerfile"
    init(machine, "tree")
    assert not file.exists()
    assert "Added to the tree" in init(machine, "--containerfile", "tree")
    file.unlink()
    (tree / "states/motd.sls").write_text("{}\n")
    assert "Added to the tree" in init(machine, "--containerfile", "tree")
    assert "already exists" in init(machine, "--containerfile", "tree")
    file.write_text("FROM scratch\n")
    assert "already there" in init(machine, "--containerfile", "tree", code=1)
    assert file.read_text() == "FROM scratch\n"
    assert "Made a tree" in init(machine, "--containerfile", "other")
    assert (machine.folder / "other/Containerfile").exists()
    assert "sets this machine up" in init(machine, "--containerfile", "--from", "x", code=1)


def test_who_has_no_tree_yet_is_told_how_to_begin_one(machine: Machine) -> None:
    for words in (["highstate", "--test"], ["check"]):
        said = machine(*words, code=1).stderr + machine(*words, code=1).stdout
        assert "`runner init" in said and "--config" in said
