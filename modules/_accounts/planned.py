# SPDX-License-Identifier: Apache-2.0
"""Users and groups of the planned machine: what shadow-utils would make of /etc/passwd and its
relatives, and of homes. A dry run plans that instead of running them.

The numbers of new accounts are those that these programs choose. What they refuse fails here with
their words.
"""

from __future__ import annotations

import datetime
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec

from modules import _accounts, _paths, file
from modules._accounts import (
    FIRST_GROUP,
    GROUP,
    GSHADOW,
    MEMBER,
    NUMBER,
    PASSWD,
    refusals,
    subordinate,
    values,
)
from modules._accounts.provider import are_of_busybox
from modules._accounts.values import Account, Aging, Group, Ranges
from modules._accounts.view import PlannedView
from modules._planned.files import Entry, planned_files
from runner.api import CommandFailed, Unforeseen

SHADOW = "/etc/shadow"

P = ParamSpec("P")


def _of_shadow_utils(
    verb: Callable[Concatenate[PlannedAccounts, P], None],
) -> Callable[Concatenate[PlannedAccounts, P], None]:
    """Declare what shadow-utils would do; busybox's programs have ranges and homes of their own."""

    @wraps(verb)
    def call(self: PlannedAccounts, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if are_of_busybox():
            raise Unforeseen("adduser")
        verb(self, *args, **kwargs)

    return call


class PlannedAccounts(PlannedView):
    """The provider of a dry run. Each verb raises CommandFailed as its program would fail."""

    # ------------------------------------------------------------ users

    @_of_shadow_utils
    def useradd(self, account: Account) -> None:
        refusals.refuse_useradd(account)
        name, system = account.name, account.system
        settings, usual = values.settings(values.LOGIN_DEFS), values.settings(values.DEFAULTS)
        uid = account.uid
        if uid is None:
            uid = self._free_number("UID", system)
        if account.makes_group:
            gid = self._free_number("GID", system, preferred=uid)
            self._add_group(name, gid)
        else:
            gid = refusals.group_number("useradd", account.primary_group)
        home = values.home_of(name) if account.home is None else account.home
        shell = usual.get("SHELL", "/bin/sh") if account.shell is None else account.shell
        with self.altered(PASSWD) as users:
            users.append([name, "x", str(uid), str(gid), account.gecos or "", home, shell])
        with self.altered(SHADOW) as users:
            users.append([name, "!", _today(), *_holding(settings, system), *_end(usual), ""])
        self._alter_members(
            refusals.group_names("useradd", account), lambda members: [*members, name]
        )
        first, last = _number(settings, "UID_MIN", 1000), _number(settings, "UID_MAX", 60000)
        if not system and first <= uid <= last:
            self._add_subordinate(name, settings)
        if account.with_home:
            _make_home(home, uid, gid, settings)
            if usual.get("CREATE_MAIL_SPOOL") == "yes" and not system:
                _make_spool(name, uid)

    def _add_subordinate(self, name: str, settings: Mapping[str, str]) -> None:
        for path, kind in (("/etc/subuid", "UID"), ("/etc/subgid", "GID")):
            first = _number(settings, f"SUB_{kind}_MIN", 100000)
            count = _number(settings, f"SUB_{kind}_COUNT", 65536)
            if not count:
                continue
            with self.altered(path) as table:
                table.sort(subordinate.parsed)  # as useradd leaves them
                table.append([name, str(table.ranges.free(first, count)), str(count)])

    @_of_shadow_utils
    def usermod(self, account: Account) -> None:
        refusals.refuse_usermod(account)
        name = account.name
        old = refusals.user("usermod", name)
        uid = old.pw_uid if account.uid is None else account.uid
        gid = old.pw_gid
        if account.gid is not None:
            gid = refusals.group_number("usermod", str(account.gid))
        gecos = old.pw_gecos if account.gecos is None else account.gecos
        home = old.pw_dir if account.home is None else account.home
        shell = old.pw_shell if account.shell is None else account.shell
        new_name = account.new_name or name
        with self.altered(PASSWD) as users:
            if row := users.row(name):
                users.put(name, [new_name, row[1], str(uid), str(gid), gecos, home, shell])
        if account.groups is not None:
            further = refusals.group_names("usermod", account)
            if not account.appends:
                self._leave(name, but=further)
            self._alter_members(further, lambda members: [*members, name])
        self._give_ranges("/etc/subuid", name, account.subuids)
        self._give_ranges("/etc/subgid", name, account.subgids)
        if new_name != name:
            with self.altered(SHADOW) as users:
                if row := users.row(name):
                    users.put(name, [new_name, *row[1:]])
            groups = self._groups_with(name)
            self._alter_members(groups, lambda all_: [new_name if x == name else x for x in all_])
        if account.with_home and home != old.pw_dir and file.is_dir(old.pw_dir):
            if file.lexists(home):
                raise CommandFailed(f"usermod: directory {home} exists")
            file.rename(old.pw_dir, home)
        if (uid, gid) != (old.pw_uid, old.pw_gid):
            _renumber(home, (old.pw_uid, old.pw_gid), (uid, gid))

    def _give_ranges(self, path: str, name: str, ranges: Ranges) -> None:
        """Give a user ranges FIRST-LAST of subordinate numbers."""
        if ranges.removed:
            raise Unforeseen("usermod")
        with self.altered(path) as table:
            for text in ranges.added:
                first, last = map(int, text.split("-"))
                owned = [subordinate.parsed(line) for line in table.lines(name)]
                if not any(start <= first and last < start + size for start, size, _ in owned):
                    table.append([name, str(first), str(last - first + 1)])

    @_of_shadow_utils
    def userdel(self, name: str, home: bool, force: bool) -> None:
        refusals.refuse_userdel(name, force)
        old = refusals.user("userdel", name)
        self._remove(name, PASSWD, SHADOW, "/etc/subuid", "/etc/subgid")
        self._leave(name)
        if self._has_own_group(name, old.pw_gid, force):
            self._remove(name, GROUP, GSHADOW)
        for path in (values.spool(name), old.pw_dir) if home else ():
            if file.lexists(path) and (force or _paths.stat(path).st_uid == old.pw_uid):
                _remove_unless_shared(path)

    def _has_own_group(self, name: str, gid: int, forced: bool) -> bool:
        """Return whether a group goes with its user: nobody else is in it."""
        if not values.makes_groups() or not refusals.is_group(name):
            return False
        group = _accounts.group(name)
        taken = not forced and bool(_accounts.users_first_in(gid))
        return group.gr_gid == gid and not group.gr_mem and not taken

    # ------------------------------------------------------------ passwords

    @_of_shadow_utils
    def set_password(self, name: str, password: str) -> None:
        _refuse_stranger(name, "chpasswd: chpasswd: line 1: user '{}' does not exist")
        with self.altered(SHADOW) as users:
            row = users.row(name) or [name, "", "", "0", "99999", "7", "", "", ""]
            users.put(name, [name, password, _today(), *row[3:]])

    @_of_shadow_utils
    def del_password(self, name: str) -> None:
        _refuse_stranger(name, "passwd: passwd: user '{}' does not exist")
        self._alter_password(name, lambda _: "")

    def lock(self, name: str, locked: bool) -> None:
        refusals.user("usermod: usermod", name)
        if locked:
            self._alter_password(name, lambda password: f"!{password.removeprefix('!')}")
        else:
            self._alter_password(name, lambda password: password.removeprefix("!") or password)

    @_of_shadow_utils
    def age(self, name: str, aging: Aging) -> None:
        _refuse_stranger(name, "chage: chage: user '{}' does not exist in /etc/passwd")
        with self.altered(SHADOW) as users:
            row = users.row(name) or [name, "x", *[""] * 7]
            for column, value in enumerate(aging, 2):
                if value is not None:
                    row[column] = _day(str(value).strip())
            users.put(name, row)

    # ------------------------------------------------------------ groups

    @_of_shadow_utils
    def groupadd(self, group: Group) -> None:
        refusals.refuse_groupadd(group)
        gid = group.gid
        if gid is None:
            gid = self._free_number("GID", group.system)
        self._add_group(group.name, gid)

    @_of_shadow_utils
    def groupmod(self, group: Group) -> None:
        refusals.refuse_groupmod(group)
        old = refusals.require_group("groupmod", group.name)
        with self.altered(GROUP) as groups:
            if row := groups.row(group.name):
                groups.put(group.name, [*row[:2], str(group.gid), *row[3:]])
        with self.altered(PASSWD) as users:
            for name in users.named(FIRST_GROUP, old):
                row = users.row(name) or []
                users.put(name, [*row[:3], str(group.gid), *row[4:]])

    @_of_shadow_utils
    def groupdel(self, name: str) -> None:
        refusals.refuse_groupdel(name)
        self._remove(name, GROUP, GSHADOW)

    @_of_shadow_utils
    def member(self, name: str, user: str, joins: bool) -> None:
        if joins:
            refusals.user("gpasswd: gpasswd", user)
        refusals.require_group("gpasswd", name)
        if joins:
            self._alter_members([name], lambda members: [*members, user])
        elif user in _accounts.group(name).gr_mem:
            self._alter_members([name], lambda members: [one for one in members if one != user])
        else:
            raise refusals.group_refusal("gpasswd", f"user '{user}' is not a member of '{name}'")

    @_of_shadow_utils
    def set_members(self, name: str, users: Sequence[str]) -> None:
        for user in users:
            refusals.user("gpasswd: gpasswd", user)
        refusals.require_group("gpasswd", name)
        self._alter_members([name], lambda members: users)

    # ------------------------------------------------------------ parts

    def _free_number(self, kind: str, system: bool, preferred: int | None = None) -> int:
        """The number that a new account gets. kind: UID or GID."""
        path = PASSWD if kind == "UID" else GROUP
        settings = values.settings(values.LOGIN_DEFS)
        first = _number(settings, f"{kind}_MIN", 1000)
        last = _number(settings, f"{kind}_MAX", 60000)
        allowed = range(first, last + 1)
        if system:
            last = _number(settings, f"SYS_{kind}_MAX", first - 1)
            first = _number(settings, f"SYS_{kind}_MIN", 101)
            allowed = range(1, last + 1)
        if (
            preferred is not None
            and preferred in allowed
            and not self.named(path, NUMBER, preferred)
        ):
            return preferred
        if system:
            order = range(last, first - 1, -1)
        else:
            highest = self.highest(path, first, last)
            order = range(first if highest == last else highest + 1, last + 1)
        for number in order:
            if not self.named(path, NUMBER, number):
                return number
        raise CommandFailed(f"Can't get unique {kind} (no more available {kind}s)")

    def _add_group(self, name: str, gid: int) -> None:
        with self.altered(GROUP) as groups:
            groups.append([name, "x", str(gid), ""])
        with self.altered(GSHADOW) as groups:
            groups.append([name, "!", "", ""])

    def _alter_members(
        self, names: Collection[str], alter: Callable[[list[str]], Iterable[str]]
    ) -> None:
        """Alter who is in some groups."""
        for path in (GROUP, GSHADOW) if names else ():
            with self.altered(path) as table:
                for name in names:
                    row = table.row(name)
                    if row and len(row) == 4:
                        members = [one for one in row[3].split(",") if one]
                        altered = list(dict.fromkeys(alter(members)))
                        if altered != members:
                            table.put(name, [*row[:3], ",".join(altered)])

    def _groups_with(self, name: str) -> list[str]:
        """The groups that list a user, if only in /etc/gshadow."""
        named = (self.table(path).named(MEMBER, name) for path in (GROUP, GSHADOW))
        return list(dict.fromkeys(group for names in named for group in names))

    def _leave(self, name: str, but: Collection[str] = ()) -> None:
        """Take a user out of all groups, but for some."""
        names = [group for group in self._groups_with(name) if group not in but]
        self._alter_members(names, lambda members: [one for one in members if one != name])

    def _alter_password(self, name: str, alter: Callable[[str], str]) -> None:
        with self.altered(SHADOW) as users:
            if row := users.row(name):
                users.put(name, [name, alter(row[1]), *row[2:]])

    def _remove(self, name: str, *paths: str) -> None:
        for path in paths:
            with self.altered(path) as table:
                table.remove(name)


def _number(settings: Mapping[str, str], key: str, default: int) -> int:
    text = settings.get(key, "")
    return int(text) if text.isdigit() else default


def _today() -> str:
    return str(int(time.time() // 86400))


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


def _make_home(home: str, uid: int, gid: int, settings: Mapping[str, str]) -> None:
    if file.lexists(home):
        return
    above = os.path.dirname(home.rstrip("/"))
    if above and not file.is_dir(above):
        file.makedirs(above, mode="0755")
    mode = settings.get("HOME_MODE") or f"{0o777 & ~int(settings.get('UMASK', '022'), 8):04o}"
    file.mkdir(home, mode=mode.zfill(4), user=uid, group=gid)
    files = planned_files()
    skeleton = files and files.entry(values.skeleton())
    folder = files and files.held_folder(home)
    if files and folder and skeleton and skeleton.is_dir:
        for name in skeleton.listed():
            if (entry := skeleton.child(name)) is not None:
                files.put(folder, name, _of_user(entry, uid, gid))


def _of_user(entry: Entry, uid: int, gid: int) -> Entry:
    """Return a copy of a file, or of a folder with all that it holds, that is a user's."""
    copy = entry.copied({})
    copy.alter()
    copy.uid, copy.gid, copy.number = uid, gid, 0
    if entry.is_dir:
        children = ((name, entry.child(name)) for name in entry.listed())
        copy.names = {name: _of_user(child, uid, gid) for name, child in children if child}
        copy.origin, copy.attributes = None, dict(copy.attributes or {})
    return copy


def _make_spool(name: str, uid: int) -> None:
    if not file.lexists(values.spool(name)):
        group = "mail" if refusals.is_group("mail") else None
        file.write(values.spool(name), b"", mode="0660", user=uid, group=group)


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


def _remove_unless_shared(home: str) -> None:
    """Remove a home, unless somebody else lives there."""
    others = {f"{entry.pw_dir}/" for entry in _accounts.users().values()}
    if any(other.startswith(f"{home}/") for other in others):
        raise CommandFailed(f"userdel: not removing directory {home} (would remove home of user)")
    file.remove(home)


def _refuse_stranger(name: str, problem: str) -> None:
    if not refusals.is_user(name):
        raise CommandFailed(problem.format(name))


def _day(text: str) -> str:
    """A number of days, or the days since 1970 of a date; nothing for a negative one."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return str((datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days)
    return "" if text.startswith("-") else text
