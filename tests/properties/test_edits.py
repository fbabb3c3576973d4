# SPDX-License-Identifier: Apache-2.0
"""Edits of files: file.line, file.comment, file.blockreplace and file.replace on plain texts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

import properties as properties
import pytest
from harness import HarnessHere
from hypothesis import assume, given
from hypothesis import strategies as st

from modules.file import differences, edits
from modules.file.edit_line import LinePlace, edited_line
from modules.file.large_texts import WholeText
from runner.api import StateFailed, running

LINE = st.text("ab #\t", max_size=3)
LINES = st.lists(LINE, max_size=5)
CONTENT = st.text("ab #", min_size=1, max_size=3).filter(lambda text: text == text.strip())
PATTERN = st.sampled_from(["a", "b", "^a", "b$", "a b", "^#", "ab", "x"])
ANY = st.text("ab#\n\r\x0c\u2028 ", max_size=12)


@pytest.fixture(autouse=True, scope="module")
def here() -> Iterator[None]:
    with running(HarnessHere()):
        yield


def edited(lines: list[str], content: str, match: str, doing: str, **place: Any) -> list[str]:
    given_place = {"location": None, "before": None, "after": None, "indent": False, **place}
    body = [*lines, ""] if lines else []  # as a text that ends with a newline is split
    return edited_line(body, content, match, doing, LinePlace(**given_place))


def found(lines: list[str], pattern: str) -> list[int]:
    return [number for number, line in enumerate(lines) if re.search(pattern, line)]


@given(LINES, PATTERN)
def test_delete_takes_the_lines_that_match(lines: list[str], match: str) -> None:
    at = found(lines, match)
    expected = [line for number, line in enumerate(lines) if number not in at]
    assert edited(lines, "", match, "delete") == ([*expected, ""] if lines else [])


@given(LINES, CONTENT, PATTERN, st.booleans())
def test_replace_puts_the_content_there(
    lines: list[str], content: str, match: str, indent: bool
) -> None:
    expected = list(lines)
    for at in found(lines, match)[:1]:
        spaces = re.match(r"[ \t]*", lines[at])[0] if indent else ""  # type: ignore[index]
        expected[at] = spaces + content
    assert edited(lines, content, match, "replace", indent=indent) == [*expected, ""] * bool(lines)


@given(
    LINES,
    CONTENT,
    st.sampled_from(["insert", "ensure"]),
    st.sampled_from([None, "start", "end"]),
    st.none() | PATTERN,
    st.none() | PATTERN,
    st.booleans(),
)
def test_a_line_is_put_in_once_and_the_others_stay(
    lines: list[str],
    content: str,
    doing: str,
    location: str | None,
    before: str | None,
    after: str | None,
    indent: bool,
) -> None:
    place: Any = {"location": location, "before": before, "after": after, "indent": indent}
    assume(doing == "insert" or location is None)
    try:
        once = edited(lines, content, content, doing, **place)
    except StateFailed:
        return
    rest = list(once)
    new = [number for number, line in enumerate(once) if line.strip() == content]
    assert new, "the line is there"
    body = [*lines, ""] if lines else []
    if doing == "insert" and once != body:  # ensure may replace what stands in between
        at = next(n for n in range(len(once)) if n >= len(body) or once[n] != body[n])
        del rest[at]
        assert [line for line in rest if line] == [line for line in body if line]
    try:
        again = edited_line(once, content, content, doing, LinePlace(**place))
    except StateFailed:  # the new line is another one that the expressions mean
        return
    assert again == once


SIGN = st.sampled_from(["#", "# ", "//", ";"])


@given(st.lists(st.text("ab#; ", max_size=4), max_size=5), PATTERN, SIGN)
def test_comments_are_taken_off_again(lines: list[str], regex: str, sign: str) -> None:
    text = "".join(f"{line}\n" for line in lines)
    bare = re.compile(edits.bare(regex) + ("$" if regex.endswith("$") else ""))
    expected = "".join(f"{sign if bare.match(line) else ''}{line}\n" for line in lines)
    made = edits.commented_out(text, regex, sign)
    assert made == expected
    assume(not any(line.startswith(sign) for line in lines))
    assert edits.bared_lines(made, regex, sign) == text


@given(ANY)
def test_lines_are_what_a_text_is_made_of(text: str) -> None:
    lines = differences.lines_of(text)
    assert "".join(lines) == text
    assert [line.removesuffix("\n") for line in lines] == text.removesuffix("\n").split("\n")[
        : len(lines)
    ]


@given(ANY, st.text("ab\n", max_size=6), st.sampled_from(["append", "prepend"]))
def test_a_block_stands_between_its_markers(text: str, block: str, where: str) -> None:
    block = block and block.removesuffix("\n") + "\n"

    def with_block(text: str, block: str, **more: bool) -> str:
        return str(edits.with_block(WholeText(text), "<<", ">>", block, **more) or text)

    made = with_block(text, block, **{where: True})
    end = edits.ending(text)
    whole = f"<<{end}{block}>>{end}"
    gap = "" if not text or text.endswith("\n") else end
    assert made == (whole + text if where == "prepend" else text + gap + whole)
    other = f"x\n{block}"
    changed = with_block(made, other)
    assert changed.count(f"<<{end}{other}>>") == 1
    assert with_block(changed, block) == made
    assert with_block(changed, other) == changed


@given(ANY, PATTERN, st.sampled_from(["", "c", r"\g<0>", r"\\"]), st.integers(0, 2))
def test_a_replacement_is_that_of_re(text: str, pattern: str, repl: str, count: int) -> None:
    expected = re.sub(pattern, repl, text, count=count)
    assert edits.substituted(edits.compiled(pattern, 0), repl, text, count) == expected


@given(st.sampled_from(["(", "a)", "[a", "*", "a**", "\\", "(a)", "[a]", "a*"]))
def test_a_wrong_expression_is_named(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error:
        with pytest.raises(StateFailed, match="is not a regular expression"):
            edits.compiled(pattern, 0)
    else:
        edits.compiled(pattern, ["I", 0])


NUMBERED = st.lists(st.sampled_from([*"abc", ""]) | st.integers(0, 99).map(str), max_size=20)


@given(NUMBERED, NUMBERED, NUMBERED, NUMBERED, st.integers(0, 3), st.sampled_from(["", "\n"]))
def test_the_ends_that_two_texts_share_are_left_out_of_no_diff(
    head: list[str], old: list[str], new: list[str], tail: list[str], context: int, end: str
) -> None:
    ends = [f"{n} at an end" for n in range(65)]  # more lines than are compared
    texts = ["\n".join([*ends, *head, *middle, *tail, *ends]) + end for middle in (old, new)]
    expected = difflib.unified_diff(*(text.splitlines(True) for text in texts), n=context)
    assert differences.diff(*texts, context) == "".join(expected)
