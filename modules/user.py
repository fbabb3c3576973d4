# SPDX-License-Identifier: Apache-2.0
"""Users: how to look at them, and useradd, usermod, userdel to change them."""

from __future__ import annotations

import os

from modules import _accounts, _paths, file, group, shadow
from modules._accounts import busybox, values
from modules._accounts.provider import are_of_busybox, provider
from modules._accounts.shadow_utils import run
from modules._accounts.values import Account as Account
from modules._accounts.values import Ranges as Ranges
from modules._machine.processes import attempt
from modules._texts.lines import plain_name
from modules.file import _snapshot
from runner.api import CommandFailed, FormerState, changer, for_states
from runner.api.offline import is_offline, offline_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

GECOS = ("fullname", "roomnumber", "workphone", "homephone", "other")
# what useradd cannot give a new user: the days of shadow and of the arguments for them, numbers
ADDED_LATER = tuple(
    "min max inact warn expire subuids subgids date mindays maxdays inactdays warndays".split()
)
LINGERING = "/var/lib/systemd/linger"
process_of = for_states(_accounts.process_of)


def list_users() -> list[str]:
    """The names of all users, sorted."""
    return sorted(_accounts.users())


def list_groups(name: str) -> list[str]:
    """The names of the groups that a user is in, the primary one included, sorted."""
    user = _accounts.found(_accounts.listed_user, name)
    first = [] if user is None else _accounts.groups_of_number(user.pw_gid)
    return sorted({*first, *_accounts.groups_with(name)})


def info(name: str) -> dict[str, Any]:
    """The entry of a user; empty when there is none.

    {{ salt['user.info']('www-data').home }}
    """
    user = _accounts.found(_accounts.listed_user, name)
    if user is None:
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
    return values.makes_groups()


@for_states
def group_of_new(account: Account) -> str:
    """The name of the primary group that useradd gives a new user."""
    group = account.primary_group
    entry = _accounts.found(_accounts.group_of, int(group)) if group.isdigit() else None
    return entry.gr_name if entry else group


@for_states
def gecos_field(parts: Mapping[str, Any]) -> str:
    """The GECOS field of its parts."""
    return ",".join(str(parts.get(part, "")) for part in GECOS).rstrip(",")


def primary_group(name: str) -> str:
    """The name of a user's primary group; empty when there is none."""
    return _accounts.primary_group(name)


def subordinate(kind: str, name: str) -> list[str]:
    """The ranges of numbers, FIRST-LAST, that a user may give out. kind: subuids or subgids."""
    lines = _accounts.lines_of(f"/etc/{kind.removesuffix('s')}", name)
    entries = (line.split(":") for line in lines)
    return [
        f"{entry[1]}-{int(entry[1]) + int(entry[2]) - 1}"
        for entry in entries
        if len(entry) == 3 and entry[1].isdigit() and entry[2].isdigit()
    ]


def can_linger() -> bool:
    """Return whether systemd runs this machine, or is to run it."""
    return file.is_dir("/run/systemd/system") or (
        is_offline() and _paths.isdir("/usr/lib/systemd/system")
    )


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
    entry = _accounts.found(_accounts.listed_user, name)
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


def _before_useradd(account: Account) -> dict[str, Any]:
    """The home folder that useradd may make from the skeleton, the group and the user."""
    name = account.name
    home = values.home_of(name) if account.home is None else account.home
    made = _snapshot.missing_folders(home)
    skeleton = values.skeleton() if made else ""
    paths = [values.spool(name), *(f"{home}/{path}" for path in _below(skeleton))]
    made += [{"path": path, "type": "none"} for path in paths if not file.lexists(path)]
    return {"several": [*made, group.former_state(name), former_state(name)]}


def _before_usermod(account: Account) -> dict[str, Any] | None:
    """The user, and the home folder where it moves. A new name is nothing that undo can restore."""
    if account.new_name is not None:
        return None
    present = info(account.name)
    moved = []
    if account.with_home and account.home is not None and present:
        moved = [{"path": present["home"], "type": "moved", "target": account.home}]
    return {"several": [*moved, former_state(account.name)]}


def _before_userdel(name: str, home: bool = False, force: bool = False) -> dict[str, Any]:
    """The home folder with all that it holds where it goes, too; the password, the user, and the
    group that goes with it.
    """
    account = info(name)
    paths = [account["home"], values.spool(name)] if account and home else []
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


def _mark_lingering(name: str, linger: bool) -> None:
    """Do what loginctl does, which needs a system that runs."""
    path = f"{LINGERING}/{name}"
    if not linger:
        file.remove(path)
    elif not file.lexists(path):
        file.makedirs(LINGERING, mode="0755")
        file.mknod(path, "f", mode="0644")


