# SPDX-License-Identifier: Apache-2.0
"""The options before keys that may log in."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere, apply

from states import ssh_auth

ME = pwd.getpwuid(os.getuid()).pw_name
PLAIN = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7 one"
LIMITED = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBBB two"
OWN = f'from="1.2.3.4",no-pty {LIMITED}'


@pytest.mark.parametrize(
    ("state", "said", "options", "written"),
    [
        ("present", {"source": "/keys"}, None, [PLAIN, OWN]),
        ("present", {"source": "/keys"}, ["no-pty"], [f"no-pty {PLAIN}", f"no-pty {LIMITED}"]),
        ("present", {"name": PLAIN}, ["no-pty"], [f"no-pty {PLAIN}"]),
        ("present", {"name": OWN}, ["agent-forwarding"], [OWN]),
        ("manage", {"ssh_keys": [PLAIN, OWN]}, ["no-pty"], [f"no-pty {PLAIN}", OWN]),
        (
            "manage",
            {"ssh_keys": [], "source": "/keys"},
            ["no-pty"],
            [f"no-pty {PLAIN}", f"no-pty {LIMITED}"],
        ),
    ],
)
def test_options_stand_before_each_key_as_salt_writes_them(
    tmp_path: Path,
    state: str,
    said: dict[str, Any],
    options: list[str] | None,
    written: list[str],
) -> None:
    source = tmp_path / "keys"
    source.write_text(f"{PLAIN}\n{OWN}\n")
    arguments = {"name": "keys", **said, "user": ME, "config": str(tmp_path / "authorized")}
    if "source" in said:
        arguments["source"] = str(source)
    name = arguments.pop("name")
    function = getattr(ssh_auth, state)
    apply(function, name, **arguments, options=options, current=HarnessHere(tmp_path))
    assert (tmp_path / "authorized").read_text().splitlines() == written
    again = apply(function, name, **arguments, options=options, current=HarnessHere(tmp_path))
    assert not again.changes
