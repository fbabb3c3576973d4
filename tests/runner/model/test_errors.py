# SPDX-License-Identifier: Apache-2.0
"""Helpers of messages."""

from __future__ import annotations

import pytest

from runner.model.diagnostics import nearest


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
