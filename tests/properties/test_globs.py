# SPDX-License-Identifier: Apache-2.0
"""Globs that are not left to fnmatch and glob mean the same."""

from __future__ import annotations

import fnmatch

import properties as properties
from hypothesis import given
from hypothesis import strategies as st

from runner.language.targeting import match
from runner.support.redaction import keys

TEXTS = st.text("ab.*?[]!-\n", max_size=6)
GLOBS = st.text("ab*?[]!-.", max_size=6)


@given(st.lists(GLOBS, max_size=4), TEXTS)
def test_globs_of_secret_names_match_as_fnmatch_does(globs: list[str], name: str) -> None:
    expected = any(fnmatch.fnmatchcase(name, pattern) for pattern in globs)
    assert keys._any_of(globs)(name) is expected


@given(GLOBS, st.text("ab.", min_size=1, max_size=5))
def test_a_glob_of_a_top_file_matches_as_fnmatch_does(pattern: str, name: str) -> None:
    answer = match.matches(pattern, id=name, grains={}, pillar={})
    assert answer is fnmatch.fnmatchcase(name, pattern)
