# SPDX-License-Identifier: Apache-2.0
"""Texts that are too large to be held are edited in blocks, with the same results."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import properties as properties
import pytest
from command import Machine
from harness import HarnessHere, apply
from hypothesis import given, settings
from hypothesis import strategies as st

from modules import file
from modules.file import large_texts
from modules.file._contents import streamed
from runner.api import StateFailed, running
from states.file.append import append
from states.file.blockreplace import blockreplace
from states.file.comment import comment
from states.file.keyvalue import keyvalue
from states.file.line import line
from states.file.prepend import prepend
from states.file.replace import replace
from states.file.uncomment import uncomment

MARKS = {"marker_start": "#", "marker_end": "a"}
EDITS: list[tuple[Any, dict[str, Any]]] = [
    (append, {"text": ["b"]}),
    (append, {"text": ["a a\nb", "x"]}),
    (append, {"text": ["a[ ]b"], "ignore_whitespace": False}),
    (append, {"text": ["a(", "b"], "ignore_whitespace": False}),
    (prepend, {"text": ["a", "b"]}),
    (prepend, {"text": ["a", "#b"], "header": True}),
    (replace, {"pattern": "a+", "repl": "b"}),
    (replace, {"pattern": "^(#?)a$", "repl": r"\1x"}),
    (replace, {"pattern": "a", "repl": "b", "count": 2}),
    (replace, {"pattern": r"a\s+b", "repl": "x"}),
    (replace, {"pattern": r"(a)\n|\s*$", "repl": r"\1é", "flags": ["DOTALL"], "count": 3}),
    (replace, {"pattern": "(b|é)[^a]", "repl": r"\g<1>\2"}),
    (replace, {"pattern": "é.*?x", "repl": r"\g<0>", "flags": ["DOTALL"]}),
    (replace, {"pattern": "z", "repl": "zz\nb", "append_if_not_found": True}),
    (replace, {"pattern": "z", "repl": "a", "prepend_if_not_found": True}),
    (comment, {"regex": "^a"}),
    (comment, {"regex": r"a\s*b", "ignore_missing": True}),
    (uncomment, {"regex": "a.*$"}),
    (keyvalue, {"key": "a", "value": "c", "separator": " "}),
    (keyvalue, {"key": "a", "value": "c", "separator": " ", "append_if_not_found": True}),
    (keyvalue, {"key": "a", "value": "b", "separator": " ", "uncomment": "# ", "count": 2}),
    (keyvalue, {"key_values": {"#a": "x", "z": "y"}, "append_if_not_found": True}),
    (keyvalue, {"key": "z", "value": "y", "prepend_if_not_found": True}),
    (keyvalue, {"key": "A", "value": "c", "separator": " ", "key_ignore_case": True}),
    (keyvalue, {"key": "a", "value": "b", "separator": " ", "prune": True}),
    (blockreplace, {"content": "b", **MARKS, "append_if_not_found": True}),
    (blockreplace, {"content": "a b\n", **MARKS, "prepend_if_not_found": True, "backup": False}),
    (blockreplace, {"content": "é", **MARKS, "insert_before_match": "^a"}),
    (blockreplace, {"content": "", **MARKS, "insert_after_match": "x$"}),
    (line, {"mode": "delete", "match": "^a b"}),
    (line, {"mode": "replace", "match": "^#", "content": "x"}),
    (line, {"mode": "replace", "content": "a"}),
    (line, {"mode": "insert", "location": "start", "content": "a"}),
    (line, {"mode": "insert", "location": "end", "content": "b"}),
    (line, {"mode": "insert", "after": "^a b", "content": "x"}),
    (line, {"mode": "insert", "before": "^#", "content": "x"}),
    (line, {"mode": "ensure", "after": "^a$", "before": "^b$", "content": "x"}),
    (line, {"mode": "ensure", "before": "^b$", "content": "  x"}),
]
TEXTS = st.lists(st.sampled_from(["a", "b", "#a", "a b", " a", "", "é", "aab", "x", "#  ab"]))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Blocks and excerpts of a few characters."""
    monkeypatch.setattr(large_texts, "BLOCK", 5)
    monkeypatch.setattr(large_texts, "ENDS", 4)
    monkeypatch.setattr(streamed, "PIECE", 3)
    yield monkeypatch


def outcome(edit: Any, path: Path, text: str, arguments: dict[str, Any]) -> tuple[object, ...]:
    path.write_bytes(text.encode())
    try:
        done = apply(edit, str(path), current=HarnessHere(path.parent), **arguments)
    except StateFailed as failure:
        return failure.message, path.read_bytes()
    said = getattr(done, "comment", done), getattr(done, "result", None)
    return (*said, path.read_bytes())


