# SPDX-License-Identifier: Apache-2.0
"""Versions are compared in an order, and as their tools do, where these are there."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Callable

import properties as properties
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from needing import require

from modules.pkg.apk import versions as apk
from modules.pkg.pacman import versions as pacman
from modules.pkg.rpm import packages as rpm

Compare = Callable[[str, str], int]
PART = st.sampled_from(
    ["0", "1", "01", "10", "a", "b", "rc", "alpha", ".", "..", "+", "~", "^", "_"]
)
VERSION = st.lists(PART, min_size=1, max_size=5).map("".join)
RELEASE = st.sampled_from(["", "", "-1", "-2", "-1.1"])
VERSIONS = st.builds("{}{}{}".format, st.sampled_from(["", "", "0:", "1:"]), VERSION, RELEASE)
OF_APK = st.builds(
    "{}{}{}{}".format,
    st.lists(st.sampled_from(["0", "1", "2", "10", "01"]), min_size=1, max_size=3).map(".".join),
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["", "_rc", "_rc1", "_p1", "_alpha"]),
    st.sampled_from(["", "-r0", "-r1"]),
)
ORDERS = [(rpm.compare, VERSIONS), (apk.compare, OF_APK)]


@pytest.mark.parametrize(("compare", "versions"), ORDERS, ids=["rpm", "apk"])
def test_a_comparison_is_an_order(compare: Compare, versions: st.SearchStrategy[str]) -> None:
    @given(st.tuples(versions, versions, versions))
    def check(three: tuple[str, str, str]) -> None:
        # a version without a release is all of its releases, so that is no order
        assume(len({("-" in version) for version in three}) == 1)
        one, two, last = sorted(three, key=functools.cmp_to_key(compare))
        assert compare(one, two) <= 0 and compare(two, last) <= 0 and compare(one, last) <= 0

    check()


@given(VERSIONS, VERSIONS)
def test_what_is_older_is_not_newer(one: str, two: str) -> None:
    for compare in (rpm.compare, apk.compare, pacman.compare):  # vercmp(8) makes no order of `.a`
        assert compare(one, two) == -compare(two, one)
        assert compare(one, one) == 0


def _told(argv: list[str]) -> str:
    require(argv[0])
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@settings(max_examples=3)
@given(st.lists(st.tuples(VERSION, VERSION), min_size=100, max_size=150))
def test_rpm_orders_them_so(pairs: list[tuple[str, str]]) -> None:
    lines = [f"print(rpm.vercmp('{one}', '{two}') .. ' ')" for one, two in pairs]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:  # a macro may not be so long
        script.write("\n".join(lines))
        script.flush()
        answers = _told(["rpm", "--eval", f"%{{lua:dofile('{script.name}')}}"]).split()
    assert [rpm.compare(one, two) for one, two in pairs] == [*map(int, answers)]


@settings(max_examples=60)
@given(VERSIONS, VERSIONS)
def test_pacman_orders_them_so(one: str, two: str) -> None:
    answer = int(_told(["vercmp", one, two]))
    assert pacman.compare(one, two) == (answer > 0) - (answer < 0)
