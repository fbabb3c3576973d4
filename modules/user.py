# SPDX-License-Identifier: Apache-2.0
"""Users: how to look at them, and useradd, usermod, userdel to change them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from modules import (
    _account_defaults,
    _account_refusals,
    _accounts,
    _busybox,
    _paths,
    _planned_accounts,
    cmd,
    file,
)
from modules._lines import one_line, plain_name
from modules._processes import attempt
from runner.api import (
    CommandFailed,
    FormerState,
    changer,
    for_states,
)

GECOS = ("fullname", "roomnumber", "workphone", "homephone", "other")
# what useradd cannot give a new user: the days of shadow and of the arguments for them, numbers
ADDED_LATER = (
    *("min", "max", "inact", "warn", "expire", "subuids", "subgids"),
    *("date", "mindays", "maxdays", "inactdays", "warndays"),
)
LINGERING = "/var/lib/systemd/linger"


def list_users() -> list[str]:
    """The names of all users, sorted."""
    return sorted(_accounts.users())


def list_groups(name: str) -> list[str]:
    """The names of the groups that a user is in, the primary one included, sorted."""
    user = _accounts.users().get(name)
    groups = _accounts.groups().values()
    names = {group.gr_name for group in groups if name in group.gr_mem}
    if user is not None:
        names |= {group.gr_name for group in groups if group.gr_gid == user.pw_gid}
    return sorted(names)


def info(name: str) -> dict[str, Any]:
    """The entry of a user; empty when there is none.

    {{ salt['user.info']('www-data').home }}
    """
    try:
        user = _accounts.user(name)
    except KeyError:
        return {}
    parts = [*user.pw_gecos.split(",", 4), "", "", "", "", ""]
    return {
        "gid": user.pw_gid,
        "groups": list_groups(name),
        "home": user.pw_dir,
        "name": user.pw_name,
        "passwd": user.pw_passwd,
        "shell": user.pw_shell,
        "uid": user.pw_uid,
        **dict(zip(GECOS, parts, strict=False)),
    }


def getent() -> list[dict[str, Any]]:
    """The entries of all users."""
    return [info(name) for name in list_users()]


def makes_groups() -> bool:
    """Return whether useradd makes a group of the name of each new user (USERGROUPS_ENAB of
    /etc/login.defs).
    """
    return _account_defaults.makes_groups()


@for_states
def group_of_new(name: str, *options: str) -> str:
    """The name of the primary group that useradd gives a new user with these options."""
    group = _account_defaults.primary_group(name, options)
    numbers = {str(entry.gr_gid): entry.gr_name for entry in _accounts.groups().values()}
    return numbers.get(group, group)


def primary_group(name: str) -> str:
    """The name of a user's primary group; empty when there is none."""
    user = _accounts.users().get(name)
    names = [
        group.gr_name
        for group in _accounts.groups().values()
        if user is not None and group.gr_gid == user.pw_gid
    ]
    return names[0] if names else ""


def subordinate(kind: str, name: str) -> list[str]:
    """The ranges of numbers, FIRST-LAST, that a user may give out. kind: subuids or subgids."""
    path = f"/etc/{kind.removesuffix('s')}"
    lines = file.read_bytes(path).decode("utf-8", "replace") if file.is_file(path) else ""
    entries = (line.split(":") for line in lines.splitlines())
    return [
        f"{entry[1]}-{int(entry[1]) + int(entry[2]) - 1}"
        for entry in entries
        if len(entry) == 3 and entry[0] == name and entry[1].isdigit() and entry[2].isdigit()
    ]


def can_linger() -> bool:
    """Return whether systemd runs this machine."""
    return file.is_dir("/run/systemd/system")


def lingers(name: str) -> bool:
    """Return whether a user's services run without a login."""
    return file.lexists(f"{LINGERING}/{name}")


@for_states
def own_name() -> str:
    """The name of who runs this; empty without an account, as in a container."""
    return _accounts.own_name()


@for_states
def former_state(name: str) -> FormerState:
    """A user as undo restores it; without its password, which is the module shadow's."""
    entry = _accounts.users().get(name)
    state = (
        {}
        if entry is None
        else {
            "uid": entry.pw_uid,
            "gid": entry.pw_gid,
            "gecos": entry.pw_gecos,
            "home": entry.pw_dir,
            "shell": entry.pw_shell,
            "groups": [group for group in list_groups(name) if group != primary_group(name)],
            "subuids": subordinate("subuids", name),
            "subgids": subordinate("subgids", name),
        }
    )
    return FormerState("user", name, state)


