# SPDX-License-Identifier: Apache-2.0
"""What would shift the columns of a file, or is no key, is refused before anything runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Machine

FSTAB = {"name": "/dev/vdx", "fs_file": "/mnt", "fs_vfstype": "xfs"}
KNOWN = {"name": "h", "key": "QQ==", "enc": "rsa"}


@pytest.mark.parametrize(
    ("function", "usual", "argument", "odd", "told"),
    [
        ("mount.fstab_present", FSTAB, "name", "", "name: expected"),
        ("mount.fstab_present", FSTAB, "fs_file", "", "fs_file: expected"),
        ("mount.fstab_present", FSTAB, "fs_vfstype", "", "expected a type without spaces"),
        ("mount.fstab_present", FSTAB, "fs_vfstype", "x 0", "expected a type without spaces"),
        ("ssh_known_hosts.present", KNOWN, "key", "a", "expected a key in base64"),
        ("ssh_known_hosts.present", KNOWN, "enc", "../rsa", "expected text like"),
        ("ssh_known_hosts.present", KNOWN, "fingerprint_hash_type", "none", "one of 'sha256'"),
    ],
)
def test_it_is_a_compile_error(
    machine: Machine, function: str, usual: dict[str, Any], argument: str, odd: str, told: str
) -> None:
    def sls(**arguments: Any) -> str:
        body = [{key: value} for key, value in arguments.items()]
        return "#!json\n" + json.dumps({"it": {function: body}})

    machine.write(good=sls(**usual), a=sls(**{**usual, argument: odd}))
    assert "No mistakes" in machine("check", "good").stdout
    done = machine("sls", "a", "--test", code=1)
    assert told in done.stderr + done.stdout
