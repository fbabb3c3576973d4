# SPDX-License-Identifier: Apache-2.0
"""What useradd, usermod, userdel, groupadd, groupmod, groupdel, gpasswd, chpasswd, passwd and chage
(of shadow-utils) would make of /etc/passwd and its relatives, and of homes: a dry run plans that
instead of running them.

The numbers of new accounts are those that these programs choose. What they refuse fails here with
their words.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from modules import _account_defaults, _account_refusals, _accounts, _busybox, _paths, file
from modules._account_defaults import DEFAULTS, LOGIN_DEFS
from modules._accounts import GROUP, PASSWD
from modules._lines import encoded
from runner.api import CommandFailed, Unforeseen
from runner.api.planning import only_files

SHADOW, GSHADOW = "/etc/shadow", "/etc/gshadow"
SUBORDINATE = {"--add-subuids": "/etc/subuid", "--add-subgids": "/etc/subgid"}
COLUMNS = {"lstchg": 2, "min": 3, "max": 4, "warn": 5, "inact": 6, "expire": 7}  # of /etc/shadow

Row = list[str]


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


def _row(rows: Iterable[Row], name: str) -> Row | None:
    return next((row for row in rows if row[0] == name), None)


def _number(settings: Mapping[str, str], key: str, default: int) -> int:
    text = settings.get(key, "")
    return int(text) if text.isdigit() else default


def _options(words: Sequence[str], flags: Collection[str]) -> dict[str, list[str]]:
    """The options of a program, each with its values (a flag has the value "")."""
    options: dict[str, list[str]] = {}
    rest = iter(words)
    for word in rest:
        options.setdefault(word, []).append("" if word in flags else next(rest, ""))
    return options


def _refuse_busybox() -> None:
    if _busybox.stands_in():
        raise Unforeseen("adduser")  # it has ranges and homes of its own


def _today() -> str:
    return str(int(time.time() // 86400))


# ---------------------------------------------------------------- numbers


def _free_number(kind: str, used: set[int], system: bool, preferred: int | None = None) -> int:
    """The number that a new account gets. kind: UID or GID."""
    settings = _account_defaults.settings(LOGIN_DEFS)
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


def _users_numbers() -> set[int]:
    return {entry.pw_uid for entry in _accounts.users().values()}


def _groups_numbers() -> set[int]:
    return {entry.gr_gid for entry in _accounts.groups().values()}


def _group_number(program: str, group: str) -> int:
    """The number of a group that a program is given by its name or number."""
    try:
        look = _accounts.group_of if group.isdigit() else _accounts.group
        return look(int(group) if group.isdigit() else group).gr_gid  # type: ignore[arg-type]
    except KeyError:
        raise CommandFailed(f"{program}: group '{group}' does not exist") from None


def _named_groups(program: str, words: str) -> list[str]:
    names = [name for name in words.split(",") if name]
    for name in names:
        _group_number(program, name)
    return [_accounts.group_of(int(name)).gr_name if name.isdigit() else name for name in names]


def _is_user(name: str) -> bool:
    try:
        return bool(_accounts.user(name))
    except KeyError:
        return False


def _is_group(name: str) -> bool:
    try:
        return bool(_accounts.group(name))
    except KeyError:
        return False


# ---------------------------------------------------------------- users


@only_files
def useradd(name: str, *words: str) -> None:
    """Plan what useradd would do. Raises CommandFailed as it would fail."""
    _refuse_busybox()
    _account_refusals.refuse_useradd(name, *words)
    given = _options(words, ("-m", "-M", "-r", "-l", "-U", "-N", "-o"))
    settings, defaults = (
        _account_defaults.settings(LOGIN_DEFS),
        _account_defaults.settings(DEFAULTS),
    )
    own_group = _account_defaults.makes_group(words)
    group = _account_defaults.primary_group(name, words)
    gid = 0 if own_group else _group_number("useradd", group)
    further = _named_groups("useradd", given.get("-G", [""])[-1])
    if _is_user(name):
        raise CommandFailed(f"useradd: user '{name}' already exists")
    if own_group and _is_group(name):
        raise CommandFailed(
            f"useradd: group {name} exists - if you want to add this user to that group, use -g."
        )
    uid = _new_uid(given)
    if own_group:
        gid = _free_number("GID", _groups_numbers(), "-r" in given, preferred=uid)
        _add_group(name, gid)
    home = given.get("-d", [_account_defaults.home(name)])[-1]
    shell = given.get("-s", [defaults.get("SHELL", "/bin/sh")])[-1]
    gecos = given.get("-c", [""])[-1]
    with _rows(PASSWD) as rows:
        rows.append([name, "x", str(uid), str(gid), gecos, home, shell])
    with _rows(SHADOW) as rows:
        rows.append([name, "!", _today(), *_holding(settings, "-r" in given), *_end(defaults), ""])
    _join(name, further)
    if "-r" not in given and _number(settings, "UID_MIN", 1000) <= uid <= _number(
        settings, "UID_MAX", 60000
    ):
        _add_subordinate(name, settings)
    if "-m" in given:
        _make_home(home, uid, gid, settings)
        if defaults.get("CREATE_MAIL_SPOOL") == "yes" and "-r" not in given:
            _make_spool(name, uid)


def _new_uid(given: Mapping[str, list[str]]) -> int:
    used = _users_numbers()
    if "-u" not in given:
        return _free_number("UID", used, "-r" in given)
    uid = int(given["-u"][-1])
    if uid in used and "-o" not in given:
        raise CommandFailed(f"useradd: UID {uid} is not unique")
    return uid


def _holding(settings: Mapping[str, str], system: bool) -> list[str]:
    """How long the password of a new user holds: min, max, warn."""
    if system:
        return ["", "", ""]
    numbers = (_number(settings, f"PASS_{key}", -1) for key in ("MIN_DAYS", "MAX_DAYS", "WARN_AGE"))
    return ["" if number < 0 else str(number) for number in numbers]


def _end(defaults: Mapping[str, str]) -> list[str]:
    """When a new account ends: inact, expire."""
    inactive, expire = defaults.get("INACTIVE", "-1"), defaults.get("EXPIRE", "")
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
    skeleton = _account_defaults.skeleton()
    if file.is_dir(skeleton):
        for name in file.listdir(skeleton):
            file.copy(f"{skeleton}/{name}", f"{home}/{name}", preserve=True)
    for entry in file.entries_below(home):
        file.chown(entry.path, uid, gid, follow=False)


def _make_spool(name: str, uid: int) -> None:
    if not file.lexists(_account_defaults.spool(name)):
        group = "mail" if _is_group("mail") else None
        file.write(_account_defaults.spool(name), b"", mode="0660", user=uid, group=group)


@only_files
def usermod(name: str, *words: str) -> None:
    """Plan what usermod would do. Raises CommandFailed as it would fail."""
    _refuse_busybox()
    _account_refusals.refuse_usermod(name, *words)
    given = {
        key: values[-1] if not key.startswith("--") else ",".join(values)
        for key, values in _options(words, ("-m", "-a", "-o", "-L", "-U")).items()
    }
    try:
        old = _accounts.user(name)
    except KeyError:
        raise CommandFailed(f"usermod: user '{name}' does not exist") from None
    uid, gid = int(given.get("-u", old.pw_uid)), old.pw_gid
    if "-g" in given:
        gid = _group_number("usermod", given["-g"])
    further = _named_groups("usermod", given.get("-G", ""))
    if uid != old.pw_uid and "-o" not in given and uid in _users_numbers():
        raise CommandFailed(f"usermod: UID '{uid}' already exists")
    new_name, home = given.get("-l", name), given.get("-d", old.pw_dir)
    with _rows(PASSWD) as rows:
        gecos, shell = given.get("-c", old.pw_gecos), given.get("-s", old.pw_shell)
        row = _row(rows, name)
        if row is not None:
            row[:] = [new_name, row[1], str(uid), str(gid), gecos, home, shell]
    _lock(name, given)
    if "-G" in given:
        _leave(name, [] if "-a" in given else None, but=further)
        _join(name, further)
    for option, path in SUBORDINATE.items():
        if option in given:
            _give_ranges(path, name, given[option].split(","))
    if new_name != name:
        _rename(name, new_name)
    if "-m" in given and home != old.pw_dir and file.is_dir(old.pw_dir):
        if file.lexists(home):
            raise CommandFailed(f"usermod: directory {home} exists")
        file.rename(old.pw_dir, home)
    if (uid, gid) != (old.pw_uid, old.pw_gid):
        _renumber(home, (old.pw_uid, old.pw_gid), (uid, gid))


def _lock(name: str, given: Mapping[str, str]) -> None:
    with _rows(SHADOW) as rows:
        row = _row(rows, name)
        if row is None:
            return
        if "-L" in given and not row[1].startswith("!"):
            row[1] = f"!{row[1]}"
        if "-U" in given and row[1].removeprefix("!"):
            row[1] = row[1].removeprefix("!")


def _give_ranges(path: str, name: str, ranges: Iterable[str]) -> None:
    """Give a user ranges FIRST-LAST of subordinate numbers."""
    with _rows(path) as rows:
        for words in ranges:
            first, last = map(int, words.split("-"))
            owned = [_range(row) for row in rows if row[0] == name]
            if not any(start <= first and last < start + size for start, size in owned):
                rows.append([name, str(first), str(last - first + 1)])


def _rename(name: str, new_name: str) -> None:
    with _rows(SHADOW) as rows:
        row = _row(rows, name)
        if row is not None:
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


@only_files
def userdel(name: str, *words: str) -> None:
    """Plan what userdel would do. Raises CommandFailed as it would fail."""
    _refuse_busybox()
    _account_refusals.refuse_userdel(name, *words)
    try:
        old = _accounts.user(name)
    except KeyError:
        raise CommandFailed(f"userdel: user '{name}' does not exist") from None
    for path in (PASSWD, SHADOW, "/etc/subuid", "/etc/subgid"):
        with _rows(path) as rows:
            rows[:] = [row for row in rows if row[0] != name]
    _leave(name)
    _remove_own_group(name, old.pw_gid, "-f" in words)
    if "-r" in words:
        for path in (_account_defaults.spool(name), old.pw_dir):
            if file.lexists(path) and (_paths.stat(path).st_uid == old.pw_uid or "-f" in words):
                _remove_unless_shared(path)


def _remove_unless_shared(home: str) -> None:
    """Remove a home, unless somebody else lives there."""
    others = {f"{entry.pw_dir}/" for entry in _accounts.users().values()}
    if any(other.startswith(f"{home}/") for other in others):
        raise CommandFailed(f"userdel: not removing directory {home} (would remove home of user)")
    file.remove(home)


def _remove_own_group(name: str, gid: int, forced: bool) -> None:
    """Remove the group that was made with a user, when nobody else is in it."""
    if not _account_defaults.makes_groups() or not _is_group(name):
        return
    group = _accounts.group(name)
    taken = not forced and any(entry.pw_gid == gid for entry in _accounts.users().values())
    if group.gr_gid == gid and not group.gr_mem and not taken:
        _remove_group(name)


# ---------------------------------------------------------------- groups


def _add_group(name: str, gid: int) -> None:
    with _rows(GROUP) as rows:
        rows.append([name, "x", str(gid), ""])
    with _rows(GSHADOW) as rows:
        rows.append([name, "!", "", ""])


def _remove_group(name: str) -> None:
    for path in (GROUP, GSHADOW):
        with _rows(path) as rows:
            rows[:] = [row for row in rows if row[0] != name]


def _alter_members(group: str, alter: Callable[[list[str]], Iterable[str]]) -> None:
    for path in (GROUP, GSHADOW):
        with _rows(path) as rows:
            row = _row(rows, group)
            if row is not None:
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


@only_files
def groupadd(name: str, *words: str) -> None:
    """Plan what groupadd would do. Raises CommandFailed as it would fail."""
    _refuse_busybox()
    _account_refusals.refuse_groupadd(name, *words)
    given = _options(words, ("-r", "-o"))
    if _is_group(name):
        raise _group_failure("groupadd", f"group '{name}' already exists")
    used = _groups_numbers()
    gid = int(given["-g"][-1]) if "-g" in given else _free_number("GID", used, "-r" in given)
    if gid in used and "-o" not in given:
        raise _group_failure("groupadd", f"GID '{gid}' already exists")
    _add_group(name, gid)


@only_files
def groupmod(name: str, *words: str) -> None:
    """Plan what groupmod would do with -g. Raises CommandFailed as it would fail."""
    _refuse_busybox()
    given = _options(words, ("-o",))
    old, gid = _require_group("groupmod", name), int(given["-g"][-1])
    if gid != old and gid in _groups_numbers() and "-o" not in given:
        raise _group_failure("groupmod", f"GID '{gid}' already exists")
    with _rows(GROUP) as rows:
        row = _row(rows, name)
        if row is not None:
            row[2] = str(gid)
    with _rows(PASSWD) as rows:
        for row in rows:
            if row[3:4] == [str(old)]:
                row[3] = str(gid)


@only_files
def groupdel(name: str) -> None:
    """Plan what groupdel would do. Raises CommandFailed as it would fail."""
    _refuse_busybox()
    _account_refusals.refuse_groupdel(name)
    gid = _require_group("groupdel", name)
    for entry in _accounts.users().values():
        if entry.pw_gid == gid:
            why = f"cannot remove the primary group of user '{entry.pw_name}'"
            raise _group_failure("groupdel", why)
    _remove_group(name)


@only_files
def add_member(name: str, user: str) -> None:
    """Plan what gpasswd -a would do. Raises CommandFailed as it would fail."""
    _refuse_busybox()
    _require_users([user])
    _require_group("gpasswd", name)
    _join(user, [name])


@only_files
def remove_member(name: str, user: str) -> None:
    """Plan what gpasswd -d would do. Raises CommandFailed as it would fail."""
    _refuse_busybox()
    _require_group("gpasswd", name)
    if user not in _accounts.group(name).gr_mem:
        raise _group_failure("gpasswd", f"user '{user}' is not a member of '{name}'")
    _leave(user, [name])


@only_files
def set_members(name: str, users: str) -> None:
    """Plan what gpasswd -M would do. Raises CommandFailed as it would fail."""
    _refuse_busybox()
    names = [user for user in users.split(",") if user]
    _require_users(names)
    _require_group("gpasswd", name)
    _alter_members(name, lambda members: names)


def _require_group(program: str, name: str) -> int:
    try:
        return _accounts.group(name).gr_gid
    except KeyError:
        where = " in /etc/group" if program == "gpasswd" else ""
        raise _group_failure(program, f"group '{name}' does not exist{where}") from None


def _require_users(names: Iterable[str]) -> None:
    for name in names:
        if not _is_user(name):
            raise _group_failure("gpasswd", f"user '{name}' does not exist")


def _group_failure(program: str, why: str) -> CommandFailed:
    return CommandFailed(f"{program}: {program}: {why}")


# ---------------------------------------------------------------- passwords


@only_files
def set_password(name: str, password: str, use_usermod: bool = False) -> bool:
    """Plan what chpasswd -e would do. Raises CommandFailed as it would fail."""
    fresh = [name, "", "", "0", "99999", "7", "", "", ""]
    with _entry(name, "chpasswd: chpasswd: line 1: user '{}' does not exist", fresh) as row:
        row[1:3] = [password, _today()]
    return True


@only_files
def del_password(name: str) -> bool:
    """Plan what passwd -d would do. Raises CommandFailed as it would fail."""
    with _entry(name, "passwd: passwd: user '{}' does not exist") as row:
        row[1] = ""
    return True


@only_files
def lock_password(name: str) -> bool:
    """Plan what usermod -L would do. Raises CommandFailed as it would fail."""
    _lock_or_unlock(name, "-L")
    return True


@only_files
def unlock_password(name: str) -> bool:
    """Plan what usermod -U would do. Raises CommandFailed as it would fail."""
    _lock_or_unlock(name, "-U")
    return True


def _lock_or_unlock(name: str, option: str) -> None:
    if not _is_user(name):
        raise CommandFailed(f"usermod: usermod: user '{name}' does not exist")
    _lock(name, {option: ""})


@only_files
def set_days(name: str, days: Mapping[str, int | str]) -> None:
    """Plan what chage would do. Raises CommandFailed as it would fail."""
    fresh = [name, "x", *[""] * 7]
    with _entry(name, "chage: chage: user '{}' does not exist in /etc/passwd", fresh) as row:
        for key, value in days.items():
            row[COLUMNS[key]] = _day(str(value).strip())


def _day(text: str) -> str:
    """A number of days, or the days since 1970 of a date; nothing for a negative one."""
    from datetime import date

    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return str((date.fromisoformat(text) - date(1970, 1, 1)).days)
    return "" if text.startswith("-") else text


@contextmanager
def _entry(name: str, missing: str, fresh: Row | None = None) -> Iterator[Row]:
    """The columns of a user in /etc/shadow, to be altered. fresh: those of a user who has none."""
    _refuse_busybox()
    with _rows(SHADOW) as rows:
        row = _row(rows, name) if _is_user(name) else None
        if row is None and fresh and _is_user(name):
            row = fresh
            rows.append(row)
        if row is None:
            raise CommandFailed(missing.format(name))
        yield row


def set_linger(name: str, linger: bool) -> None:
    """Plan what loginctl would do."""
    path = f"/var/lib/systemd/linger/{name}"
    if linger:
        file.write(path, b"", mode="0644")
    else:
        file.remove(path)