def _before_useradd(name: str, *options: str) -> dict[str, Any]:
    """The home folder that useradd may make from the skeleton, the group and the user."""
    from modules import group
    from modules.file._snapshot import missing_folders

    words = [*options, ""]
    home = words[words.index("-d") + 1] if "-d" in options else _account_defaults.home(name)
    made = missing_folders(home)
    skeleton = _account_defaults.skeleton() if made else ""
    paths = [_account_defaults.spool(name), *(f"{home}/{path}" for path in _below(skeleton))]
    made += [{"path": path, "type": "none"} for path in paths if not file.lexists(path)]
    return {"several": [*made, group.former_state(name), former_state(name)]}


def _before_usermod(name: str, *options: str) -> dict[str, Any] | None:
    """The user, and the home folder where it moves. A new name is nothing that undo can restore."""
    if "-l" in options:
        return None
    account = info(name)
    moved = []
    if "-m" in options and "-d" in options and account:
        target = options[options.index("-d") + 1]
        moved = [{"path": account["home"], "type": "moved", "target": target}]
    return {"several": [*moved, former_state(name)]}


def _before_userdel(name: str, *options: str) -> dict[str, Any]:
    """The home folder with all that it holds where it goes, too; the password, the user, and the
    group that goes with it.
    """
    from modules import group, shadow

    account = info(name)
    paths = [account["home"], _account_defaults.spool(name)] if account and "-r" in options else []
    removed = [
        {"path": path, "type": "dir" if file.is_dir(path) else "file", "removed": True}
        for path in paths
        if file.lexists(path)
    ]
    states = [shadow.former_state(name), former_state(name), group.former_state(name)]
    return {"several": [*removed, *states]}


def _below(folder: str) -> list[str]:
    """The paths below a folder, relative to it; each folder before what it holds."""
    found = []
    for root, folders, names in _paths.walk(folder):
        inner = os.path.relpath(root, folder)
        found += [os.path.normpath(os.path.join(inner, name)) for name in (*folders, *names)]
    return found


@changer(
    touches=["users"],
    before=lambda name, linger: FormerState("lingering", name, {"linger": lingers(name)}),
    planned=_planned_accounts.set_linger,
)
def set_linger(name: str, linger: bool) -> None:
    """Have a user's services run without a login, or not. Raises CommandFailed."""
    _run(
        "loginctl",
        f"{'enable' if linger else 'disable'}-linger",
        "--",
        plain_name(name, "the user's name"),
    )


@changer(touches=["users", "groups"], before=_before_useradd, planned=_planned_accounts.useradd)
def useradd(name: str, *options: str) -> None:
    """Add a user with useradd's options."""
    plain_name(name, "the user's name")
    _run_all(
        _busybox.useradd(name, options)
        if _busybox.stands_in()
        else [["useradd", *options, "--", name]]
    )


@changer(touches=["users", "groups"], before=_before_usermod, planned=_planned_accounts.usermod)
def usermod(name: str, *options: str) -> None:
    """Change a user with usermod's options."""
    plain_name(name, "the user's name")
    _run_all(
        _busybox.usermod(name, options)
        if _busybox.stands_in()
        else [["usermod", *options, "--", name]]
    )


@for_states
def refuse_impossible(existing: bool, asked: Iterable[str]) -> None:
    """Raise CommandFailed for what takes usermod or chage where busybox stands in for them.

    existing: the user is there. asked: what is to be changed, by the names of arguments and of
    changes; other names are passed over.
    """
    if not _busybox.stands_in():
        return
    for key in asked:
        if key in ADDED_LATER or (existing and key in (*GECOS, "uid", "gid", "home", "shell")):
            _busybox.refuse(f"{key} of a user")


@changer(touches=["users", "groups"], before=_before_userdel, planned=_planned_accounts.userdel)
def userdel(name: str, *options: str) -> None:
    """Delete a user with userdel's options. Raises CommandFailed when it fails."""
    plain_name(name, "the user's name")
    busybox = _busybox.userdel(name, options) if _busybox.stands_in() else None
    done = cmd.probe(busybox or ["userdel", *options, "--", name])
    if done.retcode not in (0, 12):  # 12: the home folder was not there
        hint = _account_refusals.AT_WORK if done.retcode == 8 else ""
        raise CommandFailed(done.stderr.strip() + hint)


def _run_all(lines: Sequence[Sequence[str]]) -> None:
    for line in lines:
        _run(*line)


