# SPDX-License-Identifier: Apache-2.0
"""Targets: compounds against Python's own `and`, `or` and `not`, data against a plain search."""

from __future__ import annotations

import itertools
from typing import Any

import properties as properties
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.language.targeting import match
from runner.language.targeting.compound import Compound, Malformed

ANSWERS = {"yes": True, "no": False, "dunno": None, "perhaps": None}


def _joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(inner, st.sampled_from([" and ", " or ", " not "]), inner)
    return (
        inner.filter(lambda text: not text.startswith("not ")).map(lambda text: f"not {text}")
        | inner.map(lambda text: f"( {text} )")
        | pairs.filter(lambda parts: parts[1] != " not " or not parts[2].startswith("not ")).map(
            "".join
        )
    )


TERMS = st.sampled_from([*ANSWERS])
COMPOUNDS = st.recursive(TERMS, _joined, max_leaves=8)


def plain_answer(text: str, answers: dict[str, Any]) -> bool:
    """As Python reads it; `a not b` is `a and not b`."""
    words: list[str] = []
    for word in text.split():
        starts = not words or words[-1] in ("and", "or", "not", "(")
        words += ["and", "not"] if word == "not" and not starts else [word]
    return bool(eval(" ".join(words), {}, answers))  # noqa: S307  # its words are those above


@given(COMPOUNDS)
def test_a_compound_is_read_as_python_reads_it(text: str) -> None:
    unknown = [word for word, answer in ANSWERS.items() if answer is None]
    worlds = [
        plain_answer(text, {**ANSWERS, **dict(zip(unknown, world, strict=True))})
        for world in itertools.product([True, False], repeat=len(unknown))
    ]
    answer = Compound(text.split(), ANSWERS.__getitem__).answer()
    if answer is not None:
        assert set(worlds) == {answer}
    else:
        assert set(unknown) & set(text.split())


@given(st.lists(st.sampled_from(["yes", "no", "and", "or", "not", "(", ")"]), max_size=7))
def test_words_that_python_cannot_read_are_malformed(words: list[str]) -> None:
    try:
        expected = plain_answer(" ".join(words), ANSWERS)
    except (SyntaxError, TypeError):  # `yes ( no )` would be a call
        expected = None
    pairs = [*itertools.pairwise(words)]
    if expected is None or ("not", "not") in pairs or ("(", ")") in pairs:
        with pytest.raises(Malformed):
            Compound(words, ANSWERS.__getitem__).answer()
    else:
        assert Compound(words, ANSWERS.__getitem__).answer() is expected


KEYS = st.text("ab:", min_size=1, max_size=3)
DATA = st.recursive(
    st.text("aB1:", max_size=3) | st.integers(0, 2) | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.integers(0, 2), inner, max_size=3)
    ),
    max_leaves=6,
)


def paths(value: Any) -> list[str]:
    """Every `key:...:value` that is in some data."""
    if isinstance(value, dict):
        inner = [f"{key}:{path}" for key, item in value.items() for path in paths(item)]
        return [*map(str, value), *inner]
    if isinstance(value, list):
        return [path for item in value if not isinstance(item, list) for path in paths(item)]
    return [str(value)]


@given(st.dictionaries(KEYS, DATA, max_size=3), st.text("aB1:", max_size=5))
def test_data_match_what_is_in_them(data: dict[str, Any], other: str) -> None:
    inside = [path for key, value in data.items() for path in (f"{key}:{p}" for p in paths(value))]
    for path in {*inside, other}:
        assert match.data_matches(data, path, match._equal) is (path in inside), path
        assert match.data_matches(data, path) or path not in inside


@given(st.dictionaries(KEYS, DATA, max_size=3), st.text("aB1:*?", max_size=5))
def test_what_matches_exactly_matches_as_a_glob(data: dict[str, Any], text: str) -> None:
    if match.data_matches(data, text, match._equal):
        assert match.data_matches(data, text)
