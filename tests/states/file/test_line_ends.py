# SPDX-License-Identifier: Apache-2.0
"""Editors of lines keep the line ends of their file."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere, apply

from states import ini, mount, ssh_auth, ssh_known_hosts
from states.file.append import append
from states.file.blockreplace import blockreplace
from states.file.comment import comment
from states.file.keyvalue import keyvalue
from states.file.line import line
from states.file.prepend import prepend
from states.file.replace import replace
from states.file.serialize import serialize
from states.storage import crypttab

KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIBBB"
ME = pwd.getpwuid(os.getuid()).pw_name
EDITS: list[tuple[Any, dict[str, Any]]] = [
    (append, {"text": ["x", "y\nz"]}),
    (append, {"text": ["x", "y\nz"], "ignore_whitespace": False}),
    (prepend, {"text": ["x", "y"]}),
    (replace, {"pattern": "^x$", "repl": "x", "append_if_not_found": True}),
    (replace, {"pattern": "^z", "repl": "x\ny", "prepend_if_not_found": True}),
    (replace, {"pattern": "^x.*$", "repl": "x", "append_if_not_found": True}),
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
    (crypttab.present, "vault", {"device": "/dev/a", "options": {"luks": True}}),
]


@pytest.mark.parametrize("end", ["\r\n", ""])
@pytest.mark.parametrize(("edit", "arguments"), EDITS)
def test_lines_end_as_those_of_their_file(
    tmp_path: Path, edit: Any, arguments: dict[str, Any], end: str
) -> None:
    path = tmp_path / "f"
    path.write_bytes(before := f"[s]\r\na = 1{end}".encode())
    assert apply(edit, str(path), current=HarnessHere(tmp_path), **arguments).changes
    text = path.read_bytes()
    assert text != before
    with_lf = arguments.get("pattern") == "^x.*$"  # which takes the CR away, as from any line
    assert text.count(b"\n") == text.count(b"\r\n") + with_lf
    assert text.count(b"\r") == text.count(b"\r\n")
    assert not apply(edit, str(path), current=HarnessHere(tmp_path), **arguments).changes


@pytest.mark.parametrize("place", ["append_if_not_found", "prepend_if_not_found"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_added_lines_are_found_again_however_they_were_typed(
    tmp_path: Path, end: str, place: str
) -> None:
    path = tmp_path / "f"
    path.write_bytes(f"a = 1{end}".encode())
    arguments = {"pattern": "^z", "repl": "x\r\ny", place: True}
    assert apply(replace, str(path), current=HarnessHere(tmp_path), **arguments).changes
    assert path.read_bytes().count(b"\r") == (3 if end == "\r\n" else 0)
    assert not apply(replace, str(path), current=HarnessHere(tmp_path), **arguments).changes


@pytest.mark.parametrize(
    ("edit", "arguments", "after"),
    [
        (replace, {"pattern": "^a = .*", "repl": "a = 2"}, "a = 2\nb\n"),
        (keyvalue, {"key": "a", "value": "2", "separator": " = "}, "a = 2\nb\n"),
        (line, {"mode": "replace", "match": "^a", "content": "z"}, "z\nb\n"),
        (line, {"mode": "insert", "location": "start", "content": "z"}, "z\na = 1\nb\n"),
        (comment, {"regex": "^a"}, "#a = 1\nb\n"),
        (append, {"text": ["a = 1", "c"]}, "a = 1\nb\nc\n"),
        (prepend, {"text": "z"}, "z\na = 1\nb\n"),
        (
            blockreplace,
            {"marker_start": "a = 1", "marker_end": "b", "content": "z"},
            "a = 1\nz\nb\n",
        ),
    ],
)
def test_a_byte_order_mark_stays_before_the_first_line_and_is_no_part_of_it(
    tmp_path: Path, edit: Any, arguments: dict[str, Any], after: str
) -> None:
    path = tmp_path / "f"
    path.write_bytes("\ufeffa = 1\nb\n".encode())
    assert apply(edit, str(path), current=HarnessHere(tmp_path), **arguments).changes
    assert path.read_bytes() == f"\ufeff{after}".encode()


def test_data_behind_a_byte_order_mark_are_merged(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    apply(serialize, str(path), {"b": 2}, serializer="json", merge_if_exists=True)
    assert json.loads(path.read_bytes()) == {"a": 1, "b": 2}


@pytest.mark.parametrize(("edit", "name", "arguments"), OF_TABLES)
def test_a_table_keeps_its_other_lines(
    tmp_path: Path, edit: Any, name: str, arguments: dict[str, Any]
) -> None:
    """A CR there is a part of the last field: neither those lines nor new ones get one."""
    path = tmp_path / "f"
    path.write_bytes(before := b"# a\r\n# b\n# c\r\n")
    arguments = {**arguments, "config": str(path)}
    assert apply(edit, name, current=HarnessHere(tmp_path), **arguments).changes
    text = path.read_bytes()
    assert text.startswith(before)
    assert b"\r" not in text[len(before) :]
    assert not apply(edit, name, current=HarnessHere(tmp_path), **arguments).changes


def test_a_header_behind_a_byte_order_mark_is_one(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xef\xbb\xbf[s]\na = 1\n")
    edited = apply(
        ini.options_present, str(path), current=HarnessHere(tmp_path), sections={"s": {"a": 2}}
    )
    assert edited.changes == {"s": {"a": {"before": "1", "after": "2"}}}
    assert path.read_bytes() == b"\xef\xbb\xbf[s]\na = 2\n"
