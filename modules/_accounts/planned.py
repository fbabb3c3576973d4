# SPDX-License-Identifier: Apache-2.0
"""Users and groups of the planned machine: what shadow-utils would make of /etc/passwd and its
relatives, and of homes. A dry run plans that instead of running them.

The numbers of new accounts are those that these programs choose. What they refuse fails here with
their words.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from modules import _accounts, _paths, file
from modules._accounts import GROUP, PASSWD, defaults, refusals
from modules._accounts.defaults import DEFAULTS, LOGIN_DEFS
from modules._accounts.tools import are_of_busybox
from modules._accounts.values import Account, Aging, Group, Ranges
from modules._texts.lines import encoded
from runner.api import CommandFailed, Unforeseen
from runner.api.planning import only_files

SHADOW, GSHADOW = "/etc/shadow", "/etc/gshadow"

Row = list[str]
P = ParamSpec("P")
R = TypeVar("R")


# ---------------------------------------------------------------- files


@contextmanager
def _rows(path: str) -> Iterator[list[Row]]:
    """The lines of a database in columns, to be altered. One that is not there stays away. Raises
    CommandFailed where only root may read it, and alter any.
    """
    try:
        lines = _accounts.lines(path)
    except PermissionError:
        raise CommandFailed(f"{path}: Permission denied.") from None
    rows = [line.split(":") for line in lines]
    yield rows
    altered = [":".join(row) for row in rows]
    if altered != lines and file.is_file(path):
        file.write(path, encoded(altered))


def _row(path: str, name: str) -> Iterator[Row]:
    """The line of somebody in a database, to be altered."""
    with _rows(path) as rows:
        yield from [row for row in rows if row[0] == name][:1]


def _remove(name: str, *paths: str) -> None:
    for path in paths:
        with _rows(path) as rows:
            rows[:] = [row for row in rows if row[0] != name]


def _number(settings: Mapping[str, str], key: str, default: int) -> int:
    text = settings.get(key, "")
    return int(text) if text.isdigit() else default


def _planned(function: Callable[P, R]) -> Callable[P, R]:
    """Return what shadow-utils would do; busybox's programs have ranges and homes of their own."""

    @only_files
    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if are_of_busybox():
            raise Unforeseen("adduser")
        return function(*args, **kwargs)

    return call


