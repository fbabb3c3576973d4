# SPDX-License-Identifier: Apache-2.0
"""Users and groups by busybox's adduser, addgroup, deluser, delgroup and passwd.

They are played by executables that write down how they were called: Debian's busybox has none.
"""

from __future__ import annotations

import grp
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import HarnessHere
from needing import needs_root

from modules import group, shadow, user
from runner.api import CommandFailed, Plan, StateFailed, changes_allowed, running
from states import group as group_states
from states import user as user_states

TOOLS = ("adduser", "addgroup", "deluser", "delgroup", "passwd", "chpasswd")


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """The calls since it was asked last."""
    log = tmp_path / "log"
    for name in TOOLS:
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@" >>{log}\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    def since() -> str:
        text = log.read_text() if log.exists() else ""
        log.write_text("")
        return text

    with running(HarnessHere()), changes_allowed():
        yield since


def test_users_and_groups_come_and_go(calls: Callable[[], str]) -> None:
    assert user.add(
        "zoe", uid=4711, home="/srv/zoe", shell="/bin/ash", fullname="Zoe", groups="tty"
    )
    assert calls() == (
        "addgroup -- zoe\n"
        "adduser -D -G zoe -h /srv/zoe -s /bin/ash -g Zoe -u 4711 -- zoe\n"
        "addgroup -- zoe tty\n"
    )
    # a number of a group becomes its name; a group that is there is not made
    assert user.add("daemonic", gid=grp.getgrnam("tty").gr_gid, system=True, createhome=False)
    assert user.add("tty", system=True)
    assert user.add("plain", usergroup=False)
    assert calls() == (
        "adduser -D -S -H -G tty -- daemonic\n"
        "adduser -D -S -G tty -- tty\n"
        "adduser -D -G users -- plain\n"
    )
    assert user.delete("zoe", remove=True)
    assert group.add("band", gid=4712, system=True)
    assert group.adduser("band", "zoe")
    group.remove_member("band", "zoe")
    assert group.members("tty", "zoe,yann")
    assert group.delete("band")
    assert calls() == (
        "deluser --remove-home -- zoe\n"
        "addgroup -g 4712 -S -- band\n"
        "addgroup -- zoe band\n"
        "delgroup -- zoe band\n"
        "addgroup -- zoe tty\naddgroup -- yann tty\n"
        "delgroup -- band\n"
    )
    user.usermod(user.Account("root", groups=["tty"], appends=True))
    shadow.lock_password("zoe")
    shadow.unlock_password("zoe")
    assert calls() == "addgroup -- root tty\npasswd -l -- zoe\npasswd -u -- zoe\n"


@needs_root("to change accounts")
def test_what_busybox_cannot_do_fails_in_a_dry_run_too(calls: Callable[[], str]) -> None:
    calls_that_fail: list[Callable[[], None]] = [
        lambda: user.usermod(user.Account("root", shell="/bin/ash")),
        lambda: user.useradd(user.Account("zoe", uid=0, unique=False)),
        lambda: group.groupmod(group.Group("tty", 4713)),
        lambda: group.groupadd(group.Group("band", 0, unique=False)),
        lambda: shadow.set_days("root", shadow.Aging(max=90)),
    ]
    for impossible in calls_that_fail:
        with pytest.raises(CommandFailed, match=r"Install useradd .*\(the package shadow\)"):
            impossible()
    refused = pytest.raises(StateFailed, match="cannot do that: shell of a user")
    with refused:
        user_states.dry_run_check(Plan({"shell": "/bin/ash"}, ""), "root", shell="/bin/ash")
    with pytest.raises(StateFailed, match="maxdays of a user"):
        user_states.dry_run_check(Plan({}, ""), "zoe", shell="/bin/ash", maxdays=90)
    with pytest.raises(StateFailed, match="another number for a group"):
        group_states.dry_run_check(Plan({}, ""), "tty", gid=4713)
    user_states.dry_run_check(
        Plan({"groups": ["tty"]}, ""), "root", groups=["tty"], shell="/bin/sh"
    )
    group_states.dry_run_check(Plan({}, ""), "tty", gid=None)
    assert not calls()
