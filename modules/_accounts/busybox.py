# SPDX-License-Identifier: Apache-2.0
"""Users and groups where busybox's adduser, addgroup, deluser and delgroup are all there is, as on
Alpine Linux.

busybox cannot change a user or a group that is there, but for its members, locks and passwords.
"""

from __future__ import annotations

from collections.abc import Sequence

from modules import _accounts
from modules._accounts import shadow_utils
from modules._accounts.shadow_utils import delete, run
from modules._accounts.values import Account, Aging, Group
from runner.api import CommandFailed

set_password, del_password = shadow_utils.set_password, shadow_utils.del_password
USERS_GROUP = "users"  # of a user without a group of its own
_ADDUSER = {"home": "-h", "shell": "-s", "gecos": "-g", "uid": "-u"}


def useradd(account: Account) -> None:
    name = account.name
    if account.shares:
        raise refusal("a number that is taken (unique: False)")
    system = ["-S"] if account.system else []
    lines = []
    if account.gid is not None:
        group = _group_name(str(account.gid))
    elif account.own_group is False:
        group = USERS_GROUP
    else:  # adduser -S would not make a group of its own
        group = name
        lines = [] if name in _accounts.groups() else [["addgroup", *system, "--", name]]
    said = ((option, getattr(account, field)) for field, option in _ADDUSER.items())
    words = [word for option, text in said if text is not None for word in (option, str(text))]
    home = [] if account.with_home else ["-H"]
    lines.append(["adduser", "-D", *system, *home, "-G", group, *words, "--", name])
    lines += [["addgroup", "--", name, other] for other in account.groups or ()]
    for line in lines:
        run(line, names_itself=True)


def usermod(account: Account) -> None:
    name, groups = account.name, account.groups
    if groups is None or account != Account(name, groups=groups, appends=account.appends):
        raise refusal("change a user, but for its groups, password and lock")
    present = {entry.gr_name for entry in _accounts.groups().values() if name in entry.gr_mem}
    for group in sorted(set(groups) - present):
        _put(name, group, True, names_itself=True)
    for group in [] if account.appends else sorted(present - set(groups)):
        _put(name, group, False, names_itself=True)


def userdel(name: str, home: bool, force: bool) -> None:
    delete(["deluser", *(["--remove-home"] if home else []), "--", name])


def lock(name: str, locked: bool) -> None:
    run(["passwd", "-l" if locked else "-u", "--", name])


def age(name: str, aging: Aging) -> None:
    raise refusal("how long passwords hold")


def groupadd(group: Group) -> None:
    if group.shares:
        raise refusal("a number that is taken (non_unique: True)")
    number = [] if group.gid is None else ["-g", str(group.gid)]
    run(["addgroup", *number, *(["-S"] if group.system else []), "--", group.name])


def groupmod(group: Group) -> None:
    raise refusal("another number for a group")


def groupdel(name: str) -> None:
    run(["delgroup", "--", name])


def member(name: str, user: str, joins: bool) -> None:
    _put(user, name, joins)


def set_members(name: str, users: Sequence[str]) -> None:
    entry = _accounts.groups().get(name)
    present = entry.gr_mem if entry else []
    joining = [user for user in users if user not in present]
    leaving = [user for user in present if user not in users]
    for user in joining + leaving:
        member(name, user, user in joining)


def _put(user: str, group: str, joins: bool, names_itself: bool = False) -> None:
    run(["addgroup" if joins else "delgroup", "--", user, group], names_itself=names_itself)


def _group_name(group: str) -> str:
    """Return a group's name: adduser takes no number."""
    for entry in _accounts.groups().values():
        if group in (entry.gr_name, str(entry.gr_gid)):
            return entry.gr_name
    raise CommandFailed(f"group '{group}' does not exist")


def refusal(what: str) -> CommandFailed:
    """Return what to do where busybox cannot do something."""
    return CommandFailed(
        f"busybox's adduser and addgroup cannot do that: {what}. Install useradd and its relatives"
        " (the package shadow)"
    )
