# SPDX-License-Identifier: Apache-2.0
"""file.replace: what is replaced, added and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness import apply, look

from runner.api import StateFailed
from states.file.replace import replace

APPEND = {"append_if_not_found": True}


@pytest.mark.parametrize(
    ("before", "pattern", "repl", "arguments", "after"),
    [
        ("a\nb\n", "a", "x", {}, "x\nb\n"),
        ("aaa\naaa\n", "a", "z", {"count": 4}, "zzz\nzaa\n"),
        ("a\na\n", "^a$", "z", {"flags": ["IGNORECASE"]}, "a\na\n"),
        ("a\na\n", "^A$", "z", {"flags": ["IGNORECASE", "MULTILINE"]}, "z\nz\n"),
        ("beta\n", "(b)eta", r"\1ETA", {}, "bETA\n"),
        ("beta\n", "b", r"\1", {"backslash_literal": True}, "\\1eta\n"),
        ("a", "q", "x", APPEND, "a\nx\n"),
        ("a", "q", "x", {"prepend_if_not_found": True}, "x\na"),
        ("ax.y\n", "q", "x.y", APPEND, "ax.y\nx.y\n"),
        ("a\nx.y\n", "q", "x.y\n", APPEND, "a\nx.y\n"),
        ("a\nN\n", "q", "x", {**APPEND, "not_found_content": "N"}, "a\nN\n"),
        ("a\nx\n", "^x", "x", APPEND, "a\nx\n"),
    ],
)
def test_replace(
    tmp_path: Path, before: str, pattern: str, repl: str, arguments: dict[str, Any], after: str
) -> None:
    path = tmp_path / "f"
    path.write_text(before)
    done = apply(replace, str(path), pattern, repl, **arguments)
    assert path.read_text() == after
    assert done.comment == (
        "Changes were made" if after != before else "No changes needed to be made"
    )
    assert (tmp_path / "f.bak").exists() == (after != before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pattern": "["}, "not a regular expression"),
        ({"repl": "\\9"}, "does not fit"),
        ({"flags": ["NOSUCH"]}, "Invalid re flag given: NOSUCH"),
        ({"append_if_not_found": True, "prepend_if_not_found": True}, "Only one of"),
    ],
)
def test_what_cannot_work_fails_the_dry_run(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    path = tmp_path / "f"
    path.write_text("a\n")
    with pytest.raises(StateFailed, match=message):
        look(replace, str(path), **{"pattern": "a", "repl": "b", **arguments})
