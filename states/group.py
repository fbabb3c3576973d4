# SPDX-License-Identifier: Apache-2.0
"""Groups of users."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from modules import file, group, user
from runner.api import CommandFailed, Done, Fact, Name, OneOrMany, Plan, Planned, StateFailed
from runner.api.kinds import comes_after
from states._account import list_meant, refuse_new_account
from states._rights import refuse_plain_user

DECIDES = {"present": "gid members"}
OPPOSITE = {"present": "absent"}


def prune_check(
    fun: str, names: Sequence[str], going: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Groups of users who stay."""
    for name in names:
        number = group.info(name).get("gid")
        members = [account["name"] for account in user.getent() if account["gid"] == number]
        if staying := [member for member in members if f"user {member}" not in going]:
            yield name, f"it is the group of {', '.join(staying)}"


def dry_run_check(plan: Plan, name: str, **arguments: object) -> None:
    """Raise StateFailed when the caller may not change groups, or this machine's tools cannot."""
    number = group.info(name).get("gid")
    refuse_plain_user("a change of groups")
    file.refuse_put("/etc/group")
    if number is not None and arguments.get("gid") not in (None, number):
        group.refuse_renumbering()


def present(
    name: Name,
    gid: int | None = None,
    system: bool = False,
    addusers: OneOrMany[Name] | None = None,
    delusers: OneOrMany[Name] | None = None,
    members: OneOrMany[Name] | None = None,
    non_unique: bool = False,
    local: bool = False,
) -> Planned:
    """Make sure that a group exists.

    name: The group.
    gid: The number of the group.
    system: Give a new group a number of the system's range.
    addusers: These users are in the group, beside others.
    delusers: These users are not in the group.
    members: Exactly these users are in the group.
    non_unique: Accept a number that another group has.
    local: Ignored; groups are always made in the local files.

        www:
          group.present:
            - gid: 2001
            - addusers: [alice]
    """
    if members is not None and (addusers is not None or delusers is not None):
        raise StateFailed(
            'Error: Conflicting options "members" with "addusers" and/or "delusers" can not be used'
            " together."
        )
    contradicting = set(addusers or ()) & set(delusers or ())
    if contradicting:
        raise StateFailed(
            "Error. Same user(s) can not be added and deleted simultaneously:"
            f" {', '.join(sorted(contradicting))}"
        )
    now = group.info(name)
    holders = [] if gid is None or non_unique else group.with_number(gid)
    if holders and name not in holders:
        raise StateFailed(
            f"Group {name} is {'' if now else 'not '}present but gid {gid} is already taken by"
            f" group {holders[-1]}"
        )
    wanted = _members(now.get("members", []), members, addusers, delusers)
    changes = _differences(now, gid, wanted)
    if now and not changes:
        return f"Group {name} is present and up to date"
    new = [login for login in wanted if login not in now.get("members", ())]
    missing = [login for login in new if not user.info(login)]
    if missing:
        raise StateFailed(
            f"The user(s) {', '.join(missing)} are not present{list_meant(missing)}",
            missing=("user", missing[0]),
        )
    if not now:
        refuse_new_account("group", name)
        shown = {"name": name, "passwd": "x", "gid": gid, "members": wanted}
        yield Plan(shown, f"Group {name} set to be added", provides=_facts(name, gid))
        try:
            group.groupadd(group.Group(name, gid, system, unique=not non_unique))
        except CommandFailed as failure:
            raise StateFailed(
                f"Failed to create new group {name}: {failure.message}", changes={}
            ) from None
        if wanted:
            group.set_members(name, wanted)
        return Done(f"New group {name} created", group.info(name))
    listing = "".join(
        f"{key}: {value}\n"
        for key, value in _shown_changes(changes, now, addusers, delusers).items()
    )
    comment = f"The following group attributes are set to be changed:\n{listing}"
    yield Plan({"Final": "All changes applied successfully"}, comment)
    if "gid" in changes:
        group.groupmod(group.Group(name, gid, unique=not non_unique))
    if members is not None and all(map(user.info, wanted)):  # gpasswd -M refuses who is not there
        group.set_members(name, wanted)
    else:
        _change_members(name, now["members"], wanted)
    return comment


def absent(name: Name, local: bool = False) -> Planned:
    """Make sure that a group does not exist.

    name: The group.
    local: ignored; only local groups are looked at.

        games:
          group.absent: []
    """
    if not group.info(name):
        return Done("Group not present", missing=[("group", name)])
    yield Plan({name: ""}, f"Group {name} is set for removal", provides=[("no group", name)])
    try:
        group.groupdel(name)
    except CommandFailed as failure:
        raise StateFailed(
            f"Failed to remove group {name}: {failure.message}", changes={}, missing=failure.missing
        ) from None
    return f"Removed group {name}"


def _facts(name: str, gid: int | None) -> list[Fact]:
    return [("group", name), *([("gid", str(gid))] if gid is not None else [])]


def _members(
    now: list[str], members: list[str] | None, added: list[str] | None, deleted: list[str] | None
) -> list[str]:
    if members is not None:
        return list(members)
    return [
        login for login in dict.fromkeys([*now, *(added or ())]) if login not in (deleted or ())
    ]


def _differences(now: dict[str, Any], gid: int | None, wanted: list[str]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if now and gid is not None and now["gid"] != gid:
        changes["gid"] = gid
    if now and set(now["members"]) != set(wanted):
        changes["members"] = wanted
    return changes


def _shown_changes(
    changes: dict[str, Any], now: dict[str, Any], added: list[str] | None, deleted: list[str] | None
) -> dict[str, Any]:
    """List what is set to be changed, in the words of the state."""
    if "members" not in changes or (added is None and deleted is None):
        return changes
    shown = {key: value for key, value in changes.items() if key != "members"}
    new = [login for login in added or () if login not in now["members"]]
    removed = [login for login in deleted or () if login in now["members"]]
    return shown | ({"addusers": new} if new else {}) | ({"delusers": removed} if removed else {})


def _change_members(name: str, now: list[str], wanted: list[str]) -> None:
    for login in wanted:
        if login not in now:
            group.add_member(name, login)
    for login in dict.fromkeys(now):  # a line may name somebody twice
        if login not in wanted:
            group.remove_member(name, login)


autorequire = comes_after(
    "A group comes after the users that it is to have.", members="user", addusers="user"
)
