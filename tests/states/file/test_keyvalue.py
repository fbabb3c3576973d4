# SPDX-License-Identifier: Apache-2.0
"""file.keyvalue: which lines are a key, and what becomes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness import apply

from runner.api import StateFailed
from states.file.keyvalue import keyvalue


@pytest.mark.parametrize(
    ("before", "arguments", "after", "diff"),
    [
        ("a=1\n", {"key": "a", "value": "2"}, "a=2\n", "- a=1\n+ a=2\n"),
        ("a=1\n", {"key": "a", "value": 2}, "a=2\n", "- a=1\n+ a=2 (from int type)\n"),
        ("a=1\nb=1\na=5\n", {"key": "a", "value": "1"}, "a=1\nb=1\n", "- a=5\n"),
        (
            "a=1\na=5\n",
            {"key": "a", "value": "9", "count": 2},
            "a=9\na=9\n",
            "- a=1\n+ a=9\n- a=5\n+ a=9\n",
        ),
        ("a=1\na=5\n", {"key": "a", "value": "5", "count": -1}, "a=5\na=5\n", "- a=1\n+ a=5\n"),
        ("a= 1\n", {"key": "a", "value": "1"}, "a= 1\n", None),
        ("  a=1\n", {"key": "a", "value": "1"}, "a=1\n", "-   a=1\n+ a=1\n"),
        ("a=1\n#a=2\n", {"key": "a", "value": "1", "uncomment": "#"}, "a=1\n#a=2\n", None),
        (
            "#a=2\na=1\n",
            {"key": "a", "value": "1", "uncomment": "#"},
            "a=1\n",
            "- #a=2\n+ a=1\n- a=1\n",
        ),
        ("# a=2\n", {"key": "a", "value": "2", "uncomment": "# "}, "a=2\n", "- # a=2\n+ a=2\n"),
        ("#a=2\n", {"key_values": {"a": None}, "uncomment": "#"}, "a=2\n", "- #a=2\n+ a=2\n"),
        ("a=1\r\n", {"key": "a", "value": "2"}, "a=2\r\n", "- a=1\r\n+ a=2\r\n"),
        ("A=1\n", {"key": "a", "value": "2", "key_ignore_case": True}, "A=2\n", "- A=1\n+ A=2\n"),
        (
            "a=x\na=y",
            {"key_values": {"a": "x", "q": 1}, "append_if_not_found": True},
            "a=x\nq=1\n",
            None,
        ),
        (
            "a=x\n",
            {"key_values": {"p": 1, "q": 2}, "prepend_if_not_found": True},
            "q=2\np=1\na=x\n",
            "  <SOF>\n+ q=2\n+ p=1\n",
        ),
    ],
)
def test_keyvalue(
    tmp_path: Path, before: str, arguments: dict[str, Any], after: str, diff: str | None
) -> None:
    path = tmp_path / "f"
    path.write_bytes(before.encode())
    done = apply(keyvalue, str(path), **arguments)
    assert path.read_bytes() == after.encode()
    if diff is not None or after == before:
        assert done.changes == ({} if diff is None else {"diff": diff})
    assert apply(keyvalue, str(path), **arguments).changes == {}


def test_a_missing_file_gets_the_keys(tmp_path: Path) -> None:
    done = apply(keyvalue, f"{tmp_path}/f", "a", "1", create_if_missing=True)
    assert (tmp_path / "f").read_text() == "a=1\n"
    assert done.comment == "Changed 1, deleted 0 lines"


def test_one_way_to_name_the_keys(tmp_path: Path) -> None:
    with pytest.raises(StateFailed, match="can not combine"):
        apply(keyvalue, f"{tmp_path}/f", "a", "1", {"b": 1})
