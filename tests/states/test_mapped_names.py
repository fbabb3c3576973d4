# SPDX-License-Identifier: Apache-2.0
"""Names below /dev/mapper, which are those of the kernel."""

from __future__ import annotations

import json

import pytest
from command import Machine

LONGEST = "n" * 127


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (LONGEST, ""),
        (LONGEST + "n", "has at most 127 bytes"),
        ("é" * 64, "has at most 127 bytes"),
        ("control", "no device can have this name"),
        ("..", "no device can have this name"),
    ],
)
def test_a_name_that_no_device_can_have_is_refused(
    machine: Machine, name: str, reason: str
) -> None:
    config = {"config": f"{machine.folder}/crypttab"}
    machine.write(
        tab=json.dumps({name: {"crypttab.present": [{"device": "/dev/vdb"}, config]}}),
        gone=json.dumps({name: {"crypttab.absent": [config]}}),
        closed=json.dumps({name: {"luks.closed": []}}),
    )
    done = machine("sls", "tab", "--test", code=1 if reason else 0)
    assert reason in done.stdout + done.stderr
    machine("sls", "gone")  # a line of it may be there all the same
    if reason and name.isascii():
        refused = machine("sls", "closed", "--test", code=1)
        assert reason in refused.stdout + refused.stderr
