# SPDX-License-Identifier: Apache-2.0
"""No test changes packages or services of this computer."""

from __future__ import annotations

import shutil
import subprocess

import pytest


@pytest.mark.parametrize(
    "command",
    ["apt-get -y install nosuchpackage", "dpkg -i nosuchfile.deb", "systemctl start nosuch"],
)
def test_a_change_of_this_computer_fails_loudly(command: str) -> None:
    if not shutil.which(command.split()[0]):
        pytest.skip("this computer has no such program")
    done = subprocess.run(command.split(), capture_output=True, text=True)
    assert done.returncode == 97 and "a test may not change this computer" in done.stderr


def test_looks_pass() -> None:
    if not shutil.which("dpkg"):
        pytest.skip("this computer has no such program")
    assert subprocess.run(["dpkg", "--print-architecture"], capture_output=True).returncode == 0
