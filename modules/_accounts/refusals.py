# SPDX-License-Identifier: Apache-2.0
"""What useradd, usermod, userdel and their relatives for groups refuse of a value, in their words:
for dry runs. Each raises CommandFailed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from modules import _accounts, file
from modules._accounts.values import Account, Group
from runner.api import CommandFailed, Fact

if TYPE_CHECKING:
    import grp
    import pwd

LONGEST = 32  # characters of a name
LARGEST = 0xFFFFFFFE  # of a number: the one after it is for "none"


def refuse_useradd(account: Account) -> None:
    """Raise CommandFailed for a user that useradd would not add."""
    name, home = account.name, account.home
    if len(name) > LONGEST:
        raise _refusal("useradd", f"invalid user name '{name}': use --badname to ignore")
    _refuse_fields("useradd", account)
    if account.makes_group:
        if is_group(name):
            raise _refusal(
                "useradd",
                f"group {name} exists - if you want to add this user to that group, use -g.",
                [("no group", name)],
            )
    else:
        group_number("useradd", account.primary_group)
    owner = _owner_of(account)
    if owner:
        raise _refusal("useradd", f"UID {account.uid} is not unique", [("no user", owner)])
    if home and account.with_home:
        above = home.rstrip("/")
        while above and not file.lexists(above):
            above = above.rpartition("/")[0]
        if above and above != home.rstrip("/") and not file.is_dir(above):
            raise _refusal("useradd", f"cannot create directory {home}", [("file", above)])
    group_names("useradd", account)
    if is_user(name):
        raise _refusal("useradd", f"user '{name}' already exists")


def refuse_usermod(account: Account) -> None:
    """Raise CommandFailed for changes of a user that usermod would not make."""
    user("usermod", account.name)
    _refuse_fields("usermod", account)
    if account.gid is not None:
        group_number("usermod", str(account.gid))
    owner = _owner_of(account)
    if owner not in (None, account.name):
        reason = f"UID '{account.uid}' already exists"
        raise _refusal("usermod", reason, [("no user", str(owner))])
    if {account.uid, account.home, account.new_name} != {None}:
        _refuse_busy("usermod", account.name)
    group_names("usermod", account)


def refuse_userdel(name: str, force: bool) -> None:
    """Raise CommandFailed for a user that userdel would not delete."""
    if not force:
        _refuse_busy("userdel", name, _accounts.AT_WORK)
    user("userdel", name)


def refuse_groupadd(group: Group) -> None:
    """Raise CommandFailed for a group that groupadd would not add."""
    if len(group.name) > LONGEST:
        raise group_refusal("groupadd", f"'{group.name}' is not a valid group name")
    _refuse_number("groupadd: groupadd", "group", group.gid)
    if is_group(group.name):
        raise group_refusal("groupadd", f"group '{group.name}' already exists")
    _refuse_taken("groupadd", group)


def refuse_groupmod(group: Group) -> None:
    """Raise CommandFailed for a number that groupmod would not give to a group."""
    if require_group("groupmod", group.name) != group.gid:
        _refuse_taken("groupmod", group)


def refuse_groupdel(name: str) -> None:
    """Raise CommandFailed for a group that groupdel would not delete: it is the first of a user."""
    number = require_group("groupdel", name)
    for user in _accounts.users_first_in(number):
        reason = f"cannot remove the primary group of user '{user}'"
        raise group_refusal("groupdel", reason, [("no user", user)])


# ---------------------------------------------------------------- who is there


def is_user(name: str) -> bool:
    """Return whether there is a user of a name."""
    return _accounts.found(_accounts.user, name) is not None


def is_group(name: str) -> bool:
    """Return whether there is a group of a name."""
    return _accounts.found(_accounts.group, name) is not None


def user(program: str, name: str) -> pwd.struct_passwd:
    """The user of a name. Raises CommandFailed."""
    entry = _accounts.found(_accounts.user, name)
    if entry is None:
        raise _refusal(program, f"user '{name}' does not exist")
    return entry


def _group(program: str, group: str) -> grp.struct_group:
    """The group that a program is given by its name or number. Raises CommandFailed."""
    found, numbered = _accounts.found, group.isdigit()
    entry = found(_accounts.group_of, int(group)) if numbered else found(_accounts.group, group)
    if entry is None:
        facts = [("gid", group), ("group", group)]
        raise _refusal(program, f"group '{group}' does not exist", facts)
    return entry


def group_number(program: str, group: str) -> int:
    """The number of a group that is given by its name or number. Raises CommandFailed."""
    return _group(program, group).gr_gid


def group_names(program: str, account: Account) -> list[str]:
    """The names of the further groups of a user. Raises CommandFailed."""
    return [_group(program, group).gr_name for group in account.groups or ()]


def require_group(program: str, name: str) -> int:
    """The number of a group that is to be changed. Raises CommandFailed."""
    entry = _accounts.found(_accounts.group, name)
    if entry is None:
        where = " in /etc/group" if program == "gpasswd" else ""
        raise group_refusal(program, f"group '{name}' does not exist{where}")
    return entry.gr_gid


def group_refusal(
    program: str, reason: str, missing: Sequence[Fact] | None = None
) -> CommandFailed:
    """Return what a program for groups says, which is shown with its name before it."""
    return _refusal(f"{program}: {program}", reason, missing)


# ---------------------------------------------------------------- parts


def _refusal(program: str, reason: str, missing: Sequence[Fact] | None = None) -> CommandFailed:
    return CommandFailed(f"{program}: {reason}", missing=missing)


def _refuse_number(program: str, kind: str, number: int | None) -> None:
    if number is not None and not 0 <= number <= LARGEST:
        raise _refusal(program, f"invalid {kind} ID '{number}'")


def _refuse_taken(program: str, group: Group) -> None:
    if group.unique and group.gid is not None and _accounts.groups_of_number(group.gid):
        raise group_refusal(program, f"GID '{group.gid}' already exists")


def _refuse_fields(program: str, account: Account) -> None:
    """Refuse what cannot be a field of /etc/passwd."""
    gecos, home, shell = account.gecos or "", account.home, account.shell or ""
    _refuse_number(program, "user", account.uid)
    if ":" in gecos:
        raise _refusal(program, f"invalid comment '{gecos}'")
    if home is not None and (":" in home or not home.startswith("/")):
        reason = f"invalid field '{home}'" if ":" in home else "homedir must be an absolute path"
        new = program == "useradd"
        raise _refusal(program, f"invalid home directory '{home}'" if new else reason)
    if ":" in shell or shell[:1] not in ("", "/", "*"):
        raise _refusal(program, f"invalid shell '{shell}'")


def _owner_of(account: Account) -> str | None:
    """The user who has the number that somebody else may not have."""
    if account.uid is None or not account.unique:
        return None
    owner = _accounts.found(_accounts.user_of, account.uid)
    return owner.pw_name if owner else None


def _refuse_busy(program: str, name: str, hint: str = "") -> None:
    process = _accounts.process_of(name)
    if process is not None:
        reason = f"user {name} is currently used by process {process}{hint}"
        raise _refusal(program, reason, [("processes", "ended"), ("check", "processes")])
