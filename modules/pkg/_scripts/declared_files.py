# SPDX-License-Identifier: Apache-2.0
"""What sysusers.d and tmpfiles.d declare, carried out on the planned machine."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from modules import _accounts, _paths, file
from modules._accounts.provider import provider
from modules._accounts.values import Account, Group
from modules._planned.overlay import is_planned
from modules._texts.shell import Unread

PLACES = ("/etc", "/run", "/usr/local/lib", "/usr/lib")
FOLDER_KINDS, FILE_KINDS = frozenset("dDvqQe"), frozenset("fF")


def planned(kind: str) -> list[str]:
    """The files below KIND.d that are planned: what others declare is there."""
    paths = [path for place in PLACES for path in _paths.glob(f"{place}/{kind}.d/*.conf")]
    return sorted({os.path.basename(path) for path in paths if is_planned(path)})


def declared(kind: str, names: Sequence[str]) -> list[list[str]]:
    """The lines of files below KIND.d, in words. Raises Unread."""
    lines: list[list[str]] = []
    for name in names:
        places = [name] if name.startswith("/") else [f"{each}/{kind}.d/{name}" for each in PLACES]
        path = next(filter(_paths.isfile, places), "")
        if not path:
            raise Unread(name)
        with _paths.open_text(path, "utf-8", "surrogateescape") as stream:
            for line in stream:
                if line.strip() and not line.lstrip().startswith("#"):
                    lines.append(shlex.split(line))
    return lines


def make_files(names: Sequence[str]) -> None:
    """Plan what systemd-tmpfiles --create makes of files of tmpfiles.d. Raises Unread."""
    for words in declared("tmpfiles", names):
        kind, path, mode, user, group, _, *rest = [*words, *["-"] * (6 - len(words))]
        letter = kind.rstrip("+!-=~^$")
        if "!" in kind or letter in ("x", "X", "r", "R", "t", "T", "h", "H", "a", "A"):
            continue
        argument = " ".join(rest)
        if "%" in path + argument.replace("%%", "") or path.startswith(("/dev/", "/sys/")):
            raise Unread(f"{kind} {path}")
        owner = _owner(user), _owner(group)
        plain_mode = mode.lstrip("~:")
        if letter in FOLDER_KINDS:
            if letter != "e" or _paths.isdir(path):
                _make_folder(path, plain_mode, owner, is_new_only=mode.startswith(":"))
        elif letter in FILE_KINDS:
            if not _paths.lexists(path) or "+" in kind:
                _own_above(path)
                text = "" if argument == "-" else argument
                file.write(path, text.encode(), mode="0644", user=0, group=0)
                _set(path, plain_mode, owner)
        elif letter == "L":
            if not _paths.lexists(path) or "+" in kind:
                _own_above(path)
                file.put_symlink(argument or f"/usr/share/factory{path}", path, 0, 0)
        elif letter in ("z", "m") and not re.search(r"[*?\[]", path):
            if _paths.lexists(path):
                _set(path, plain_mode, owner)
        else:
            raise Unread(f"{kind} {path}")


def _owner(name: str) -> str | int | None:
    plain = name.lstrip(":")
    return None if plain in ("-", "") else int(plain) if plain.isdigit() else plain


def _own_above(path: str) -> None:
    file.makedirs(os.path.dirname(path.rstrip("/")), mode="0755")


def _make_folder(
    path: str, mode: str, owner: tuple[str | int | None, str | int | None], is_new_only: bool
) -> None:
    if not _paths.isdir(path):
        _own_above(path)
        file.mkdir(path, mode="0755", user=0, group=0)
    elif is_new_only:
        return
    _set(path, mode, owner)


def _set(path: str, mode: str, owner: tuple[str | int | None, str | int | None]) -> None:
    if owner != (None, None):
        file.chown(path, *owner)
    if mode != "-":
        file.set_mode(path, mode.zfill(4))


def make_accounts(names: Sequence[str]) -> None:
    """Plan what systemd-sysusers makes of files of sysusers.d. Raises Unread."""
    users, groups = _numbers(_accounts.users()), _numbers(_accounts.groups())
    used = {*users.values(), *groups.values()}

    def add_group(name: str, gid: int | None) -> None:
        groups[name] = _free_number(used) if gid is None else gid
        used.add(groups[name])
        provider().groupadd(Group(name, gid=groups[name], system=True))

    for words in declared("sysusers", names):
        kind, name, number, gecos, home, shell = [*words, *["-"] * (6 - len(words))][:6]
        if "%" in name or number.startswith("/"):
            raise Unread(f"{kind} {name}")
        uid, _, group = number.partition(":")
        given = int(uid) if uid.isdigit() else None
        if kind == "g" and name not in groups:
            add_group(name, given)
        elif kind in ("u", "u!") and name not in users:
            if not group and name not in groups:
                add_group(name, given)
            if given is None:
                own = None if group else groups[name]
                given = _free_number(used) if own is None or own in users.values() else own
            users[name] = given
            used.add(given)
            provider().useradd(
                Account(
                    name,
                    uid=given,
                    gid=group or name,
                    gecos="" if gecos == "-" else gecos,
                    home="/" if home == "-" else home,
                    shell="/usr/sbin/nologin" if shell == "-" else shell,
                    own_group=False,
                    system=True,
                )
            )
        elif kind == "m" and name not in _accounts.group(number).gr_mem:
            provider().member(number, name, True)


LAST_SYSTEM = 999  # the number that the first account gets, if it is free


def _free_number(used: Collection[int]) -> int:
    """The highest number of the system's that neither a user nor a group has."""
    free = (number for number in range(LAST_SYSTEM, 0, -1) if number not in used)
    number = next(free, 0)
    if not number:
        raise Unread("accounts: no number of the system's is free")
    return number


def _numbers(accounts: Mapping[str, Sequence[Any]]) -> dict[str, int]:
    return {name: entry[2] for name, entry in accounts.items()}
