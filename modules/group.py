# SPDX-License-Identifier: Apache-2.0
"""Groups: how to look at them, and groupadd, groupmod, groupdel, gpasswd to change them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modules import _accounts, _busybox, _planned_accounts, cmd
from modules._lines import plain_name
from modules._processes import attempt
from runner.api import (
    CommandFailed,
    FormerState,
    changer,
    for_states,
)


def info(name: str) -> dict[str, Any]:
    """The entry of a group; empty when there is none.

    {{ salt['group.info']('sudo').members }}
    """
    try:
        entry = _accounts.group(name)
    except KeyError:
        return {}
    return {
        "name": entry.gr_name,
        "passwd": entry.gr_passwd,
        "gid": entry.gr_gid,
        "members": list(entry.gr_mem),
    }


def getent(refresh: bool = False) -> list[dict[str, Any]]:
    """The entries of all groups."""
    return [info(name) for name in sorted(_accounts.groups())]


@for_states
def former_state(name: str, *_: str) -> FormerState:
    """A group as undo restores it."""
    entry = _accounts.groups().get(name)
    state = {} if entry is None else {"gid": entry.gr_gid, "members": sorted(entry.gr_mem)}
    return FormerState("group", name, state)


@changer(touches=["groups"], before=former_state, planned=_planned_accounts.groupadd)
def groupadd(name: str, *options: str) -> None:
    """Add a group with groupadd's options."""
    if _busybox.stands_in():
        _run(*_busybox.groupadd(name, options))
    else:
        _run("groupadd", *options, "--", name)


@for_states
def refuse_renumbering() -> None:
    """Raise CommandFailed where groups cannot get another number: busybox has nothing for it."""
    if _busybox.stands_in():
        _busybox.groupmod()


@changer(touches=["groups", "users"], before=former_state, planned=_planned_accounts.groupmod)
def groupmod(name: str, *options: str) -> None:
    """Change a group with groupmod's options. Raises CommandFailed."""
    refuse_renumbering()
    _run("groupmod", *options, "--", name)


@changer(touches=["groups"], before=former_state, planned=_planned_accounts.groupdel)
def groupdel(name: str) -> None:
    """Delete a group."""
    _run("delgroup" if _busybox.stands_in() else "groupdel", "--", name)


@changer(touches=["groups"], before=former_state, planned=_planned_accounts.add_member)
def add_member(name: str, user: str) -> None:
    """Put a user into a group."""
    plain_name(user, "the user's name")
    words = ["addgroup", "--", user] if _busybox.stands_in() else ["gpasswd", "-a", user, "--"]
    _run(*words, name)


@changer(touches=["groups"], before=former_state, planned=_planned_accounts.remove_member)
def remove_member(name: str, user: str) -> None:
    """Take a user out of a group."""
    plain_name(user, "the user's name")
    words = ["delgroup", "--", user] if _busybox.stands_in() else ["gpasswd", "-d", user, "--"]
    _run(*words, name)


def _run(*argv: str) -> None:
    """Run a program whose last word is the group's name."""
    plain_name(argv[-1], "the group's name")
    done = cmd.probe(argv)
    if done.retcode:
        raise CommandFailed(f"{argv[0]}: {done.error_text}")


# ---------------------------------------------------------------- Salt's functions


def add(
    name: str, gid: int | None = None, system: bool = False, non_unique: bool = False, **_: Any
) -> bool:
    """Add a group; whether it was done. non_unique: though its number is taken."""
    options = [*(["-g", str(gid)] if gid is not None else []), *(["-r"] if system else [])]
    return attempt(groupadd, name, *options, *(["-o"] if non_unique and gid is not None else []))


def delete(name: str, **_: Any) -> bool:
    """Delete a group; whether it was done."""
    return attempt(groupdel, name)


def adduser(name: str, username: str, **_: Any) -> bool:
    """Put a user into a group; whether it was done.

    {{ salt['group.adduser']('docker', 'zoe') }}
    """
    return attempt(add_member, name, username)


def deluser(name: str, username: str, **_: Any) -> bool:
    """Take a user out of a group; whether it is out of it."""
    return username not in info(name).get("members", ()) or attempt(remove_member, name, username)


def members(name: str, members_list: str | Sequence[str], **_: Any) -> bool:
    """Have exactly these users in a group (a list, or with commas); whether it was done."""
    users = members_list if isinstance(members_list, str) else ",".join(members_list)
    return attempt(set_members, name, users)


def chgid(name: str, gid: int, non_unique: bool = False, **_: Any) -> bool:
    """Change a group's number. Raises CommandFailed when there is no such group. non_unique: though
    it is taken.
    """
    entry = info(name)
    if not entry:
        raise CommandFailed(f"Group '{name}' does not exist")
    if entry["gid"] != int(gid):
        groupmod(name, "-g", str(gid), *(["-o"] if non_unique else []))
    return bool(info(name)["gid"] == int(gid))


@changer(touches=["groups"], before=former_state, planned=_planned_accounts.set_members)
def set_members(name: str, users: str) -> None:
    """Have exactly these users (with commas) in a group."""
    plain_name(users, "the users' names")
    if _busybox.stands_in():
        for line in _busybox.members(name, users.split(",")):
            _run(*line)
    else:
        _run("gpasswd", "-M", users, "--", name)
