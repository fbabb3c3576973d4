# SPDX-License-Identifier: Apache-2.0
"""The names of units of systemd that a dry run plans."""

from __future__ import annotations

import pytest
from harness import HarnessHere

from modules import file
from modules.service import _planned_units
from runner.api import running
from runner.api.planning import changes_planned


@pytest.mark.parametrize(
    ("target", "own"),
    [
        ("/usr/lib/systemd/system/made-up.service", "made-up.service"),
        ("made-up.service", "made-up.service"),
        ("/opt/made-up/other.service", "alias.service"),  # a file of elsewhere has no other name
        ("/dev/null", "alias.service"),
    ],
)
def test_an_alias_is_a_link_to_a_unit(target: str, own: str) -> None:
    with running(HarnessHere(dry=True)), changes_planned():
        for folder in ("/usr/lib/systemd/system", "/etc/systemd/system", "/opt/made-up"):
            file.makedirs(folder, mode="0755")
        for path in ("/usr/lib/systemd/system/made-up.service", "/opt/made-up/other.service"):
            file.write(path, b"[Service]\nExecStart=/bin/true\n")
        file.write("/etc/systemd/system/made-up.service", b"[Service]\nExecStart=/bin/true\n")
        file.symlink(target, "/etc/systemd/system/alias.service")
        assert _planned_units.own_name("alias.service") == own