@changer(
    touches=["users"],
    before=lambda name, linger: FormerState("lingering", name, {"linger": lingers(name)}),
    planned=_mark_lingering,
)
@offline_as(_mark_lingering)
def set_linger(name: str, linger: bool) -> None:
    """Have a user's services run without a login, or not. Raises CommandFailed."""
    user, way = plain_name(name, "the user's name"), "enable" if linger else "disable"
    run(["loginctl", f"{way}-linger", "--", user], names_itself=True)


@for_states
@changer(touches=["users", "groups"], before=_before_useradd, planned=True)
def useradd(account: Account) -> None:
    """Add a user. Raises CommandFailed."""
    plain_name(account.name, "the user's name")
    provider().useradd(account)


@for_states
@changer(touches=["users", "groups"], before=_before_usermod, planned=True)
def usermod(account: Account) -> None:
    """Change a user. Raises CommandFailed."""
    plain_name(account.name, "the user's name")
    provider().usermod(account)


@for_states
def refuse_impossible(existing: bool, asked: Iterable[str]) -> None:
    """Raise CommandFailed for what takes usermod or chage where busybox stands in for them.

    existing: the user is there. asked: what is to be changed, by the names of arguments and of
    changes; other names are passed over.
    """
    if not are_of_busybox():
        return
    for key in asked:
        if key in ADDED_LATER or (existing and key in (*GECOS, "uid", "gid", "home", "shell")):
            raise busybox.refusal(f"{key} of a user")


@for_states
@changer(touches=["users", "groups"], before=_before_userdel, planned=True)
def userdel(name: str, home: bool = False, force: bool = False) -> None:
    """Delete a user. home: the home folder and the mail, too. force: though the user is at work.
    Raises CommandFailed.
    """
    provider().userdel(plain_name(name, "the user's name"), home, force)


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
    parts = (fullname, roomnumber, workphone, homephone, other)
    account = Account(
        name,
        uid=uid,
        gid=None if gid == "" else gid,
        gecos=gecos_field(dict(zip(GECOS, parts, strict=True))) or None,
        home=home or None,
        shell=shell or None,
        groups=_names(groups) or None,
        with_home=createhome,
        own_group=usergroup,
        unique=unique,
        system=system,
    )
    return attempt(useradd, account)


def delete(name: str, remove: bool = False, force: bool = False, **_: Any) -> bool:
    """Delete a user; whether it was done. remove: its home folder, too. force: though the user is
    at work.
    """
    return attempt(userdel, name, remove, force)


def chuid(name: str, uid: int, **_: Any) -> bool:
    """Change a user's number."""
    return _change(name, "uid", int(uid), Account(name, uid=int(uid)))


def chgid(name: str, gid: int | str, **_: Any) -> bool:
    """Change a user's primary group: its number or its name."""
    groups = _accounts.groups()
    number = (
        groups[str(gid)].gr_gid if str(gid) in groups else int(gid) if str(gid).isdigit() else -1
    )
    return _change(name, "gid", number, Account(name, gid=gid))


def chshell(name: str, shell: str, **_: Any) -> bool:
    """Change a user's shell.

    zoe:
      module.run:
        - user.chshell:
          - zoe
          - /bin/bash
    """
    return _change(name, "shell", shell, Account(name, shell=shell))


def chhome(name: str, home: str, persist: bool = False, **_: Any) -> bool:
    """Change a user's home folder. persist: move what is in it."""
    return _change(name, "home", home, Account(name, home=home, with_home=persist))


def chfullname(name: str, fullname: str, **_: Any) -> bool:
    """Change a user's full name."""
    gecos = gecos_field(_account_of(name) | {"fullname": fullname})
    return _change(name, "fullname", str(fullname), Account(name, gecos=gecos))


def chgroups(name: str, groups: str | Sequence[str], append: bool = False, **_: Any) -> bool:
    """Change the groups that a user is in beyond the primary one. append: add to them."""
    wanted = set(_names(groups))
    present_groups = set(_account_of(name)["groups"]) - {primary_group(name)}
    if wanted - {primary_group(name)} <= present_groups if append else wanted == present_groups:
        return True
    return attempt(usermod, Account(name, groups=sorted(wanted), appends=append))


def rename(name: str, new_name: str, **_: Any) -> bool:
    """Give a user another name. Raises CommandFailed when the new name is taken."""
    _account_of(name)
    if info(new_name):
        raise CommandFailed(f"User '{new_name}' already exists")
    usermod(Account(name, new_name=new_name))
    return True


def _names(groups: str | Sequence[str] | None) -> list[str]:
    names = groups.split(",") if isinstance(groups, str) else groups or ()
    return [str(name).strip() for name in names if str(name).strip()]


def _account_of(name: str) -> dict[str, Any]:
    account = info(name)
    if not account:
        raise CommandFailed(f"User '{name}' does not exist")
    return account


def _change(name: str, what: str, wanted: object, account: Account) -> bool:
    if _account_of(name)[what] != wanted:
        usermod(account)
    return bool(info(name)[what] == wanted)
