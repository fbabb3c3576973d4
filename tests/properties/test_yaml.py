# SPDX-License-Identifier: Apache-2.0
"""YAML that is read without PyYAML: the same values at the same places, or none at all; and what
PyYAML writes is read as it was.
"""

from __future__ import annotations

from typing import Any

import properties as properties
import yaml
from hypothesis import given
from hypothesis import strategies as st
from placed import shape

from runner.support.yaml.limits import plain
from runner.support.yaml.load import load
from runner.support.yaml.rendered_text import Rendered
from runner.support.yaml.simple import NotSimple, parse

PARTS = st.sampled_from(
    ["a", "x y", "/b", "true", "no", "1", "007", "'q r'", '"s"', "[]", "{}", "c:d", "e: f", "g #h"]
    + ["'q' # c", "1.2.3", "10.0.0.1/8", "NULL", "-x", "--x y", "$a", "(b)", "| # c", "1.2.", "On"]
    + [
        "|",
        "[a, 1]",
        "[ 'b' ,c-d ]",
        "../a",
        ".b",
        ".Inf",
        "# comment",
        "[.]",
        "~",
        "- a",
        "?",
        "a:",
    ]
) | st.text("ab: #-'\"[]{},&*!|>%@\\.01\t", max_size=4)
PARTS |= st.text("01269:acdefoTtxzZ.-+_/ <>", max_size=6)
FORMS = st.sampled_from(["{}: {}", "{}:", "- {}", "- {}: {}", "-", "{}", "", "..."])
LINES = st.builds(
    lambda indent, form, one, two: " " * indent + form.format(one, two),
    st.sampled_from([0, 0, 2, 2, 3, 4]),
    FORMS,
    PARTS,
    PARTS,
)
FLOW = st.builds(
    "{}{}: {}".format,
    st.sampled_from(["", "- ", "b:\n  ", "---\n"]),
    st.just("a"),
    st.lists(
        st.sampled_from(["[", "]", "{", "}", ",", " ", "\n", "\n   ", "a: ", "'b': ", "c", "1"])
        | st.sampled_from(["[a", "[{a: 1}", "{a: ", "{b: [c, d]", ", e: f", "]}", "}]", "# d\n "])
        | st.sampled_from(["x:y", "'q r'", "n o", "~", "c(d)", "$e", "1.2.3.4", "x@y", "f=g+%"]),
        min_size=1,
        max_size=8,
    ).map("".join),
)
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(LINES, min_size=1, max_size=6),
    st.sampled_from(["", "\n", "\n\n"]),
)
WORDS = st.text("ab1 :#-'\"\n.é\\", max_size=5)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2000) | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def is_the_same_where_it_is_read(text: str) -> bool:
    """Return whether a text is read without PyYAML."""
    document = Rendered(text, "x")
    try:
        value = parse(text, document)
    except NotSimple:
        return False
    assert shape(value) == shape(load(text, document)), text
    return True


def test_random_texts_have_the_same_values_and_places() -> None:
    read = []

    @given(TEXTS | FLOW)
    def compare(text: str) -> None:
        read.append(is_the_same_where_it_is_read(text))

    compare()
    assert read.count(True) > len(read) / 20


@given(TREES, st.sampled_from([None, False]), st.integers(2, 4))
def test_what_pyyaml_writes_is_read_as_it_was(tree: Any, flow: bool | None, indent: int) -> None:
    text = yaml.safe_dump({"a": tree}, default_flow_style=flow, indent=indent, allow_unicode=True)
    assert plain(text) == {"a": tree}
    is_the_same_where_it_is_read(text)