def _today() -> str:
    return str(int(time.time() // 86400))


# ---------------------------------------------------------------- numbers


def _free_number(kind: str, system: bool, preferred: int | None = None) -> int:
    """The number that a new account gets. kind: UID or GID."""
    used = {
        entry[2] for entry in (_accounts.users if kind == "UID" else _accounts.groups)().values()
    }
    settings = defaults.settings(LOGIN_DEFS)
    first = _number(settings, f"{kind}_MIN", 1000)
    last = _number(settings, f"{kind}_MAX", 60000)
    allowed = range(first, last + 1)
    if system:
        last = _number(settings, f"SYS_{kind}_MAX", first - 1)
        first = _number(settings, f"SYS_{kind}_MIN", 101)
        allowed = range(1, last + 1)
    if preferred is not None and preferred in allowed and preferred not in used:
        return preferred
    if system:
        order = range(last, first - 1, -1)
    else:
        highest = max((number for number in used if first <= number <= last), default=first - 1)
        order = range(first if highest == last else highest + 1, last + 1)
    for number in order:
        if number not in used:
            return number
    raise CommandFailed(f"Can't get unique {kind} (no more available {kind}s)")


# ---------------------------------------------------------------- users


@_planned
def useradd(account: Account) -> None:
    """Plan what useradd would do. Raises CommandFailed as it would fail."""
    refusals.refuse_useradd(account)
    name, system = account.name, account.system
    settings, usual = defaults.settings(LOGIN_DEFS), defaults.settings(DEFAULTS)
    uid = account.uid
    if uid is None:
        uid = _free_number("UID", system)
    if defaults.makes_group(account):
        gid = _free_number("GID", system, preferred=uid)
        _add_group(name, gid)
    else:
        gid = refusals.group_number("useradd", defaults.primary_group(account))
    home = defaults.home(name) if account.home is None else account.home
    shell = usual.get("SHELL", "/bin/sh") if account.shell is None else account.shell
    with _rows(PASSWD) as rows:
        rows.append([name, "x", str(uid), str(gid), account.gecos or "", home, shell])
    with _rows(SHADOW) as rows:
        rows.append([name, "!", _today(), *_holding(settings, system), *_end(usual), ""])
    _join(name, refusals.group_names("useradd", account))
    if not system and _number(settings, "UID_MIN", 1000) <= uid <= _number(
        settings, "UID_MAX", 60000
    ):
        _add_subordinate(name, settings)
    if account.with_home:
        _make_home(home, uid, gid, settings)
        if usual.get("CREATE_MAIL_SPOOL") == "yes" and not system:
            _make_spool(name, uid)


def _holding(settings: Mapping[str, str], system: bool) -> list[str]:
    """Return how long the password of a new user holds: min, max, warn."""
    if system:
        return ["", "", ""]
    numbers = (_number(settings, f"PASS_{key}", -1) for key in ("MIN_DAYS", "MAX_DAYS", "WARN_AGE"))
    return ["" if number < 0 else str(number) for number in numbers]


def _end(usual: Mapping[str, str]) -> list[str]:
    """When a new account ends: inact, expire."""
    inactive, expire = usual.get("INACTIVE", "-1"), usual.get("EXPIRE", "")
    return ["" if inactive.startswith("-") else inactive, _day(expire) if expire else ""]


def _add_subordinate(name: str, settings: Mapping[str, str]) -> None:
    for path, kind in (("/etc/subuid", "UID"), ("/etc/subgid", "GID")):
        first = _number(settings, f"SUB_{kind}_MIN", 100000)
        count = _number(settings, f"SUB_{kind}_COUNT", 65536)
        with _rows(path) as rows:
            rows.sort(key=lambda row: (*_range(row), row[0]))  # as useradd leaves them
            for start, size in map(_range, rows):
                if start - first >= count:
                    break
                first = max(first, start + size)
            if count:
                rows.append([name, str(first), str(count)])


def _range(row: Row) -> tuple[int, int]:
    """The first number and the count of a line of /etc/subuid; none for what is no such line."""
    is_range = len(row) == 3 and row[1].isdigit() and row[2].isdigit()
    return (int(row[1]), int(row[2])) if is_range else (0, 0)


def _make_home(home: str, uid: int, gid: int, settings: Mapping[str, str]) -> None:
    if file.lexists(home):
        return
    above = os.path.dirname(home.rstrip("/"))
    if above and not file.is_dir(above):
        file.makedirs(above, mode="0755")
    mode = settings.get("HOME_MODE") or f"{0o777 & ~int(settings.get('UMASK', '022'), 8):04o}"
    file.mkdir(home, mode=mode.zfill(4), user=uid, group=gid)
    skeleton = defaults.skeleton()
    if file.is_dir(skeleton):
        for name in file.listdir(skeleton):
            file.copy(f"{skeleton}/{name}", f"{home}/{name}", preserve=True)
    for entry in file.entries_below(home):
        file.chown(entry.path, uid, gid, follow=False)


def _make_spool(name: str, uid: int) -> None:
    if not file.lexists(defaults.spool(name)):
        group = "mail" if refusals.is_group("mail") else None
        file.write(defaults.spool(name), b"", mode="0660", user=uid, group=group)


@_planned
def usermod(account: Account) -> None:
    """Plan what usermod would do. Raises CommandFailed as it would fail."""
    refusals.refuse_usermod(account)
    name = account.name
    old = refusals.user("usermod", name)
    uid = old.pw_uid if account.uid is None else account.uid
    gid = old.pw_gid
    if account.gid is not None:
        gid = refusals.group_number("usermod", str(account.gid))
    new_name = account.new_name or name
    gecos = old.pw_gecos if account.gecos is None else account.gecos
    home = old.pw_dir if account.home is None else account.home
    shell = old.pw_shell if account.shell is None else account.shell
    for row in _row(PASSWD, name):
        row[:] = [new_name, row[1], str(uid), str(gid), gecos, home, shell]
    if account.groups is not None:
        further = refusals.group_names("usermod", account)
        _leave(name, [] if account.appends else None, but=further)
        _join(name, further)
    _give_ranges("/etc/subuid", name, account.subuids)
    _give_ranges("/etc/subgid", name, account.subgids)
    if new_name != name:
        _rename(name, new_name)
    if account.with_home and home != old.pw_dir and file.is_dir(old.pw_dir):
        if file.lexists(home):
            raise CommandFailed(f"usermod: directory {home} exists")
        file.rename(old.pw_dir, home)
    if (uid, gid) != (old.pw_uid, old.pw_gid):
        _renumber(home, (old.pw_uid, old.pw_gid), (uid, gid))


def _give_ranges(path: str, name: str, ranges: Ranges) -> None:
    """Give a user ranges FIRST-LAST of subordinate numbers."""
    if ranges.removed:
        raise Unforeseen("usermod")
    with _rows(path) as rows:
        for text in ranges.added:
            first, last = map(int, text.split("-"))
            owned = [_range(row) for row in rows if row[0] == name]
            if not any(start <= first and last < start + size for start, size in owned):
                rows.append([name, str(first), str(last - first + 1)])


def _rename(name: str, new_name: str) -> None:
    for row in _row(SHADOW, name):
        row[0] = new_name
    for path in (GROUP, GSHADOW):
        with _rows(path) as rows:
            for row in rows:
                row[3] = ",".join(new_name if one == name else one for one in row[3].split(","))


def _renumber(home: str, old: tuple[int, int], new: tuple[int, int]) -> None:
    """Give what is in a home, and is the user's, to the new numbers."""
    if not file.is_dir(home) or _paths.stat(home).st_uid not in (old[0], new[0]):
        return
    for path in [home, *(entry.path for entry in file.entries_below(home))]:
        at = _paths.lstat(path)
        uid = new[0] if at.st_uid == old[0] else at.st_uid
        gid = new[1] if at.st_gid == old[1] else at.st_gid
        if (uid, gid) != (at.st_uid, at.st_gid):
            file.chown(path, uid, gid, follow=False)


@_planned
def userdel(name: str, home: bool = False, force: bool = False) -> None:
    """Plan what userdel would do. Raises CommandFailed as it would fail."""
    refusals.refuse_userdel(name, force)
    old = refusals.user("userdel", name)
    _remove(name, PASSWD, SHADOW, "/etc/subuid", "/etc/subgid")
    _leave(name)
    _remove_own_group(name, old.pw_gid, force)
    for path in (defaults.spool(name), old.pw_dir) if home else ():
        if file.lexists(path) and (force or _paths.stat(path).st_uid == old.pw_uid):
            _remove_unless_shared(path)


def _remove_unless_shared(home: str) -> None:
    """Remove a home, unless somebody else lives there."""
    others = {f"{entry.pw_dir}/" for entry in _accounts.users().values()}
    if any(other.startswith(f"{home}/") for other in others):
        raise CommandFailed(f"userdel: not removing directory {home} (would remove home of user)")
    file.remove(home)


def _remove_own_group(name: str, gid: int, forced: bool) -> None:
    """Remove the group that was made with a user, when nobody else is in it."""
    if not defaults.makes_groups() or not refusals.is_group(name):
        return
    group = _accounts.group(name)
    taken = not forced and any(entry.pw_gid == gid for entry in _accounts.users().values())
    if group.gr_gid == gid and not group.gr_mem and not taken:
        _remove(name, GROUP, GSHADOW)


# ---------------------------------------------------------------- groups


def _add_group(name: str, gid: int) -> None:
    with _rows(GROUP) as rows:
        rows.append([name, "x", str(gid), ""])
    with _rows(GSHADOW) as rows:
        rows.append([name, "!", "", ""])


def _alter_members(group: str, alter: Callable[[list[str]], Iterable[str]]) -> None:
    for path in (GROUP, GSHADOW):
        for row in _row(path, group):
            members = [one for one in row[3].split(",") if one]
            row[3] = ",".join(dict.fromkeys(alter(members)))


def _join(name: str, groups: Iterable[str]) -> None:
    for group in groups:
        _alter_members(group, lambda members: [*members, name])


def _leave(name: str, groups: Iterable[str] | None = None, but: Collection[str] = ()) -> None:
    """Take a user out of groups (None: of all), but for some."""
    for group in _accounts.groups() if groups is None else groups:
        if group not in but:
            _alter_members(group, lambda members: [one for one in members if one != name])


@_planned
def groupadd(group: Group) -> None:
    """Plan what groupadd would do. Raises CommandFailed as it would fail."""
    refusals.refuse_groupadd(group)
    gid = group.gid
    if gid is None:
        gid = _free_number("GID", group.system)
    _add_group(group.name, gid)


@_planned
def groupmod(group: Group) -> None:
    """Plan what groupmod would do with a number. Raises CommandFailed as it would fail."""
    refusals.refuse_groupmod(group)
    old = str(refusals.require_group("groupmod", group.name))
    for row in _row(GROUP, group.name):
        row[2] = str(group.gid)
    with _rows(PASSWD) as rows:
        for row in rows:
            if row[3:4] == [old]:
                row[3] = str(group.gid)


@_planned
def groupdel(name: str) -> None:
    """Plan what groupdel would do. Raises CommandFailed as it would fail."""
    refusals.refuse_groupdel(name)
    _remove(name, GROUP, GSHADOW)


@_planned
def add_member(name: str, user: str) -> None:
    """Plan what gpasswd -a would do. Raises CommandFailed as it would fail."""
    refusals.user("gpasswd: gpasswd", user)
    refusals.require_group("gpasswd", name)
    _join(user, [name])


@_planned
def remove_member(name: str, user: str) -> None:
    """Plan what gpasswd -d would do. Raises CommandFailed as it would fail."""
    refusals.require_group("gpasswd", name)
    if user not in _accounts.group(name).gr_mem:
        raise refusals.group_refusal("gpasswd", f"user '{user}' is not a member of '{name}'")
    _leave(user, [name])


@_planned
def set_members(name: str, users: Sequence[str]) -> None:
    """Plan what gpasswd -M would do. Raises CommandFailed as it would fail."""
    for user in users:
        refusals.user("gpasswd: gpasswd", user)
    refusals.require_group("gpasswd", name)
    _alter_members(name, lambda members: users)


# ---------------------------------------------------------------- passwords


@_planned
def set_password(name: str, password: str, use_usermod: bool = False) -> bool:
    """Plan what chpasswd -e would do. Raises CommandFailed as it would fail."""
    fresh = [name, "", "", "0", "99999", "7", "", "", ""]
    with _entry(name, "chpasswd: chpasswd: line 1: user '{}' does not exist", fresh) as row:
        row[1:3] = [password, _today()]
    return True


put_password = set_password


@_planned
def del_password(name: str) -> bool:
    """Plan what passwd -d would do. Raises CommandFailed as it would fail."""
    with _entry(name, "passwd: passwd: user '{}' does not exist") as row:
        row[1] = ""
    return True


@only_files
def lock_password(name: str) -> bool:
    """Plan what usermod -L would do. Raises CommandFailed as it would fail."""
    return _lock(name, lambda password: f"!{password.removeprefix('!')}")


@only_files
def unlock_password(name: str) -> bool:
    """Plan what usermod -U would do. Raises CommandFailed as it would fail."""
    return _lock(name, lambda password: password.removeprefix("!") or password)


def _lock(name: str, alter: Callable[[str], str]) -> bool:
    refusals.user("usermod: usermod", name)
    for row in _row(SHADOW, name):
        row[1] = alter(row[1])
    return True


@_planned
def set_days(name: str, aging: Aging) -> None:
    """Plan what chage would do. Raises CommandFailed as it would fail."""
    fresh = [name, "x", *[""] * 7]
    with _entry(name, "chage: chage: user '{}' does not exist in /etc/passwd", fresh) as row:
        for column, value in enumerate(aging, 2):
            if value is not None:
                row[column] = _day(str(value).strip())


def _day(text: str) -> str:
    """A number of days, or the days since 1970 of a date; nothing for a negative one."""
    from datetime import date

    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return str((date.fromisoformat(text) - date(1970, 1, 1)).days)
    return "" if text.startswith("-") else text


@contextmanager
def _entry(name: str, missing: str, fresh: Row | None = None) -> Iterator[Row]:
    """The columns of a user in /etc/shadow, to be altered. fresh: those of a user who has none."""
    with _rows(SHADOW) as rows:
        row = next((row for row in rows if row[0] == name), fresh)
        if row is None or not refusals.is_user(name):
            raise CommandFailed(missing.format(name))
        if row is fresh:
            rows.append(row)
        yield row


def set_linger(name: str, linger: bool) -> None:
    """Plan what loginctl would do; where it cannot, since no system runs, this does it."""
    folder = "/var/lib/systemd/linger"
    path = f"{folder}/{name}"
    if linger:
        file.makedirs(folder, mode="0755")
        file.write(path, b"", mode="0644")
    else:
        file.remove(path)