def _run(*argv: str) -> None:
    done = cmd.probe([one_line(word, argv[0]) for word in argv])
    if done.retcode:
        raise CommandFailed((done.error_text or f"{argv[0]} failed").splitlines()[0])


# ---------------------------------------------------------------- Salt's functions


def add(
    name: str,
    uid: int | None = None,
    gid: int | str | None = None,
    groups: str | Sequence[str] | None = None,
    home: str | None = None,
    shell: str | None = None,
    unique: bool = True,
    system: bool = False,
    fullname: str = "",
    roomnumber: str = "",
    workphone: str = "",
    homephone: str = "",
    other: str = "",
    createhome: bool = True,
    usergroup: bool | None = None,
    **_: Any,
) -> bool:
    """Add a user; whether it was done.

    groups: further groups. unique: refuse a uid that is taken. usergroup: with (or without) a group
    of its name.
    """
    if home and createhome:
        file.real_path(home)  # through no link of somebody else
    gecos = ",".join([fullname, roomnumber, workphone, homephone, other]).rstrip(",")
    settings = {
        "-u": uid,
        "-g": gid,
        "-G": ",".join(_names(groups)),
        "-d": home,
        "-s": shell,
        "-c": gecos,
    }
    options = [
        word
        for key, value in settings.items()
        if value not in (None, "")
        for word in (key, str(value))
    ]
    options += [] if unique or uid is None else ["-o"]
    options += ["-r"] if system else []
    options += ["-m" if createhome else "-M"]
    options += [] if usergroup is None else ["-U" if usergroup else "-N"]
    return attempt(useradd, name, *options)


def delete(name: str, remove: bool = False, force: bool = False, **_: Any) -> bool:
    """Delete a user; whether it was done. remove: its home folder, too. force: though the user is
    at work.
    """
    return attempt(userdel, name, *(["-r"] if remove else []), *(["-f"] if force else []))


def chuid(name: str, uid: int, **_: Any) -> bool:
    """Change a user's number."""
    return _change(name, "uid", int(uid), "-u", str(uid))


def chgid(name: str, gid: int | str, **_: Any) -> bool:
    """Change a user's primary group: its number or its name."""
    groups = _accounts.groups()
    number = (
        groups[str(gid)].gr_gid if str(gid) in groups else int(gid) if str(gid).isdigit() else -1
    )
    return _change(name, "gid", number, "-g", str(gid))


def chshell(name: str, shell: str, **_: Any) -> bool:
    """Change a user's shell.

    zoe:
      module.run:
        - user.chshell:
          - zoe
          - /bin/bash
    """
    return _change(name, "shell", shell, "-s", shell)


def chhome(name: str, home: str, persist: bool = False, **_: Any) -> bool:
    """Change a user's home folder. persist: move what is in it."""
    return _change(name, "home", home, "-d", home, *(["-m"] if persist else []))


def chfullname(name: str, fullname: str, **_: Any) -> bool:
    """Change a user's full name."""
    account = _account_of(name)
    gecos = ",".join([str(fullname), *(str(account[part]) for part in GECOS[1:])]).rstrip(",")
    return _change(name, "fullname", str(fullname), "-c", gecos)


def chgroups(name: str, groups: str | Sequence[str], append: bool = False, **_: Any) -> bool:
    """Change the groups that a user is in beyond the primary one. append: add to them."""
    wanted = set(_names(groups))
    present_groups = set(_account_of(name)["groups"]) - {primary_group(name)}
    if wanted - {primary_group(name)} <= present_groups if append else wanted == present_groups:
        return True
    return attempt(usermod, name, "-G", ",".join(sorted(wanted)), *(["-a"] if append else []))


def rename(name: str, new_name: str, **_: Any) -> bool:
    """Give a user another name. Raises CommandFailed when the new name is taken."""
    _account_of(name)
    if info(new_name):
        raise CommandFailed(f"User '{new_name}' already exists")
    usermod(name, "-l", new_name)
    return True


def _names(groups: str | Sequence[str] | None) -> list[str]:
    names = groups.split(",") if isinstance(groups, str) else groups or ()
    return [str(name).strip() for name in names if str(name).strip()]


def _account_of(name: str) -> dict[str, Any]:
    account = info(name)
    if not account:
        raise CommandFailed(f"User '{name}' does not exist")
    return account


def _change(name: str, what: str, wanted: object, *options: str) -> bool:
    if _account_of(name)[what] != wanted:
        usermod(name, *options)
    return bool(info(name)[what] == wanted)
