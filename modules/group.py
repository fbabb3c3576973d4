# SPDX-License-Identifier: Apache-2.0
"""Groups: how to look at them, and groupadd, groupmod, groupdel, gpasswd to change them."""

from __future__ import annotations

from modules import _accounts
from modules._accounts import busybox
from modules._accounts.provider import are_of_busybox, provider
from modules._accounts.values import Group as Group
from modules._machine.processes import attempt
from modules._texts.lines import plain_name
from runner.api import CommandFailed, FormerState, changer, for_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    import grp
    from collections.abc import Sequence
    from typing import Any

NAME = "the group's name"


def info(name: str) -> dict[str, Any]:
    """The entry of a group; empty when there is none.

    {{ salt['group.info']('sudo').members }}
    """
    entry = _accounts.found(_accounts.group, name)
    return {} if entry is None else _shown(entry)


def _shown(entry: grp.struct_group) -> dict[str, Any]:
    return {
        "name": entry.gr_name,
        "passwd": entry.gr_passwd,
        "gid": entry.gr_gid,
        "members": list(entry.gr_mem),
    }


def getent(refresh: bool = False) -> list[dict[str, Any]]:
    """The entries of all groups."""
    return [_shown(entry) for _, entry in sorted(_accounts.groups().items())]


@for_states
def with_number(gid: int) -> list[str]:
    """The names of the groups that have a number."""
    return _accounts.groups_of_number(gid)


@for_states
def former_state(name: str, *_: object) -> FormerState:
    """A group as undo restores it."""
    entry = _accounts.groups().get(name)
    state = {} if entry is None else {"gid": entry.gr_gid, "members": sorted(entry.gr_mem)}
    return FormerState("group", name, state)


def _before(group: Group) -> FormerState:
    return former_state(group.name)


@for_states
@changer(touches=["groups"], before=_before, planned=True)
def groupadd(group: Group) -> None:
    """Add a group. Raises CommandFailed."""
    plain_name(group.name, NAME)
    provider().groupadd(group)


@for_states
def refuse_renumbering() -> None:
    """Raise CommandFailed where groups cannot get another number: busybox has nothing for it."""
    if are_of_busybox():
        busybox.groupmod(Group(""))


@for_states
@changer(touches=["groups", "users"], before=_before, planned=True)
def groupmod(group: Group) -> None:
    """Give a group another number. Raises CommandFailed."""
    plain_name(group.name, NAME)
    provider().groupmod(group)


@changer(touches=["groups"], before=former_state, planned=True)
def groupdel(name: str) -> None:
    """Delete a group."""
    provider().groupdel(plain_name(name, NAME))


@changer(touches=["groups"], before=former_state, planned=True)
def add_member(name: str, user: str) -> None:
    """Put a user into a group."""
    provider().member(plain_name(name, NAME), plain_name(user, "the user's name"), True)


@changer(touches=["groups"], before=former_state, planned=True)
def remove_member(name: str, user: str) -> None:
    """Take a user out of a group."""
    provider().member(plain_name(name, NAME), plain_name(user, "the user's name"), False)


# ---------------------------------------------------------------- Salt's functions


def add(
    name: str, gid: int | None = None, system: bool = False, non_unique: bool = False, **_: Any
) -> bool:
    """Add a group; whether it was done. non_unique: though its number is taken."""
    return attempt(groupadd, Group(name, gid, system, unique=not non_unique))


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
    users = members_list.split(",") if isinstance(members_list, str) else members_list
    return attempt(set_members, name, [user for user in users if user])


def chgid(name: str, gid: int, non_unique: bool = False, **_: Any) -> bool:
    """Change a group's number. Raises CommandFailed when there is no such group. non_unique: though
    it is taken.
    """
    entry = info(name)
    if not entry:
        raise CommandFailed(f"Group '{name}' does not exist")
    if entry["gid"] != int(gid):
        groupmod(Group(name, int(gid), unique=not non_unique))
    return bool(info(name)["gid"] == int(gid))


@for_states
@changer(touches=["groups"], before=former_state, planned=True)
def set_members(name: str, users: Sequence[str]) -> None:
    """Have exactly these users in a group. Raises CommandFailed."""
    logins = [plain_name(user, "the users' names") for user in users]
    provider().set_members(plain_name(name, NAME), logins)
