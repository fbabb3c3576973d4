# SPDX-License-Identifier: Apache-2.0
"""Merging: every strategy against a plain description of it, wherever data are merged."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import properties as properties
from hypothesis import given
from hypothesis import strategies as st

from modules.slsutil import merging
from runner.language.pillar.merge import merge as of_pillar
from runner.language.salt.utils import dictupdate

KEYS = st.sampled_from(["a", "b", "c", 1])
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
MAPPINGS = st.dictionaries(KEYS, DATA, max_size=4)
ALL: tuple[Callable[..., Any], ...] = (
    merging.combined,
    of_pillar,
    lambda old, new, strategy, lists: dictupdate.merge(old, new, strategy, merge_lists=lists),
)


def plain(old: Any, new: Any, lists: bool) -> Any:
    """Return what both say, at every depth; where they differ, the new one."""
    if isinstance(old, dict) and isinstance(new, dict):
        both = {key: plain(old[key], new[key], lists) for key in old if key in new}
        return {**old, **new, **both}
    if lists and isinstance(old, list) and isinstance(new, list):
        return old + [item for item in new if item not in old]
    return new


@given(MAPPINGS, MAPPINGS, st.booleans())
def test_mappings_are_merged_at_every_depth(
    old: dict[Any, Any], new: dict[Any, Any], lists: bool
) -> None:
    before = copy.deepcopy((old, new))
    for merge in ALL:
        for strategy in ("smart", "recurse"):
            made = merge(old, new, strategy, lists)
            assert made == plain(old, new, lists)
            assert list(made) == list({**old, **new})
        assert merge(old, new, "none", lists) == plain(old, new, False)
        assert merge(old, new, "overwrite", lists) == {**old, **new}
        assert merge(old, new, "aggregate", lists) == {**old, **new}
    assert merging.merged(old, new) == plain(old, new, False)
    assert (old, new) == before


@given(MAPPINGS, MAPPINGS)
def test_the_list_strategy_keeps_both_values(old: dict[Any, Any], new: dict[Any, Any]) -> None:
    """Templates get what Salt gives them: the keys of the first."""
    expected = {key: [value, new[key]] if key in new else value for key, value in old.items()}
    assert merging.combined(old, new, "list") == expected
    assert dictupdate.merge(old, new, "list") == dictupdate.merge_list(old, new) == expected
    pillar = of_pillar(old, new, "list")
    assert pillar.keys() == old.keys() | new.keys()


@given(MAPPINGS, MAPPINGS, st.booleans())
def test_what_is_merged_is_not_changed_through_the_result(
    old: dict[Any, Any], new: dict[Any, Any], lists: bool
) -> None:
    before = copy.deepcopy(old)
    made = merging.combined(old, new, "recurse", lists)
    _spoil(made)
    assert old == before


def _spoil(value: Any) -> None:
    for item in list(value.values()) if isinstance(value, dict) else list(value):
        if isinstance(item, dict | list):
            _spoil(item)
    value.clear()


@given(MAPPINGS, MAPPINGS, st.booleans(), st.booleans())
def test_an_update_changes_the_first(
    old: dict[Any, Any], new: dict[Any, Any], recursive: bool, lists: bool
) -> None:
    expected = plain(old, new, lists) if recursive else {**old, **new}
    for update in (merging.update, dictupdate.update):
        first = copy.deepcopy(old)
        assert update(first, copy.deepcopy(new), recursive, lists) is first
        assert first == expected
