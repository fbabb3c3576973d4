"""Users of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from modules import group
from modules import user as users
from runner.api import Done, OneOrMany, Plan, Planned, Secret, StateFailed

HIDDEN = "XXX-REDACTED-XXX"


def present(
    name: str,
    uid: int | None = None,
    gid: int | str | None = None,
    usergroup: bool | None = None,
    groups: OneOrMany[str] | None = None,
    optional_groups: OneOrMany[str] | None = None,
    remove_groups: bool = True,
    home: str | None = None,
    createhome: bool = True,
    password: Secret[str] | None = None,
    enforce_password: bool = True,
    empty_password: bool = False,
    shell: str | None = None,
    unique: bool = True,
    system: bool = False,
    fullname: str | None = None,
    roomnumber: str | None = None,
    workphone: str | None = None,
    homephone: str | None = None,
    other: str | None = None,
    allow_uid_change: bool = False,
    allow_gid_change: bool = False,
) -> Planned:
    """Make sure that a user exists.

    name: the user. uid, gid: numbers; the group also by its name. usergroup: a new user gets a group of their name.
    groups: the further groups; with remove_groups they are all there are. optional_groups: those of them that exist.
    home: the home folder; createhome makes that of a new user. password: its hash; enforce_password keeps it so.
    empty_password: no password is needed. shell: the login shell. unique: False lets users share a number.
    system: a new user gets a number of the system's range. fullname, roomnumber, workphone, homephone, other: the GECOS
    field. allow_uid_change, allow_gid_change: change the numbers of an existing user.

        deploy:
          user.present:
            - shell: /bin/bash
            - groups: [www-data]

    Behaviour: Salt 3008's user.present.
    """
    number = _group_number(gid)
    further = _further(groups, optional_groups)
    wanted: dict[str, Any] = {"uid": uid, "gid": number, "home": home, "shell": shell}
    wanted |= {"fullname": fullname, "roomnumber": roomnumber, "workphone": workphone, "homephone": homephone}
    wanted = {key: value for key, value in (wanted | {"other": other}).items() if value is not None}
    hashed = "" if empty_password else password
    now = users.info(name)
    if not now:
        shown = dict.fromkeys(users.GECOS, "") | {"name": name, "passwd": "x", "groups": further} | wanted
        for key in ("uid", "gid", "home", "shell"):
            shown.setdefault(key, "")
        shown |= {"passwd": HIDDEN} if hashed else {}
        yield Plan(shown, f"User {name} set to be added", provides=[("user", name), ("group", name)])
        users.useradd(name, *_new(wanted, further, createhome, system, usergroup, unique))
        if hashed is not None:
            users.set_password_hash(name, hashed)
        made = users.info(name) | ({"passwd": HIDDEN} if hashed else {})
        return Done(f"New user {name} created", made)

    changes = {key: value for key, value in wanted.items() if now[key] != value}
    for key, allowed in (("uid", allow_uid_change), ("gid", allow_gid_change)):
        if key in changes and not allowed:
            raise StateFailed(
                f"Encountered error checking for needed changes. Changing {key} ({now[key]} -> {changes[key]}) not "
                f"permitted, set allow_{key}_change to True to force this change."
            )
    secondary = _secondary(name, now, further, remove_groups, groups, optional_groups)
    if secondary is not None:
        changes["groups"] = secondary
    if hashed is not None and enforce_password and users.password_hash(name) != hashed:
        changes["passwd"] = HIDDEN
    if not changes:
        return f"User {name} is present and up to date"
    told = "".join(f"{key}: {value}\n" for key, value in changes.items())
    yield Plan(changes, f"The following user attributes are set to be changed:\n{told}")
    _change(name, now, changes, unique, hashed)
    after = users.info(name)
    done = {key: (HIDDEN if key == "passwd" else after.get(key)) for key in changes}
    return Done(f"Updated user {name}", done)


def absent(name: str, purge: bool = False, force: bool = False) -> Planned:
    """Make sure that a user does not exist.

    name: the user. purge: delete the home folder too. force: also while the user is logged in.

        games:
          user.absent:
            - purge: True

    Behaviour: Salt 3008's user.absent.
    """
    if not users.info(name):
        return f"User {name} is not present"
    group_of_own = bool(group.info(name)) and users.primary_group(name) == name
    changes = {name: "removed"} | ({f"{name} group": "removed"} if group_of_own else {})
    yield Plan(changes, f"User {name} set for removal")
    users.userdel(name, *(["-r"] if purge else []), *(["-f"] if force else []))
    if group_of_own and group.info(name):
        return Done(f"Removed user {name}", {name: "removed"})
    return f"Removed user {name}"


def _group_number(gid: int | str | None) -> int | None:
    if gid is None or isinstance(gid, int):
        return gid
    if gid.isdigit():
        return int(gid)
    found = group.info(gid)
    if not found:
        raise StateFailed(f'Default group with name "{gid}" is not present', lacks=("group", gid))
    return int(found["gid"])


def _further(groups: list[str] | None, optional: list[str] | None) -> list[str]:
    missing = [each for each in groups or () if not group.info(each)]
    if missing:
        raise StateFailed(f"The following group(s) are not present: {','.join(missing)}", lacks=("group", missing[0]))
    return list(dict.fromkeys([*(groups or ()), *(each for each in optional or () if group.info(each))]))


def _new(
    wanted: dict[str, Any], groups: list[str], createhome: bool, system: bool, usergroup: bool | None, unique: bool
) -> list[str]:
    options = ["-m" if createhome else "-M"]
    for key, option in (("uid", "-u"), ("gid", "-g"), ("home", "-d"), ("shell", "-s")):
        if key in wanted:
            options += [option, str(wanted[key])]
    gecos = ",".join(str(wanted.get(key, "")) for key in users.GECOS).rstrip(",")
    options += ["-c", gecos] if gecos else []
    options += ["-G", ",".join(groups)] if groups else []
    options += ["-r"] if system else []
    options += ["-o"] if not unique and "uid" in wanted else []
    if usergroup is not None and "gid" not in wanted:
        options.append("-U" if usergroup else "-N")
    return options


def _secondary(
    name: str,
    now: dict[str, Any],
    further: list[str],
    remove: bool,
    groups: list[str] | None,
    optional: list[str] | None,
) -> list[str] | None:
    """The groups that the user should be in beside the primary one, when they are not those; else None."""
    if groups is None and optional is None:
        return None
    primary = users.primary_group(name)
    have = [each for each in now["groups"] if each != primary]
    want = [each for each in further if each != primary]
    if not remove:
        want = sorted({*have, *want})
    return sorted({*want, primary} - {""}) if set(have) != set(want) else None


def _change(name: str, now: dict[str, Any], changes: dict[str, Any], unique: bool, hashed: str | None) -> None:
    options: list[str] = []
    for key, option in (("uid", "-u"), ("gid", "-g"), ("home", "-d"), ("shell", "-s")):
        if key in changes:
            options += [option, str(changes[key])]
    if set(users.GECOS) & changes.keys():
        parts = [str(changes.get(key, now[key])) for key in users.GECOS]
        options += ["-c", ",".join(parts).rstrip(",")]
    if "groups" in changes:
        primary = users.primary_group(name)
        options += ["-G", ",".join(each for each in changes["groups"] if each != primary)]
    if options:
        users.usermod(name, *options, *(["-o"] if not unique and "uid" in changes else []))
    if "passwd" in changes and hashed is not None:
        users.set_password_hash(name, hashed)


def autorequire(
    name: str, gid: object = None, groups: Sequence[str] | None = None, home: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """A user comes after its groups, and after the mount and the folder that its home is made in."""
    for one in (gid, *(groups or ())):
        if one is not None:
            yield "group", str(one)
    above = (home or "").rpartition("/")[0]
    if above:
        yield "mount", above
        yield "file", above
