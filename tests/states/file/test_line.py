# SPDX-License-Identifier: Apache-2.0
"""file.line: one line, in every mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import Machine
from harness import apply

from runner.api import StateFailed
from states.file.line import line

TEXT = "a\nb\n  c\nd = 1\n"


@pytest.mark.parametrize(
    ("before", "arguments", "after"),
    [
        (TEXT, {"mode": "delete", "match": "[ab]"}, "  c\nd = 1\n"),
        (TEXT, {"mode": "delete", "content": "a"}, "b\n  c\nd = 1\n"),
        (TEXT, {"mode": "delete", "content": "a", "before": "b"}, TEXT),
        (TEXT, {"mode": "replace", "content": "[ab]", "after": "b"}, TEXT),
        (TEXT, {"mode": "delete"}, TEXT),
        # of YAML's `|`
        (TEXT, {"mode": "ensure", "content": "x", "after": "^b\n"}, "a\nb\nx\n  c\nd = 1\n"),
        (TEXT, {"mode": "insert", "content": "x", "before": "^b\n"}, "a\nx\nb\n  c\nd = 1\n"),
        # several lines, as `|` has them
        (TEXT, {"mode": "insert", "content": "x\ny\n", "after": "^a"}, "a\nx\ny\nb\n  c\nd = 1\n"),
        (TEXT, {"mode": "insert", "content": "x\ny", "before": "^b"}, "a\nx\ny\nb\n  c\nd = 1\n"),
        (TEXT, {"mode": "insert", "content": "x\ny", "location": "start"}, f"x\ny\n{TEXT}"),
        (TEXT, {"mode": "insert", "content": "x\ny", "location": "end"}, f"{TEXT}\nx\ny"),
        (TEXT, {"mode": "ensure", "content": "x\ny", "after": "c"}, "a\nb\n  c\n  x\ny\nd = 1\n"),
        (
            TEXT,
            {"mode": "ensure", "content": "x\ny", "after": "^a", "before": "^b"},
            "a\nx\ny\nb\n  c\nd = 1\n",
        ),
        ("a\n", {"mode": "delete", "match": "^$"}, "a\n"),
        (TEXT, {"mode": "replace", "content": "d = 2", "match": "^d"}, "a\nb\n  c\nd = 2\n"),
        (TEXT, {"mode": "replace", "content": "x ", "match": "c"}, "a\nb\n  x\nd = 1\n"),
        (
            TEXT,
            {"mode": "REPLACE", "content": "x", "match": "c", "indent": False},
            "a\nb\nx\nd = 1\n",
        ),
        ("k=1\nk=2\n", {"mode": "replace", "content": "k=3", "match": "^k="}, "k=3\nk=2\n"),
        ("a\r\nb\r\n", {"mode": "replace", "content": "x", "match": "a"}, "x\r\nb\r\n"),
        (TEXT, {"mode": "insert", "content": "x", "location": "start"}, f"x\n{TEXT}"),
        (TEXT, {"mode": "insert", "content": "x", "location": "end"}, f"{TEXT}\nx"),
        ("a\n\tb", {"mode": "insert", "content": "x", "location": "end"}, "a\n\tb\n\tx"),
        (TEXT, {"mode": "insert", "content": "x", "location": "end", "after": "a"}, f"{TEXT}\nx"),
        (TEXT, {"mode": "insert", "content": "a", "location": "start"}, TEXT),
        (TEXT, {"mode": "insert", "content": "d = 1", "location": "end"}, TEXT),
        (TEXT, {"mode": "insert", "content": "a", "location": "end"}, f"{TEXT}\na"),
        ("", {"mode": "insert", "content": "x", "location": "start"}, "x\n"),
        (TEXT, {"mode": "insert", "content": "x", "after": "c"}, "a\nb\n  c\n  x\nd = 1\n"),
        (TEXT, {"mode": "insert", "content": "x", "before": "c"}, "a\nb\n  x\n  c\nd = 1\n"),
        (TEXT, {"mode": "insert", "content": "  c", "after": "b"}, TEXT),
        ("a\r\nb\r\n", {"mode": "insert", "content": "b", "after": "a"}, "a\r\nb\r\n"),
        # what the expression of the neighbour means as well
        ("P 1\n", {"mode": "ensure", "content": "P 2", "after": "^P"}, "P 1\nP 2\n"),
        ("P 1\nP 2\n", {"mode": "ensure", "content": "P 2", "after": "^P"}, "P 1\nP 2\n"),
        ("P 2\nP 1\n", {"mode": "ensure", "content": "P 2", "before": "^P"}, "P 2\nP 1\n"),
        ("P 2\n", {"mode": "ensure", "content": "P 2", "after": "^P"}, "P 2\n"),
        ("a\nP\n", {"mode": "insert", "content": "P", "after": "a", "before": "P"}, "a\nP\n"),
        ("P\n", {"mode": "insert", "content": "P", "after": "P"}, "P\n"),
        (TEXT, {"mode": "ensure", "content": "x", "before": "d"}, "a\nb\n  c\n  x\nd = 1\n"),
        (TEXT, {"mode": "ensure", "content": "x", "after": "a"}, "a\nx\nb\n  c\nd = 1\n"),
        (
            TEXT,
            {"mode": "ensure", "content": "x", "after": "a", "before": "c"},
            "a\nx\n  c\nd = 1\n",
        ),
        (
            TEXT,
            {"mode": "ensure", "content": "x", "after": "a", "before": "b"},
            "a\nx\nb\n  c\nd = 1\n",
        ),
    ],
)
def test_line(tmp_path: Path, before: str, arguments: dict[str, Any], after: str) -> None:
    path = tmp_path / "f"
    path.write_bytes(before.encode())
    done = apply(line, str(path), **arguments)
    assert path.read_bytes() == after.encode()
    assert done.comment == (
        "Changes were made" if after != before else "No changes needed to be made"
    )
    if "\n" in arguments.get("content", ""):
        assert apply(line, str(path), **arguments).changes == {}, "it converges"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"mode": "ensure", "content": "x", "after": "b", "before": "a"},
            "Found more than one line between",
        ),
        (
            {"mode": "ensure", "content": "x", "after": "a", "before": "d"},
            "Found more than one line between",
        ),
        (
            {"mode": "ensure", "content": "x", "after": "[ab]", "quiet": True},
            '"after" expression: .* matches lines 1, 2;',
        ),
        (
            {"mode": "insert", "content": "x", "before": "zz"},
            "Neither before or after.*no line matches .zz.",
        ),
        ({"mode": "insert", "content": "x"}, "conditions are required"),
        ({"mode": "delete", "match": "("}, "not a regular expression"),
        ({"mode": "replace", "match": "a"}, "Content can only be empty"),
    ],
)
def test_what_is_not_clear_fails_and_changes_nothing(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    path = tmp_path / "f"
    path.write_text(TEXT)
    with pytest.raises(StateFailed, match=message):
        apply(line, str(path), **arguments)
    assert path.read_text() == TEXT


def test_owner_and_mode_come_with_the_edit(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("a\n")
    apply(line, str(path), "x", mode="ensure", after="a", file_mode="0600")
    assert path.stat().st_mode & 0o777 == 0o600


def test_lines_at_one_end_of_a_file_stand_side_by_side(machine: Machine) -> None:
    each = (
        "l{0}:\n  file.line:\n    - name: {tmp}/f\n    - mode: insert\n    - content: l{0}\n    -"
        " location: {1}\n"
    )
    places = {"1": "end", "2": "end", "3": "start", "4": "start"}
    machine.write(
        a="".join(each.replace("{0}", n).replace("{1}", place) for n, place in places.items())
    )
    (machine.folder / "f").write_text("x\n")
    machine("sls", "a")
    assert (machine.folder / "f").read_text() == "l4\nl3\nx\n\nl1\nl2"
    assert not any(result["changes"] for result in machine.results("sls", "a").values())


def test_a_replacement_without_a_line_is_told(machine: Machine) -> None:
    path = machine.folder / "conf"
    path.write_text("a\n")
    text = "{tmp}/conf: {file.line: [{mode: replace}, {match: ^k=}, {content: CONTENT}]}\n"
    machine.write(a=text.replace("CONTENT", "k=1"))
    told = f"no line of {path} matches '^k=', so that 'k=1' is missing"
    for words in (["--test"], []):
        (result,) = machine.results("sls", "a", *words).values()
        assert result["result"] is True and result["warnings"] == [told]
        assert told in machine("sls", "a", *words).stdout
    machine.write(a=text.replace("CONTENT", "a"))
    (result,) = machine.results("sls", "a").values()
    assert "warnings" not in result
