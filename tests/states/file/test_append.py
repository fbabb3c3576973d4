# SPDX-License-Identifier: Apache-2.0
"""file.append and file.prepend: what counts as being there, and what is added."""

from __future__ import annotations

import re
from pathlib import Path

import properties as properties
import pytest
from harness import apply, look
from hypothesis import given
from hypothesis import strategies as st

from runner.api import StateFailed
from states.file import _lines
from states.file.append import append
from states.file.prepend import prepend


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ("a\n", ["b"], "a\nb\n"),
        ("a", ["b"], "a\nb\n"),
        (None, ["b"], "b\n"),
        ("foo  bar\n", ["foo bar"], None),
        ("foobar\n", ["foo bar"], None),
        ("foo bar\n", ["foobar"], "foo bar\nfoobar\n"),
        ("beta\n", ["bet"], "beta\nbet\n"),
        ("a\nc\n", ["x", "a", "y\nz"], "a\nc\nx\ny\nz\n"),
        ("a\n", ["it's a \"q"], "a\nit's a \"q\n"),
        ("a\n", [""], None),
        ("a\n", [12, True], "a\n12\nTrue\n"),
        ("a\n", ["x\fy\u2028z\r\nw\x85"], "a\nx\fy\u2028z\nw\x85\n"),
    ],
)
def test_append(tmp_path: Path, before: str | None, text: list[str], after: str | None) -> None:
    path = tmp_path / "f"
    if before is not None:
        path.write_text(before)
    done = apply(append, str(path), text)
    assert path.read_text() == (before if after is None else after)
    assert bool(done.changes) == (after is not None)
    assert apply(append, str(path), text).changes == {}


def test_bytes_that_are_not_utf8_survive(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xff\xfe\n")
    apply(append, str(path), ["b"])
    assert path.read_bytes() == b"\xff\xfe\nb\n"


def test_the_diff_and_the_count_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("a\n")
    assert look(append, str(path), ["b"]).comment == f"File {path} is set to be updated"
    done = apply(append, str(path), ["b"])
    assert (done.comment, done.changes) == (
        "Appended 1 lines",
        {"diff": "--- \n\n+++ \n\n@@ -1 +1,2 @@\n\n a\n+b"},
    )
    done = apply(prepend, str(path), ["c"])
    assert done.changes == {"diff": "--- \n+++ \n@@ -1,2 +1,3 @@\n+c\n a\n b\n"}


def test_header_has_to_be_at_the_top(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("a\nb\n")
    apply(prepend, str(path), ["b"], header=True)
    assert path.read_text() == "b\na\nb\n"
    assert apply(prepend, str(path), ["b"], header=True).changes == {}


def test_a_missing_parent_fails_the_dry_run_too(tmp_path: Path) -> None:
    with pytest.raises(StateFailed, match="file not found") as failure:
        look(append, str(tmp_path / "no" / "f"), ["b"])
    assert failure.value.missing == (("file", str(tmp_path / "no")),)


def test_source_with_a_wrong_hash(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("s\n")
    with pytest.raises(StateFailed, match="expected hash"):
        look(append, str(tmp_path / "f"), source=str(tmp_path / "s"), source_hash="0" * 64)


PARTS = st.lists(st.sampled_from(["a", "ab", "(", "é", " ", "\t", "\n", "\r", "\f"]), max_size=8)


@given(text=PARTS.map("".join), chunk=PARTS.map("".join))
def test_lines_have_the_words_of_a_chunk_whatever_is_between_them(text: str, chunk: str) -> None:
    words = map(re.escape, re.findall(r"\w+|[^\w\s]", chunk))
    expression = r"\s*".join(["^", *words, "$"])
    found = f"\n{chunk}\n" in f"\n{text}\n" or re.search(expression, text, re.MULTILINE)
    assert _lines.contains(text, chunk) is bool(found)


def test_a_source_of_many_words(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("".join(f"word {n} and more\n" for n in range(20_000)))
    (tmp_path / "f").write_text("before\n" + (tmp_path / "s").read_text().replace(" ", "\t"))
    done = apply(append, str(tmp_path / "f"), source=str(tmp_path / "s"), template=None)
    assert done.changes == {}
