# SPDX-License-Identifier: Apache-2.0
"""Editors of lines keep the line ends of their file."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere, apply

from states import ini, mount, ssh_auth, ssh_known_hosts
from states.file.append import append
from states.file.blockreplace import blockreplace
from states.file.keyvalue import keyvalue
from states.file.line import line
from states.file.prepend import prepend
from states.file.replace import replace

KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIBBB"
ME = pwd.getpwuid(os.getuid()).pw_name
EDITS: list[tuple[Any, dict[str, Any]]] = [
    (append, {"text": ["x", "y\nz"]}),
    (prepend, {"text": ["x", "y"]}),
    (replace, {"pattern": "^x$", "repl": "x", "append_if_not_found": True}),
    (replace, {"pattern": "^z", "repl": "x\ny", "prepend_if_not_found": True}),
    (keyvalue, {"key": "x", "value": "y", "append_if_not_found": True}),
    (keyvalue, {"key": "x", "value": "y", "prepend_if_not_found": True}),
    (line, {"mode": "insert", "location": "end", "content": "x"}),
    (line, {"mode": "ensure", "after": "a = 1", "content": "x"}),
    (blockreplace, {"content": "x\ny", "append_if_not_found": True}),
    (ini.options_present, {"sections": {"s": {"b": "x\n y"}, "t": {"c": 1}}}),
    (ini.sections_present, {"sections": ["t", "u"]}),
]
OF_TABLES: list[tuple[Any, str, dict[str, Any]]] = [
    (mount.fstab_present, "/device", {"fs_file": "/m", "fs_vfstype": "ext4", "mount_": False}),
    (ssh_auth.present, KEY, {"user": ME, "enc": "ed25519"}),
    (ssh_known_hosts.present, "h.example", {"enc": "ed25519", "key": KEY}),
]


@pytest.mark.parametrize("number", range(len(EDITS) + len(OF_TABLES)))
def test_lines_end_as_those_of_their_file(tmp_path: Path, number: int) -> None:
    path = tmp_path / "f"
    path.write_bytes(before := b"[s]\r\na = 1\r\n")
    if number < len(EDITS):
        edit, arguments = EDITS[number]
        name = str(path)
    else:
        edit, name, arguments = OF_TABLES[number - len(EDITS)]
        arguments = {**arguments, "config": str(path)}
    assert apply(edit, name, current=HarnessHere(tmp_path), **arguments).changes
    text = path.read_bytes()
    assert text != before
    assert text.count(b"\n") == text.count(b"\r\n") == text.count(b"\r")
    assert not apply(edit, name, current=HarnessHere(tmp_path), **arguments).changes
