# SPDX-License-Identifier: Apache-2.0
"""Helpers of messages."""

from __future__ import annotations

import pytest

from runner.model.diagnostics import Diagnostic, deduplicated, nearest
from runner.model.places import Source


@pytest.mark.parametrize(
    ("word", "words", "meant"),
    [
        ("prot", ["root", "port"], "port"),  # letters in another order rather than other letters
        ("pkg.instaled", ["pkg.installed", "pkg.uptodate"], "pkg.installed"),
        ("zzz", ["root"], None),
    ],
)
def test_nearest(word: str, words: list[str], meant: str | None) -> None:
    assert nearest(word, words) == meant


def test_repetitions_are_counted_once_over_all_rounds() -> None:
    place = Source("a.sls", 1, 1)
    problems = [Diagnostic(f"no {name}", place) for name in "abc"]
    (counted,) = deduplicated([*deduplicated(problems[:2]), *deduplicated(problems[2:])])
    assert counted.message == "no a (and 2 more from this line)"
    assert deduplicated([counted, counted]) == [counted]
