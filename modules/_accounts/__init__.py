# SPDX-License-Identifier: Apache-2.0
"""Users and groups: of the machine as its name services know them, or in a dry run as the plans so
far would leave them.

Looks ask here instead of `pwd` and `grp`. Where something was planned for /etc/passwd or
/etc/group, these are read as planned; accounts of other name services (LDAP, systemd) stay.
"""

from __future__ import annotations

import grp

# os in this file: it is the view of users and groups
import os
import pwd

from modules import _paths
from modules._planned.overlay import is_planned, overlay
from modules._texts.lines import split
from runner.api import cached_look
from runner.api.planning import doubts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    from modules._accounts.view import PlannedView

    K = TypeVar("K")
    T = TypeVar("T")

PASSWD, GROUP, GSHADOW = "/etc/passwd", "/etc/group", "/etc/gshadow"
NUMBER, FIRST_GROUP, MEMBER = "number", "first group", "member"  # what names are looked up by
NO_SHELL = "/usr/sbin/nologin"
AT_WORK = " (let it end, or say `force: True`)"  # of a user whose processes are in the way


@cached_look("users", PASSWD)
def users() -> dict[str, pwd.struct_passwd]:
    """All users, by name."""
    view = _view(PASSWD)
    return view.users() if view else {entry.pw_name: entry for entry in pwd.getpwall()}


@cached_look("groups", GROUP)
def groups() -> dict[str, grp.struct_group]:
    """All groups, by name."""
    view = _view(GROUP)
    return view.groups() if view else {entry.gr_name: entry for entry in grp.getgrall()}


def user(name: str) -> pwd.struct_passwd:
    """The user of a name. Raises KeyError."""
    try:
        view = _view(PASSWD)
        return view.user(name) if view else pwd.getpwnam(name)
    except (KeyError, ValueError):  # a NUL character
        if not _may_come(name):
            raise KeyError(name) from None
        return pwd.struct_passwd((name, "x", 999, 999, "", f"/var/lib/{name}", NO_SHELL))


def listed_user(name: str) -> pwd.struct_passwd:
    """The same, for who looks at many: they are read at once. Raises KeyError."""
    view = _view(PASSWD)
    entry = view.table(PASSWD).entries.get(name) if view else users().get(name)
    return entry or user(name)


def user_of(uid: int) -> pwd.struct_passwd:
    """The user of a number. Raises KeyError."""
    view = _view(PASSWD)
    return view.user_of(uid) if view else pwd.getpwuid(uid)


def own_name() -> str:
    """The name of who runs this; empty without an account, as in a container."""
    own = found(user_of, os.geteuid())
    return own.pw_name if own else ""


def caller(user: str | None = None) -> str:
    """A user; where none is named, who runs this."""
    return user or own_name() or "root"


def found(look: Callable[[K], T], key: K) -> T | None:
    """The user or group of a name or number; None when there is none."""
    try:
        return look(key)
    except KeyError:
        return None


def group(name: str) -> grp.struct_group:
    """The group of a name. Raises KeyError."""
    try:
        view = _view(GROUP)
        return view.group(name) if view else grp.getgrnam(name)
    except (KeyError, ValueError):  # a NUL character
        if not _may_come(name):
            raise KeyError(name) from None
        return grp.struct_group((name, "x", 999, []))


def _may_come(name: str) -> bool:
    """Return whether a look is to see an account that only a pending package may bring."""
    doubted = doubts()
    return doubted is not None and doubted.of_account(name) and doubted.world == "file"


def group_of(gid: int) -> grp.struct_group:
    """The group of a number. Raises KeyError."""
    view = _view(GROUP)
    return view.group_of(gid) if view else grp.getgrgid(gid)


def groups_of_number(gid: int) -> list[str]:
    """The names of the groups that have a number."""
    view = _view(GROUP)
    return view.named(GROUP, NUMBER, gid) if view else _groups_by(NUMBER).get(gid, [])


def groups_with(name: str) -> list[str]:
    """The names of the groups that list a user."""
    view = _view(GROUP)
    return view.named(GROUP, MEMBER, name) if view else _groups_by(MEMBER).get(name, [])


def users_first_in(gid: int) -> list[str]:
    """The names of the users whose primary group has a number."""
    view = _view(PASSWD)
    return view.named(PASSWD, FIRST_GROUP, gid) if view else _users_by_group().get(gid, [])


@cached_look("users", PASSWD)
def _users_by_group() -> dict[int, list[str]]:
    """The names of all users by the numbers of their primary groups."""
    return _by((name, [entry.pw_gid]) for name, entry in users().items())


@cached_look("groups", GROUP)
def _groups_by(key: str) -> dict[Any, list[str]]:
    """The names of all groups by their numbers, or by their members."""
    entries = groups().items()
    return _by((name, [of.gr_gid] if key == NUMBER else of.gr_mem) for name, of in entries)


def _by(named: Iterable[tuple[str, Iterable[Any]]]) -> dict[Any, list[str]]:
    """The names by the values that stand beside them."""
    names: dict[Any, list[str]] = {}
    for name, values in named:
        for value in dict.fromkeys(values):
            names.setdefault(value, []).append(name)
    return names


def primary_group(name: str) -> str:
    """The name of a user's primary group; empty when there is none."""
    user = found(listed_user, name)
    group = user and found(group_of, user.pw_gid)
    return group.gr_name if group else ""


def group_numbers(name: str, gid: int) -> list[int]:
    """The numbers of the groups that a user is in. gid: the primary one."""
    if not is_planned(GROUP):
        return os.getgrouplist(name, gid)
    further = [group(of).gr_gid for of in groups_with(name)]
    return list(dict.fromkeys([gid, *further]))


def process_of(name: str) -> int | None:
    """A process of a user; None when there is none."""
    entry = found(listed_user, name)
    number = entry.pw_uid if entry else None
    return next((pid for pid, uids in processes() if number in uids), None)


def processes() -> Iterator[tuple[int, list[int]]]:
    """The processes with their real, effective and saved users."""
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        for line in _paths.of_kernel(f"/proc/{pid}/status").split("\n"):
            if line.startswith("Uid:"):
                yield pid, [int(uid) for uid in line.split()[1:4]]


def lines(path: str) -> list[str]:
    """The lines of a database, as it is planned; none where there is no such file."""
    try:
        return split(_paths.read_text(path, errors="surrogateescape"))
    except FileNotFoundError:
        return []


def lines_of(path: str, name: str) -> list[str]:
    """The lines of a database that begin with a name, as it is planned; none of one that the caller
    may not read.
    """
    view = _view(path)
    return view.table(path).lines(name) if view else _named_lines(path).get(name, [])


@cached_look("users", "{0}")
def _named_lines(path: str) -> dict[str, list[str]]:
    """The lines of a database by the names that they begin with."""
    named: dict[str, list[str]] = {}
    for line in split(_paths.text_of(path, "surrogateescape")):
        name, colon, _ = line.partition(":")
        if colon:
            named.setdefault(name, []).append(line)
    return named


def _view(path: str) -> PlannedView | None:
    """What a dry run has planned of accounts; None where the file is as the machine has it."""
    planned = overlay() if is_planned(path) else None
    return planned.accounts if planned else None
