# SPDX-License-Identifier: Apache-2.0
"""Access control lists of files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from modules import file
from modules import group as groups
from modules import user as users
from modules.security import acl
from runner.api import (
    AbsolutePath,
    Check,
    Name,
    NameOrEmpty,
    OneOrMany,
    Pattern,
    Plan,
    Planned,
    StateFailed,
)
from runner.api.opposite import Opposite
from states._tools import explained


def dry_run_check(
    plan: Plan,
    name: str,
    acl_type: str,
    acl_name: str = "",
    acl_names: Sequence[str] | None = None,
    recurse: bool = False,
    **arguments: object,
) -> None:
    """Raise StateFailed for nobody's rights, and when the caller may not set them."""
    if "new" in plan.changes:
        for account in acl_names or [acl_name]:
            _refuse_unknown(_full_type(acl_type).rpartition(":")[2], account)
    file.refuse_chmod(file.real_path(name))
    if recurse and file.is_dir(name):
        for entry in file.entries_below(name):
            if not file.is_link(entry.path):
                file.refuse_chmod(entry.path)


def _refuse_unknown(kind: str, account: str) -> None:
    infos = {"user": users.info, "group": groups.info}
    if account and not account.isdecimal() and kind in infos and not infos[kind](account):
        raise StateFailed(f"There is no {kind} {account}", missing=(kind, account))


WORDS = "user, group, mask or other, or one of them behind `default:`"
Kind = Annotated[str, Pattern("((d|default):)?(u|user|g|group|m|mask|o|other)", WORDS)]


def _is_perms(value: str) -> str | None:
    return (
        None
        if re.fullmatch(r"[rwx-]{0,3}|[0-7]", value)
        else "expected rights such as rwx, r-x or 5"
    )


Perms = Annotated[str, Check(_is_perms)]


def present(
    name: AbsolutePath,
    acl_type: Kind,
    acl_name: NameOrEmpty = "",
    perms: Perms = "",
    recurse: bool = False,
    force: bool = False,
) -> Planned:
    """Make sure that a user or a group has rights on a path.

    name: The path.
    acl_type: `user`, `group`, `mask` or `other`; with `default:` before it, what new files in a
      folder get.
    acl_name: The user or group; without it the owner or the group of the file.
    perms: The rights, as letters (`rwx`) or as a digit.
    recurse: Set the rights on all that lies below, too.
    force: Where something is to be changed, take all other rights away.

        /srv/www:
          acl.present:
            - acl_type: user
            - acl_name: www-data
            - perms: rx
    """
    return (yield from _present(name, acl_type, [acl_name], perms, recurse, force, acl_name))


def list_present(
    name: AbsolutePath,
    acl_type: Kind,
    acl_names: OneOrMany[Name] | None = None,
    perms: Perms = "",
    recurse: bool = False,
    force: bool = False,
) -> Planned:
    """Make sure that several users or groups have rights on a path.

    name, acl_type, perms, recurse, force: As of acl.present.
    acl_names: The users or groups that get the rights; without them the owner or the group of the
      file.

        /srv/www:
          acl.list_present:
            - acl_type: group
            - acl_names: [editors, webmasters]
            - perms: rwx
    """
    return (
        yield from _present(
            name, acl_type, acl_names or [""], perms, recurse, force, str(acl_names or "")
        )
    )


def _present(
    name: str, acl_type: str, who: list[str], perms: str, recurse: bool, force: bool, subject: str
) -> Planned:
    kind, wanted = _full_type(acl_type), _as_letters(perms)
    lists = _lists(name, kind, recurse)
    olds = {
        account: [_rights_of(entries, kind, account) for entries in lists.values()]
        for account in who
    }
    if all(right == wanted for rights in olds.values() for right in rights):
        return "Permissions are in the desired state"
    names = ", ".join(who)
    changes: dict[str, Any] = {"new": {"acl_name": names, "acl_type": acl_type, "perms": perms}}
    old = next(
        (right for rights in olds.values() for right in rights if right not in (None, wanted)), None
    )
    comment = f"New permissions will be applied for {subject}: {perms}"
    if old is not None:
        changes["old"] = {"acl_name": names, "acl_type": acl_type, "perms": old}
        comment = f"Updated permissions will be applied for {subject}: {old} -> {perms}"
    yield Plan(changes, comment)
    with explained(f"Error updating permissions for {names}", changes={}):
        if force:
            acl.wipefacls(name, recursive=recurse)
        for account in who:
            acl.modfacl(kind, account, wanted, name, recursive=recurse)
    return (
        f"Updated permissions for {names}"
        if old is not None
        else f"Applied new permissions for {names}"
    )


