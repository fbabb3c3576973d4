# SPDX-License-Identifier: Apache-2.0
"""Users and groups: of the machine as its name services know them, or in a dry run as the plans so
far would leave them.

Looks ask here instead of `pwd` and `grp`. Where something was planned for /etc/passwd or
/etc/group, these are read as planned; accounts of other name services (LDAP, systemd) stay.
"""

from __future__ import annotations

# os in this file: it is the view of users and groups
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from modules import _paths
from modules._planned.machine import planned_machine
from modules._planned.overlay import is_planned
from modules._texts.lines import once_a_line, split
from runner.api import cached_look
from runner.api.planning import doubts

if TYPE_CHECKING:
    import grp
    import pwd

PASSWD, GROUP = "/etc/passwd", "/etc/group"
NO_SHELL = "/usr/sbin/nologin"
AT_WORK = " (let it end, or say `force: True`)"  # of a user whose processes are in the way

K = TypeVar("K")
T = TypeVar("T", bound="pwd.struct_passwd | grp.struct_group")


@cached_look("users", PASSWD)
def users() -> dict[str, pwd.struct_passwd]:
    """All users, by name."""
    import pwd

    return _all(PASSWD, _user, pwd.getpwall)


@cached_look("groups", GROUP)
def groups() -> dict[str, grp.struct_group]:
    """All groups, by name."""
    import grp

    return _all(GROUP, _group, grp.getgrall)


def user(name: str) -> pwd.struct_passwd:
    """The user of a name. Raises KeyError."""
    import pwd

    try:
        return _one(PASSWD, _user, lambda entry: entry.pw_name == name, lambda: pwd.getpwnam(name))
    except (KeyError, ValueError):  # a NUL character
        if not _may_come(name):
            raise KeyError(name) from None
        return pwd.struct_passwd((name, "x", 999, 999, "", f"/var/lib/{name}", NO_SHELL))


def user_of(uid: int) -> pwd.struct_passwd:
    """The user of a number. Raises KeyError."""
    import pwd

    return _one(PASSWD, _user, lambda entry: entry.pw_uid == uid, lambda: pwd.getpwuid(uid))


def own_name() -> str:
    """The name of who runs this; empty without an account, as in a container."""
    own = found(user_of, os.geteuid())
    return own.pw_name if own else ""


def found(look: Callable[[K], T], key: K) -> T | None:
    """The user or group of a name or number; None when there is none."""
    try:
        return look(key)
    except KeyError:
        return None


def group(name: str) -> grp.struct_group:
    """The group of a name. Raises KeyError."""
    import grp

    try:
        return _one(GROUP, _group, lambda entry: entry.gr_name == name, lambda: grp.getgrnam(name))
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
    import grp

    return _one(GROUP, _group, lambda entry: entry.gr_gid == gid, lambda: grp.getgrgid(gid))


def primary_group(name: str) -> str:
    """The name of a user's primary group; empty when there is none."""
    user = users().get(name)
    group = user and found(group_of, user.pw_gid)
    return group.gr_name if group else ""


def group_numbers(name: str, gid: int) -> list[int]:
    """The numbers of the groups that a user is in. gid: the primary one."""
    if not is_planned(GROUP):
        return os.getgrouplist(name, gid)
    further = [entry.gr_gid for entry in groups().values() if name in entry.gr_mem]
    return list(dict.fromkeys([gid, *further]))


def process_of(name: str) -> int | None:
    """A process of a user; None when there is none."""
    entry = users().get(name)
    number = entry.pw_uid if entry else None
    return next((pid for pid, uids in processes() if number in uids), None)


def processes() -> Iterator[tuple[int, list[int]]]:
    """The processes with their real, effective and saved users."""
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
                uids = next(line.split()[1:4] for line in status if line.startswith("Uid:"))
        except (OSError, StopIteration):
            continue
        yield pid, [int(uid) for uid in uids]


def lines(path: str) -> list[str]:
    """The lines of a database, as it is planned; none where there is no such file."""
    try:
        with _paths.open_text(path, encoding="utf-8", errors="surrogateescape") as file:
            return split(file.read())
    except FileNotFoundError:
        return []


def _one(
    path: str, parsed: Callable[[str], T | None], fits: Callable[[T], bool], ask: Callable[[], T]
) -> T:
    if not is_planned(path):
        return ask()
    for entry in _planned(path, parsed).values():
        if fits(entry):
            return entry
    entry = ask()
    if entry[0] in _names_of_machine(path):  # it was removed, renamed or renumbered
        raise KeyError(entry[0])
    return entry


def _all(
    path: str, parsed: Callable[[str], T | None], ask: Callable[[], Iterable[T]]
) -> dict[str, T]:
    if not is_planned(path):
        return {str(entry[0]): entry for entry in ask()}
    local = _names_of_machine(path)
    others = {str(entry[0]): entry for entry in ask() if entry[0] not in local}
    return others | _planned(path, parsed)


def _planned(path: str, parsed: Callable[[str], T | None]) -> dict[str, T]:
    """The entries of a file as it is planned, by name; read once as long as it is the same."""
    at = _paths.stat(path) if _paths.exists(path) else None
    version = (at.st_ino, at.st_mtime_ns) if at else ()
    known = planned_machine().entries
    if path not in known or known[path][0] != version:
        entries = [entry for line in lines(path) if (entry := parsed(line)) is not None]
        known[path] = version, {str(entry[0]): entry for entry in entries}
    return known[path][1]


def _names_of_machine(path: str) -> set[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return {line.partition(":")[0] for line in file}
    except OSError:
        return set()


@once_a_line
def _user(line: str) -> pwd.struct_passwd | None:
    """The user of a line; None for what the name services pass over."""
    import pwd

    fields = line.split(":")
    if len(fields) != 7 or not fields[0] or not (fields[2] + fields[3]).isdigit():
        return None
    name, password, uid, gid, *rest = fields
    return pwd.struct_passwd((name, password, int(uid), int(gid), *rest))


def _group(line: str) -> grp.struct_group | None:
    """The group of a line; None for what the name services pass over."""
    import grp

    fields = line.split(":")
    if len(fields) != 4 or not fields[0] or not fields[2].isdigit():
        return None
    name, password, gid, members = fields
    return grp.struct_group((name, password, int(gid), [one for one in members.split(",") if one]))