@pytest.mark.parametrize("number", range(len(EDITS)))
def test_blocks_give_what_the_whole_text_gives(
    small: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    edit, arguments = EDITS[number]

    @settings(max_examples=60)
    @given(lines=TEXTS, ends=st.booleans(), end=st.sampled_from(["\n", "\r\n"]))
    def compare(lines: list[str], ends: bool, end: str) -> None:
        text, found = end.join(lines) + end * ends, []
        for large in (1 << 30, 0):
            small.setattr(large_texts, "LARGE", large)
            found.append(outcome(edit, tmp_path / "f", text, arguments))
        assert found[0] == found[1]

    compare()


@pytest.mark.parametrize(
    ("pattern", "flags", "by_lines"),
    [
        ("^abc$", re.M, True),
        ("^abc", 0, False),
        (r"a\b.*(?P<x>b|c)(?=d)(?!e)(?<=f)\d+?", re.M, True),
        ("a.b", re.S, False),
        ("(?s:a.b)", 0, False),
        (r"a\sb", re.M, False),
        (r"a\Sb", re.M, True),
        ("a[^b]", re.M, False),
        ("a[^b\n]", re.M, True),
        (r"[\t -z]+", re.M, True),
        ("[\t-z]+", re.M, False),
        ("a\n", re.M, False),
        (r"\Aabc", re.M, False),
        ("a*", re.M, False),
        (r"(a)(?(1)b|c)", re.M, False),
        ("(?>ab)", re.M, True) if hasattr(re, "NOFLAG") else ("ab", re.M, True),
        (r"(a)\1", re.M, True),
    ],
)
def test_which_expressions_go_by_lines(pattern: str, flags: int, by_lines: bool) -> None:
    assert large_texts.is_by_lines(re.compile(pattern, flags)) is by_lines


def test_what_needs_all_of_a_text_says_so(small: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small.setattr(large_texts, "LARGE", 10)
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.truncate(2 << 20)
    here = HarnessHere(tmp_path)
    here.opts["edit_size_limit"] = 1
    with pytest.raises(StateFailed, match="larger than 1 MiB, and the expression"):
        apply(replace, str(path), current=here, pattern=r"a\sb", repl="x")
    small.setattr(large_texts, "LONGEST_LINE", 1 << 20)
    with pytest.raises(StateFailed, match="a line longer than 1 MiB"):
        apply(append, str(path), current=here, text=["x"])


def test_a_large_file_is_edited_by_a_run(machine: Machine) -> None:
    path, filler = machine.folder / "f", "x" * 99 + "\n"
    path.write_text(filler * 100_000)
    path.chmod(0o640)
    machine.write(
        a="{tmp}/f:\n  file.append:\n    - text: last\n"
        "again:\n  file.replace:\n    - name: {tmp}/f\n    - pattern: last$\n    - repl: the end\n"
    )
    planned = machine.results("sls", "a", "--test")
    assert planned[f"{machine.folder}/f"]["result"] is None
    assert planned["again"]["result"] is None  # nobody foresees what the other one leaves
    assert path.stat().st_size == 10_000_000
    said = "The difference is not shown: 9.5 MiB instead of 9.5 MiB"
    for result in machine.results("sls", "a").values():
        assert result["changes"]["diff"] == said
    assert path.read_text() == f"{filler * 100_000}the end\n"
    assert path.stat().st_mode & 0o777 == 0o640
    machine.write(b="{tmp}/f:\n  file.append:\n    - text: the end\n")
    assert not machine.results("sls", "b")[f"{machine.folder}/f"]["changes"]
    machine("undo")
    assert path.read_text() == filler * 100_000


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("cdefgh", True), (" é \n", True), ("h é", True), ("ce", False), ("é!", False), ("", True)],
)
def test_a_text_is_found_across_the_pieces_of_a_file(
    small: pytest.MonkeyPatch, tmp_path: Path, wanted: str, found: bool
) -> None:
    (tmp_path / "f").write_text("abcdefgh é")
    with running(HarnessHere(tmp_path)):
        assert file.contains(str(tmp_path / "f"), wanted) is found
        assert not file.contains(str(tmp_path / "none"), wanted)


def test_an_edit_over_lines_holds_a_text_once(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old 1\nold 2\n" + b"line\n" * (4 << 20))
    tracemalloc.start()
    try:
        arguments = {"pattern": r"1\nold", "repl": "x", "backup": False}
        apply(replace, str(path), current=HarnessHere(tmp_path), **arguments)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.read_bytes()[:14] == b"old x 2\nline\nl"
    assert peak < 2 * path.stat().st_size
