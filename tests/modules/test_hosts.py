# SPDX-License-Identifier: Apache-2.0
"""The lines of /etc/hosts: each address keeps its place."""

from __future__ import annotations

import pytest

from modules import hosts

LINES = ["127.0.0.1 localhost", "10.0.0.5 a b # mine", "# a comment", "10.0.0.5 c", "::1 ip6"]


@pytest.mark.parametrize(
    ("ip", "names", "wanted"),
    [
        ("10.0.0.5", ("x",), [LINES[0], "10.0.0.5\t\tx", LINES[2], LINES[4]]),
        ("127.0.0.1", ("me", "too"), ["127.0.0.1\t\tme too", *LINES[1:]]),
        ("10.0.0.6", ("new",), [*LINES, "10.0.0.6\t\tnew"]),
        ("10.0.0.5", (), [LINES[0], LINES[2], LINES[4]]),
    ],
)
def test_the_names_of_an_address_stay_where_they_are(
    ip: str, names: tuple[str, ...], wanted: list[str]
) -> None:
    known = [hosts.HostsLine(line, address=line.split()[0]) for line in LINES]
    assert [line.text for line in hosts.with_names(known, ip, names)] == wanted
