# SPDX-License-Identifier: Apache-2.0
"""Globs that are not left to fnmatch and glob mean the same."""

from __future__ import annotations

import fnmatch
import glob
import tempfile

import properties as properties
from harness import HarnessHere
from hypothesis import given, settings
from hypothesis import strategies as st

from modules import _paths, file
from runner.api import changes_allowed, running
from runner.api.planning import changes_planned
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


PARTS = st.text("ab*?[]!.", min_size=1, max_size=3).filter(lambda text: text not in (".", ".."))
NAMES = st.text("ab[].", min_size=1, max_size=3).filter(lambda text: text not in (".", ".."))
TREES = st.dictionaries(NAMES, st.none() | st.lists(NAMES, max_size=2), max_size=3)


@settings(max_examples=60)
@given(TREES, st.lists(PARTS, min_size=1, max_size=2).map("/".join))
def test_a_glob_finds_what_is_planned_as_it_will_find_it(
    tree: dict[str, list[str] | None], pattern: str
) -> None:
    with tempfile.TemporaryDirectory() as folder, running(HarnessHere(dry=True)):
        planned = f"{folder}/planned"
        with changes_planned():
            make(tree, planned)
        found = [path.removeprefix(f"{planned}/") for path in _paths.glob(f"{planned}/{pattern}")]
    with tempfile.TemporaryDirectory() as real, running(HarnessHere()), changes_allowed():
        make(tree, f"{real}/x")
        assert sorted(found) == sorted(glob.glob(pattern, root_dir=f"{real}/x"))


def make(tree: dict[str, list[str] | None], top: str) -> None:
    """Make files (None) and folders of files."""
    file.makedirs(top)
    for name, inside in tree.items():
        if inside is not None:
            file.makedirs(f"{top}/{name}")
        for path in [name] if inside is None else [f"{name}/{inner}" for inner in inside]:
            file.write(f"{top}/{path}", b"")
