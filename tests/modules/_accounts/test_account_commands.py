# SPDX-License-Identifier: Apache-2.0
"""The command lines of shadow-utils for users and groups that are given as values."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from modules._accounts import shadow_utils
from modules._accounts.values import Account, Aging, Group, Ranges


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The one command line that carries something out."""
    lines: list[str] = []
    monkeypatch.setattr(shadow_utils, "run", lambda words, **_: lines.append(" ".join(words)))

    def line(verb: Callable[..., None], *values: object) -> str:
        lines.clear()
        verb(*values)
        (words,) = lines
        return words

    return line


def test_a_new_user_has_what_is_said(line: Callable[..., str]) -> None:
    assert line(shadow_utils.useradd, Account("zoe")) == "useradd -M -- zoe"
    zoe = Account(
        "zoe",
        0,
        "band",
        "Zoe",
        "/srv/zoe",
        "/bin/sh",
        ["tty", "audio"],
        with_home=True,
        system=True,
    )
    assert line(shadow_utils.useradd, zoe._replace(unique=False, logged=False)) == (
        "useradd -m -u 0 -g band -c Zoe -d /srv/zoe -s /bin/sh -o -G tty,audio -r -l -- zoe"
    )
    assert line(shadow_utils.useradd, Account("zoe", own_group=True)) == "useradd -M -U -- zoe"
    assert line(shadow_utils.useradd, Account("zoe", own_group=False)) == "useradd -M -N -- zoe"


def test_a_number_is_shared_only_where_there_is_one(line: Callable[..., str]) -> None:
    assert line(shadow_utils.useradd, Account("zoe", unique=False)) == "useradd -M -- zoe"
    assert line(shadow_utils.groupadd, Group("band", unique=False)) == "groupadd -- band"
    assert line(shadow_utils.groupadd, Group("band", 0, unique=False)) == "groupadd -g 0 -o -- band"


def test_a_change_says_nothing_of_the_rest(line: Callable[..., str]) -> None:
    assert line(shadow_utils.usermod, Account("zoe", gecos="")) == "usermod -c  -- zoe"
    assert line(shadow_utils.usermod, Account("zoe", groups=[])) == "usermod -G  -- zoe"
    moved = Account("zoe", home="/srv/z", with_home=True, groups=["tty"], appends=True)
    assert line(shadow_utils.usermod, moved) == "usermod -d /srv/z -G tty -m -a -- zoe"
    assert line(shadow_utils.usermod, Account("zoe", new_name="eva")) == "usermod -l eva -- zoe"
    ranges = Account("zoe", subuids=Ranges(["5-9"], ["1-2", "3-4"]), subgids=Ranges(["7-8"]))
    assert line(shadow_utils.usermod, ranges) == (
        "usermod --del-subuids 1-2 --del-subuids 3-4 --add-subuids 5-9 --add-subgids 7-8 -- zoe"
    )
    days = Aging(lstchg=0, inact=-1, expire="2030-12-31")
    assert line(shadow_utils.age, "zoe", days) == "chage -d 0 -I -1 -E 2030-12-31 -- zoe"
