# SPDX-License-Identifier: Apache-2.0
"""What useradd, usermod, userdel, groupadd and groupdel will refuse, in their words: for dry runs.

Each raises CommandFailed. busybox's programs, which stand in for them, have words of their own.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence

from modules import _account_defaults, _accounts, _busybox, file
from runner.api import CommandFailed, Fact

LONGEST = 32  # characters of a name
LARGEST = 0xFFFFFFFE  # of a number: the one after it is for "none"


def refuse_useradd(name: str, *options: str) -> None:
    """Raise CommandFailed for a user that useradd would not add."""
    if _busybox.stands_in():
        return
    if len(name) > LONGEST:
        raise _refusal("useradd", f"invalid user name '{name}': use --badname to ignore")
    _refuse_fields("useradd", options)
    group = _value(options, "-g")
    if group and group.isdigit() and not _group_of(int(group)):
        raise _refusal(
            "useradd", f"group '{group}' does not exist", [("gid", group), ("group", group)]
        )
    if (
        not group
        and "-N" not in options
        and name in _accounts.groups()
        and _account_defaults.makes_group(options)
    ):
        raise _refusal(
            "useradd",
            f"group {name} exists - if you want to add this user to that group, use -g.",
            [("no group", name)],
        )
    owner = _owner_of(_value(options, "-u"))
    if owner and "-o" not in options:
        raise _refusal(
            "useradd", f"UID {_value(options, '-u')} is not unique", [("no user", owner)]
        )
    home = _value(options, "-d")
    if home and "-M" not in options:
        above = home.rstrip("/")
        while above and not file.lexists(above):
            above = above.rpartition("/")[0]
        if above and above != home.rstrip("/") and not file.is_dir(above):
            raise _refusal("useradd", f"cannot create directory {home}", [("file", above)])


def refuse_usermod(name: str, *options: str) -> None:
    """Raise CommandFailed for changes of a user that usermod would not make."""
    if _busybox.stands_in():
        return
    _refuse_fields("usermod", options)
    group = _value(options, "-g")
    if group and group.isdigit() and not _group_of(int(group)):
        raise _refusal(
            "usermod", f"group '{group}' does not exist", [("gid", group), ("group", group)]
        )
    owner = _owner_of(_value(options, "-u"))
    if owner not in (None, name) and "-o" not in options:
        number = _value(options, "-u")
        raise _refusal("usermod", f"UID '{number}' already exists", [("no user", str(owner))])
    if {"-u", "-d", "-l"} & set(options):
        _refuse_busy("usermod: ", name)


def refuse_userdel(name: str, *options: str) -> None:
    """Raise CommandFailed for a user that userdel would not delete."""
    if not _busybox.stands_in() and "-f" not in options:
        _refuse_busy("userdel: ", name, AT_WORK)


AT_WORK = " (let it end, or say `force: True`)"


def refuse_groupadd(name: str, *options: str) -> None:
    """Raise CommandFailed for a group that groupadd would not add."""
    if _busybox.stands_in():
        return
    if len(name) > LONGEST:
        raise _refusal("groupadd: groupadd", f"'{name}' is not a valid group name")
    _refuse_number("groupadd: groupadd", "group", _value(options, "-g"))


def refuse_groupdel(name: str) -> None:
    """Raise CommandFailed for a group that groupdel would not delete: it is the first of a user."""
    group = _accounts.groups().get(name)
    number = group.gr_gid if group else None
    user = next(
        (user.pw_name for user in _accounts.users().values() if user.pw_gid == number), None
    )
    if user and not _busybox.stands_in():
        raise _refusal(
            "groupdel: groupdel",
            f"cannot remove the primary group of user '{user}'",
            [("no user", user)],
        )


def _refusal(program: str, reason: str, missing: Sequence[Fact] | None = None) -> CommandFailed:
    return CommandFailed(f"{program}: {reason}", missing=missing)


def _value(options: Sequence[str], option: str) -> str | None:
    return options[options.index(option) + 1] if option in options[:-1] else None


def _refuse_number(program: str, kind: str, number: str | None) -> None:
    if number is not None and not 0 <= int(number) <= LARGEST:
        raise _refusal(program, f"invalid {kind} ID '{number}'")


def _refuse_fields(program: str, options: Sequence[str]) -> None:
    """Refuse what cannot be a field of /etc/passwd; the first of the options is named."""
    for option, value in itertools.pairwise(options):
        if option == "-u":
            _refuse_number(program, "user", value)
        elif option == "-c" and ":" in value:
            raise _refusal(program, f"invalid comment '{value}'")
        elif option == "-d" and (":" in value or not value.startswith("/")):
            raise _refusal(program, _no_home(program, value))
        elif option == "-s" and (":" in value or value[:1] not in ("", "/", "*")):
            raise _refusal(program, f"invalid shell '{value}'")


def _no_home(program: str, path: str) -> str:
    if program == "useradd":
        return f"invalid home directory '{path}'"
    return f"invalid field '{path}'" if ":" in path else "homedir must be an absolute path"


def _group_of(number: int) -> str:
    return next(
        (group.gr_name for group in _accounts.groups().values() if group.gr_gid == number), ""
    )


def _owner_of(number: str | None) -> str | None:
    """The user who has a number."""
    if number is None:
        return None
    return next(
        (user.pw_name for user in _accounts.users().values() if user.pw_uid == int(number)), None
    )


def _refuse_busy(program: str, name: str, hint: str = "") -> None:
    user = _accounts.users().get(name)
    number = user.pw_uid if user else None
    process = next((pid for pid, uids in _processes() if number in uids), None)
    if process is not None:
        raise CommandFailed(
            f"{program}user {name} is currently used by process {process}{hint}",
            missing=[("processes", "ended"), ("check", "processes")],
        )


def _processes() -> Iterator[tuple[int, list[int]]]:
    """The processes with their real, effective and saved users."""
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
                uids = next(line.split()[1:4] for line in status if line.startswith("Uid:"))
        except (OSError, StopIteration):
            continue
        yield pid, [int(uid) for uid in uids]
