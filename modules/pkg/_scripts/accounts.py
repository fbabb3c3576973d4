# SPDX-License-Identifier: Apache-2.0
"""Commands of maintainer scripts that make accounts of the planned machine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from modules import _accounts, _paths, file
from modules._accounts.provider import provider
from modules._accounts.values import Account, Group
from modules._texts.shell import Unread
from modules.pkg._scripts.known import Told, entry_of, known, options, read

FIRST_SYSTEM, LAST_SYSTEM = 100, 999  # numbers that adduser gives to system accounts


def _free(is_free: Callable[[int], bool]) -> int:
    number = next(filter(is_free, range(FIRST_SYSTEM, LAST_SYSTEM + 1)), None)
    if number is None or (
        _paths.exists("/etc/adduser.conf")
        and re.search(r"(?m)^\s*(FIRST|LAST)_SYSTEM_", read("/etc/adduser.conf") or "")
    ):
        raise Unread("adduser")
    return number


def _numbers(is_group: bool) -> set[int]:
    return {each[2] for each in (_accounts.groups if is_group else _accounts.users)().values()}


ADDUSER: tuple[str, ...] = (
    "--system",
    "--quiet",
    "--group",
    "--no-create-home",
    "--disabled-password",
    "--force",
)
ADDUSER += ("--disabled-login", "--force-badname", "--allow-badname", "--allow-bad-names")
ADDUSER_VALUES = ("--home", "--shell", "--gecos", "--ingroup", "--gid", "--uid", "--comment")


# busybox has letters for these
LETTERS = {"-S": "--system", "-D": "--disabled-password", "-H": "--no-create-home"}
LETTERS |= {"-h": "--home", "-s": "--shell", "-G": "--ingroup", "-u": "--uid", "-g": "--gecos"}


@known("adduser", "addgroup", of_names=True)
def _adduser(words: list[str], text: str | None) -> Told:
    words = [LETTERS.get(word, word) for word in words]
    given, values, names = options(words, ADDUSER, ADDUSER_VALUES)
    if len(names) == 2 and "--system" not in given and not values:
        return _join(names[0], names[1])
    if len(names) != 1 or "--system" not in given:
        raise Unread("adduser")
    name = names[0]
    if entry_of(name) is not None:
        return 0
    makes_group = "--group" in given
    used = _numbers(is_group=False)
    uid = int(values["--uid"]) if "--uid" in values else _free(lambda number: number not in used)
    gid: int | str = values.get("--ingroup") or values.get("--gid") or 65534
    if makes_group and entry_of(name, is_group=True) is not None:
        gid = name
    elif makes_group:
        groups = _numbers(is_group=True)
        gid = uid if "--uid" in values else _free(lambda number: number not in groups)
        provider().groupadd(Group(name, gid=gid, system=True))
    home = values.get("--home", "/nonexistent")
    gecos = values.get("--gecos", values.get("--comment", ""))
    shell = values.get("--shell", "/usr/sbin/nologin")
    account = Account(name, uid=uid, gid=gid, gecos=gecos, home=home, shell=shell, system=True)
    provider().useradd(account)
    if "--no-create-home" not in given and home != "/nonexistent" and not _paths.lexists(home):
        file.makedirs(os.path.dirname(home), mode="0755")
        file.mkdir(home, mode="0755", user=uid, group=gid)
    return 0


@known("addgroup", of_names=True)
def _addgroup(words: list[str], text: str | None) -> Told:
    letters = LETTERS | {"-g": "--gid"}
    given, values, names = options([letters.get(word, word) for word in words], ADDUSER, ("--gid",))
    if len(names) == 2 and not given and not values:
        return _join(names[0], names[1])
    if len(names) != 1 or "--system" not in given:
        raise Unread("addgroup")
    if entry_of(names[0], is_group=True) is None:
        used = _numbers(is_group=True)
        gid = int(values["--gid"]) if "--gid" in values else _free(lambda gid: gid not in used)
        provider().groupadd(Group(names[0], gid=gid, system=True))
    return 0


def _join(user: str, group: str) -> int:
    entry = _accounts.group(group) if entry_of(group, is_group=True) else None
    if entry is None or entry_of(user) is None:
        return 1
    if user not in entry.gr_mem:
        provider().member(group, user, True)
    return 0


@known("useradd", of_names=True)
def _useradd(words: list[str], text: str | None) -> Told:
    flags: tuple[str, ...] = (
        "-r",
        "--system",
        "-M",
        "--no-create-home",
        "-m",
        "--create-home",
        "-N",
        "-U",
    )
    flags += ("--no-user-group", "--user-group", "-o", "--no-log-init", "-l")
    pairs = {"-d": "--home-dir", "-s": "--shell", "-g": "--gid", "-u": "--uid", "-c": "--comment"}
    pairs |= {"-G": "--groups"}
    given, values, names = options(words, flags, (*pairs, *pairs.values(), "--home"))
    if len(names) != 1:
        raise Unread("useradd")
    said = {short: values.get(short, values.get(long)) for short, long in pairs.items()}
    if entry_of(names[0]) is not None:
        return 9
    own = given & {"-U", "--user-group"}
    uid, groups = said["-u"], said["-G"]
    account = Account(
        names[0],
        uid=int(uid) if uid else None,
        gid=said["-g"],
        gecos=said["-c"],
        home=said["-d"] or values.get("--home"),
        shell=said["-s"],
        groups=groups.split(",") if groups else None,
        with_home=bool(given & {"-m", "--create-home"}),
        own_group=True if own else False if given & {"-N", "--no-user-group"} else None,
        system=bool(given & {"-r", "--system"}),
    )
    provider().useradd(account)
    return 0


@known("groupadd", of_names=True)
def _groupadd(words: list[str], text: str | None) -> Told:
    flags = ("-r", "--system", "-f", "--force")
    given, values, names = options(words, flags, ("-g", "--gid"))
    if len(names) != 1:
        raise Unread("groupadd")
    if entry_of(names[0], is_group=True) is not None:
        return 0 if given & {"-f", "--force"} else 9
    gid = values.get("-g", values.get("--gid"))
    is_system = bool(given & {"-r", "--system"})
    provider().groupadd(Group(names[0], gid=int(gid) if gid else None, system=is_system))
    return 0


@known("usermod", "gpasswd", of_names=True)
def _usermod(words: list[str], text: str | None) -> Told:
    given, values, names = options(words, ("-a", "--append"), ("-G", "--groups"))
    groups = values.get("-G", values.get("--groups", ""))
    if not given or not groups or len(names) != 1:
        raise Unread("usermod")
    return max(_join(names[0], group) for group in groups.split(","))