def absent(
    name: AbsolutePath,
    acl_type: Kind,
    acl_name: NameOrEmpty = "",
    perms: Perms = "",
    recurse: bool = False,
) -> Planned:
    """Make sure that a user or a group has no rights of its own on a path.

    name, acl_type, acl_name, recurse: As of acl.present.
    perms: ignored; all rights of the entry go.

        /srv/www:
          acl.absent:
            - acl_type: user
            - acl_name: intern
    """
    return (yield from _absent(name, acl_type, [acl_name], recurse))


def list_absent(
    name: AbsolutePath,
    acl_type: Kind,
    acl_names: OneOrMany[Name] | None = None,
    recurse: bool = False,
) -> Planned:
    """Make sure that several users or groups have no rights of their own on a path. Arguments as
    with acl.absent.

    name, acl_type, recurse: As of acl.present.
    acl_names: The users or groups; without them the owner or the group of the file.

        /srv/www:
          acl.list_absent:
            - acl_type: user
            - acl_names: [intern, guest]
    """
    return (yield from _absent(name, acl_type, acl_names or [""], recurse))


def _absent(name: str, acl_type: str, who: list[str], recurse: bool) -> Planned:
    kind = _full_type(acl_type)
    lists = _lists(name, kind, recurse)
    having = [
        account
        for account in who
        if any(_rights_of(entries, kind, account) is not None for entries in lists.values())
    ]
    if not having:
        return "Permissions are in the desired state"
    if "" in having and _is_needed(kind, lists):
        raise StateFailed(
            "What the owner, the group and others may, and the mask of those who are named, cannot"
            " go: say in acl_name whose rights are to go, or change them with acl.present"
        )
    yield Plan(
        {"old": {"acl_name": ", ".join(having), "acl_type": acl_type}}, "Removing permissions"
    )
    with explained("Error removing permissions", changes={}):
        for account in having:
            acl.delfacl(kind, account, name, recursive=recurse)
    return "Removing permissions"


def _is_needed(kind: str, lists: Mapping[str, list[acl.AclEntry]]) -> bool:
    """Return whether no list can be without what it says of nobody by name."""
    prefix, _, subject = kind.rpartition(":")
    return subject != "mask" or any(
        entry.name and entry.kind.rpartition(":")[0] == prefix
        for entries in lists.values()
        for entry in entries
    )


def _lists(name: str, kind: str, recurse: bool) -> dict[str, list[acl.AclEntry]]:
    """The lists that are looked at: only folders have what new files get."""
    if not file.exists(name):
        raise StateFailed(f"{name} does not exist", missing=("file", name))
    lists = acl.entries(name, recurse)
    return {
        path: entries
        for path, entries in lists.items()
        if not kind.startswith("default:") or file.is_dir(path)
    }


def _rights_of(entries: list[acl.AclEntry], kind: str, who: str) -> str | None:
    return next((entry.perms for entry in entries if (entry.kind, entry.name) == (kind, who)), None)


def _full_type(acl_type: str) -> str:
    """`d:u` as default:user."""
    kind = acl_type.rpartition(":")[2]
    return ("default:" if ":" in acl_type else "") + acl.TYPES.get(kind, kind)


def _as_letters(perms: str) -> str:
    """5 as r-x."""
    if perms.isdigit():
        return "".join(
            letter if int(perms) & bit else "-" for letter, bit in (("r", 4), ("w", 2), ("x", 1))
        )
    return "".join(letter if letter in perms else "-" for letter in "rwx")


def autorequire(
    name: str, acl_type: str = "", acl_name: str = "", **_: object
) -> Iterator[tuple[str, str]]:
    """Rights come after the path, the package, and whom they are for."""
    yield "file", name
    yield "pkg", "acl"
    yield ("group" if "g" in acl_type else "user"), acl_name


DECIDES = {"present": "perms"}
MEANS = {"acl_type": _full_type, "perms": lambda perms: _as_letters(str(perms))}
OPPOSITE = {"present": Opposite("absent", by=("acl_type", "acl_name"))}
