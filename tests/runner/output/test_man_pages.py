# SPDX-License-Identifier: Apache-2.0
"""The man pages of the packages, from what the program itself says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT
from starting import PATIENCE

from runner.cli.parsing.option_spec import COMMANDS
from runner.sources.config.keys import SETTINGS


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("man")
    argv = [sys.executable, "packaging/man_pages.py", str(folder)]
    subprocess.run(argv, cwd=ROOT, check=True, timeout=PATIENCE)
    return {path.name: path for path in folder.glob("man*/*")}


def shown(*words: str) -> subprocess.CompletedProcess[str]:
    """Return what man shows of pages; see man(1) for `--warnings`."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "100"}
    argv = ["man", "--warnings", "--nh", "-P", "cat", "-l", *words]
    try:
        return subprocess.run(
            argv, capture_output=True, text=True, timeout=PATIENCE, env=environment
        )
    except FileNotFoundError:
        pytest.skip("there is no man here")


def test_a_page_for_each_command(pages: dict[str, Path]) -> None:
    commands = {f"runner-{name}.1" for name in COMMANDS}
    others = {"runner.1", "runner-salt-call.1", "runner.yaml.5", "runner-states.7"}
    assert set(pages) == commands | others


def test_they_are_clean(pages: dict[str, Path]) -> None:
    done = shown(*(str(path) for path in pages.values()))
    assert (done.returncode, done.stderr) == (0, "")
    keys = pages["runner.yaml.5"].read_text().replace("\\", "")
    assert not [key for key in SETTINGS if f"\nfB{key}fR\n" not in keys]


def test_they_say_what_the_help_says(pages: dict[str, Path]) -> None:
    text = shown(str(pages["runner-show.1"])).stdout
    assert "runner-show - Print the result of one stage of compiling\n" in text
    assert "        low-sls NAME  their states\n" in text, "lines that stay as they are"
    assert "       --state-tree DIR\n              Directory of SLS files.\n" in text
    overview = shown(str(pages["runner.1"])).stdout
    assert "       runner-undo(1)\n" in overview
