# SPDX-License-Identifier: Apache-2.0
"""What begins with plain characters is looked for without a search, with the same answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import properties as properties
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from modules.file import bounded_regex, edits

PARTS = ["^", "a", "ab", "a+", "b*", "b?", "a{0,2}", r"\d", r"\b", ".", "$", "(a)", "[ab]", " "]
PARTS += [r"\n", r"\A", "(?:a)", "a|b", "(?<=a)", "(?<!\n)", "(?i)"]
FLAGS = (0, re.MULTILINE, re.DOTALL, re.ASCII, re.MULTILINE | re.IGNORECASE, re.VERBOSE)
PATTERNS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("".join)
TEXTS = st.lists(st.sampled_from(["a", "b", "ab", "A", "1", " ", "\n", "\r\n"]), max_size=9)


class Unbounded:
    @contextmanager
    def limited(self, what: str, size: int) -> Iterator[float]:
        yield 0


@pytest.fixture(autouse=True, scope="module")
def _without_a_run() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded_regex, "here", Unbounded())
        yield


@given(pattern=PATTERNS, flags=st.sampled_from(FLAGS), text=TEXTS.map("".join))
def test_what_matches_is_found(pattern: str, flags: int, text: str) -> None:
    expression = compiled(pattern, flags)
    found = expression.search(text) is not None
    assert bounded_regex.matches(expression, text) is found
    for content in ("a", "ab\nb", ""):
        lines = r"\r?\n".join(map(re.escape, content.split("\n")))
        there = re.search(rf"^{lines}\r?$", text, expression.flags | re.MULTILINE) is not None
        assert edits.found_in(expression, content, text) is (found or there)
    for count in (0, 1):
        assert edits.substituted(expression, "z", text, count) == expression.sub("z", text, count)


def compiled(pattern: str, flags: int) -> re.Pattern[str]:
    try:
        return re.compile(pattern, flags)
    except re.error:
        assume(False)
        raise


def test_a_line_is_found_without_a_search() -> None:
    text = "x\n" * 1000 + "key = 1\n"
    expression = re.compile("^key *=", re.MULTILINE)
    assert bounded_regex.first_place(expression, text) == text.index("key")
    assert bounded_regex.first_place(re.compile("^kez *=", re.MULTILINE), text) is None
    assert bounded_regex.first_place(re.compile("kez|x"), text) == 0
