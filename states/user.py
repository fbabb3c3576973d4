# SPDX-License-Identifier: Apache-2.0
"""Users of the machine."""

from __future__ import annotations

from modules import cron, file, group, shadow
from modules import user as users
from runner.api import (
    Annotated,
    CheckUnless,
    CommandFailed,
    Done,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    Secret,
    StateFailed,
    here,
)
from runner.api.offline import at_boot
from states._account import (
    AGING,
    HIDDEN,
    Extras,
    Password,
    PendingChanges,
    WantedUser,
    day,
    done_changes,
    fields,
    further_groups,
    refuse_commas,
    refuse_new_account,
)
from states._rights import refuse_plain_user

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
    from typing import Any

DECIDES = {
    "present": "uid gid home shell fullname roomnumber workphone homephone other mindays maxdays"
    " inactdays warndays expire password_lock linger password:enforce_password groups:remove_groups"
}
OPPOSITE = {"present": "absent"}
PasswordHash = Annotated[Line, CheckUnless("hash_password", shadow.hash_problem, shadow.HASH_HINT)]


def prune_check(
    fun: str, names: Sequence[str], going: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Users who are logged in, or whom programs run as."""
    for name in names:
        if (process := users.process_of(name)) is not None:
            yield name, f"the user is logged in, or has programs running: process {process}"


def dry_run_check(plan: Plan, name: str, **arguments: object) -> None:
    """Raise StateFailed when the caller may not change users, or this machine's tools cannot."""
    existing = bool(users.info(name))
    refuse_plain_user("a change of users")
    file.refuse_put("/etc/passwd")
    given = (key for key, value in arguments.items() if value is not None)
    home = arguments.get("home")
    if (
        isinstance(home, str)
        and arguments.get("createhome", True)
        and not (existing or file.lexists(home))
    ):
        file.refuse_put(home)
    users.refuse_impossible(existing, plan.changes if existing else given)


@at_boot(lambda name, linger=None, **_: f"Services of user {name} start at boot" if linger else "")
def present(
    name: Name,
    uid: int | None = None,
    gid: int | Line | None = None,
    usergroup: bool | None = None,
    groups: OneOrMany[Name] | None = None,
    optional_groups: OneOrMany[Name] | None = None,
    remove_groups: bool = True,
    home: Line | None = None,
    createhome: bool = True,
    persist_home: bool = False,
    password: Secret[PasswordHash] | None = None,
    hash_password: bool = False,
    enforce_password: bool = True,
    empty_password: bool = False,
    shell: Line | None = None,
    unique: bool = True,
    system: bool = False,
    fullname: Line | None = None,
    roomnumber: Line | None = None,
    workphone: Line | None = None,
    homephone: Line | None = None,
    other: Line | None = None,
    loginclass: Line | None = None,
    date: int | Line | None = None,
    mindays: int | None = None,
    maxdays: int | None = None,
    inactdays: int | None = None,
    warndays: int | None = None,
    expire: int | Line | None = None,
    win_homedrive: Line | None = None,
    win_profile: Line | None = None,
    win_logonscript: Line | None = None,
    win_description: Line | None = None,
    nologinit: bool = False,
    allow_uid_change: bool = False,
    allow_gid_change: bool = False,
    password_lock: bool | None = None,
    local: bool = False,
    gid_from_name: bool = False,
    linger: bool | None = None,
    subuids: OneOrMany[Line] | None = None,
    subgids: OneOrMany[Line] | None = None,
) -> Planned:
    """Make sure that a user exists.

    name: The user.
    uid: The user's number.
    gid: The primary group, by its number or its name.
    usergroup: Give a new user a group of the same name; without it as the system does.
    groups: The groups that the user is in beside the primary one.
    optional_groups: Further groups, as far as they exist.
    remove_groups: Where groups or optional_groups are given, the user is in no others; false only
      adds.
    home: The home folder.
    createhome: Create the home folder where it is not there.
    persist_home: Move what is in the home folder when `home` changes.
    password: The hash of the password (`*` and `!` let nobody in), or with hash_password the
      password itself.
    hash_password: The password is not a hash yet, and is hashed.
    enforce_password: False leaves a password that is there.
    empty_password: The user needs no password.
    shell: The login shell.
    unique: False lets users share a number.
    system: A new user gets a number of the system's range.
    fullname: The user's full name, in the GECOS field.
    roomnumber: The room, in the GECOS field.
    workphone: The telephone number at work, in the GECOS field.
    homephone: The telephone number at home, in the GECOS field.
    other: What else is to be in the GECOS field.
    loginclass: Ignored; it is for BSD.
    date: The day of the last change of the password (days since 1970, or 2030-01-31).
    mindays: Days after which the password may be changed.
    maxdays: Days after which the password has to be changed; -1 for no limit.
    inactdays: Days that a password works after it should have been changed; -1 for no limit.
    warndays: Days before the end of the password when the user is warned.
    expire: When the account ends (days since 1970, or 2030-01-31).
    win_homedrive: Ignored; the drive of the home folder, for Windows.
    win_profile: Ignored; the folder of the profile, for Windows.
    win_logonscript: Ignored; the script that a login runs, for Windows.
    win_description: Ignored; a description, for Windows.
    nologinit: Do not enter a new user in lastlog and faillog.
    allow_uid_change: Change the number of an existing user, which otherwise fails.
    allow_gid_change: Change the primary group of an existing user, which otherwise fails.
    password_lock: Whether the password is locked, so that nobody gets in by it; without it as it
      is.
    local: Ignored; users are always local ones.
    gid_from_name: An older name of usergroup.
    linger: Whether the user's own systemd, with its services, runs without a login; without it as
      it is.
    subuids: Ranges such as 100000-165535 of subordinate user numbers that the user has to own, for
      containers; other ranges stay.
    subgids: Ranges of subordinate group numbers, written as those of subuids.

        deploy:
          user.present:
            - shell: /bin/bash
            - groups: [www-data]
    """
    if home and createhome:
        file.real_path(home)  # through no link of somebody else
    said: dict[str, Any] = {
        "uid": uid,
        "gid": _group_number(gid),
        "home": home or None,
        "shell": shell or None,
        "fullname": fullname,
        "roomnumber": roomnumber,
        "workphone": workphone,
        "homephone": homephone,
        "other": other,
    }
    said = {key: value for key, value in said.items() if value is not None}
    refuse_commas(said)
    aging = (date, mindays, maxdays, inactdays, warndays, expire or None)
    written = {key: value for key, value in zip(AGING, aging, strict=True) if value is not None}
    days = {AGING[argument]: day(value, argument) for argument, value in written.items()}
    further = further_groups(groups, optional_groups)
    secret = Password(
        "" if empty_password else password or None, hash_password, enforce_password, password_lock
    )
    extras = Extras(linger, tuple(subuids or ()), tuple(subgids or ()))
    wanted = WantedUser(said, days, further, remove_groups, secret, createhome, gid, extras)
    if shell and not file.exists(shell):
        here.warn(f"there is no {shell}: as long as that is so, {name} cannot log in")
    if gid_from_name:
        here.warn("gid_from_name is called usergroup now")
        usergroup = True
    if not users.info(name):
        refuse_new_account("user", name)
        if gid is not None:
            usergroup = None
        elif name in (further or ()) and usergroup is not False and users.makes_groups():
            gid, usergroup = name, None  # it is there already, and useradd would make it
        account = users.Account(
            name,
            **{"gid": gid} | fields(wanted.account),
            with_home=createhome,
            own_group=usergroup,
            unique=unique,
            system=system,
            logged=not nologinit,
        )
        place = home or f"/home/{name}"
        there = file.seen(place) if createhome and not system else None
        if there and there.uid != uid:
            owner = file.uid_to_user(there.uid) or there.uid
            here.warn(f"{place} is there and stays {owner}'s: it is made no home for {name}")
        return (yield from _add(account, wanted, written))
    work = PendingChanges(name, wanted)
    refused = work.forbidden({"uid": allow_uid_change, "gid": allow_gid_change})
    if refused:
        raise StateFailed(refused)
    return (yield from _change(name, work, persist_home, unique))


def _add(
    account: users.Account, wanted: WantedUser, aging: dict[str, Any]
) -> Generator[Plan, None, str | Done]:
    name, secret = account.name, wanted.password
    extra = ({} if secret.text is None else {"password": HIDDEN if secret.text else ""}) | aging
    extra |= wanted.extras.pending(name)
    shown: dict[str, Any] = {"gid": "", "groups": wanted.groups or [], "home": "", "name": name}
    shown |= {"passwd": "x", "shell": "", "uid": "", **dict.fromkeys(users.GECOS, "")}
    shown |= {**wanted.account, **extra}
    facts = [("user", name), ("group", name)]
    facts += [("linger", name)] if wanted.extras.linger else []
    yield Plan(shown, f"User {name} set to be added", provides=facts)
    try:
        primary = users.group_of_new(account)
        further = [group for group in wanted.groups or () if group != primary]
        users.useradd(account._replace(groups=further or None))
    except CommandFailed as failure:
        raise StateFailed(
            f"Failed to create new user {name}: {failure.message}",
            changes={},
            missing=failure.missing,
        ) from None
    try:
        secret.put(name, secret.text is None, not secret.locked)
        if wanted.days:
            shadow.set_days(name, shadow.Aging(**wanted.days))
        wanted.extras.apply(name)
    except CommandFailed as failure:
        raise StateFailed(
            f"User {name} created but {failure.message}", changes=users.info(name)
        ) from None
    return Done(f"New user {name} created", users.info(name) | extra)


def _change(
    name: str, work: PendingChanges, persist_home: bool, unique: bool
) -> Generator[Plan, None, str | Done]:
    changes = work.changes()
    if not changes and not work.account:
        return f"User {name} is present and up to date"
    comment = f"The following user attributes are set to be changed:\n{work.comment()}"
    yield Plan(
        changes,
        comment,
        before={key: work.now[key] for key in changes if key in work.now and key != "passwd"},
        provides=[("linger", name)] if changes.get("linger") else [],
    )
    account = users.Account(
        name,
        **fields(work.account, work.now),
        groups=work.groups,
        with_home=persist_home and "home" in work.account,
        unique=unique,
    )
    crontab = cron.kept_in(name) if "uid" in work.account else None
    try:
        if work.account or work.groups is not None:
            users.usermod(account)
        if crontab and file.stat(crontab).uid == work.now["uid"]:  # usermod left it, cron refuses
            file.chown(crontab, work.account["uid"], None)
        work.wanted.password.put(name, work.fits, work.lock_fits)
        if work.days:
            shadow.set_days(name, shadow.Aging(**work.days))
        if work.home and not file.exists(work.home):
            _make_home(work.home, users.info(name))
        work.wanted.extras.apply(name)
    except CommandFailed as failure:
        raise StateFailed(
            f"User {name} could not be changed: {failure.message}", missing=failure.missing
        ) from None
    return Done(f"Updated user {name}", done_changes(changes, name))


def _make_home(path: str, owner: Mapping[str, Any]) -> None:
    above = path.rstrip("/").rpartition("/")[0]
    if above and not file.is_dir(above):
        file.makedirs(above)  # not the user's
    file.makedirs(path, user=owner["uid"], group=owner["gid"])


def absent(name: Name, purge: bool = False, force: bool = False, local: bool = False) -> Planned:
    """Make sure that a user does not exist.

    name: The user.
    purge: Delete the home folder, the mail and the crontab, too.
    force: Delete also a user who is logged in.
    local: ignored; users are always local ones.

        intern:
          user.absent:
            - purge: True
    """
    account = users.info(name)
    if not account:
        return Done(f"User {name} is not present", missing=[("user", name)])
    home = account["home"]
    seen = file.seen(home) if purge else None
    group_of_own = bool(group.info(name)) and users.primary_group(name) == name
    changes = {name: "removed"} | ({f"{name} group": "removed"} if group_of_own else {})
    crontab = cron.kept_in(name)
    if crontab and not purge:
        here.warn(f"{crontab} stays, for the next user of this name; `purge: True` removes it")
    yield Plan(changes, f"User {name} set for removal", provides=[("no user", name)])
    users.userdel(name, home=purge, force=force)
    if crontab and purge:
        file.remove(crontab)
    if seen is not None and seen.uid == account["uid"] and file.lexists(home):
        here.warn(f"{home} is still there: userdel could not remove all of it")
    if group_of_own and group.info(name):
        return Done(f"Removed user {name}", {name: "removed"})
    return f"Removed user {name}"


def _group_number(gid: int | str | None) -> int | None:
    if gid is None or isinstance(gid, int):
        return gid
    if gid.isdigit():
        return int(gid)
    entry = group.info(gid)
    if not entry:
        raise StateFailed(f'Default group with name "{gid}" is not present', missing=("group", gid))
    return int(entry["gid"])


def autoalias(name: str, home: str | None = None, **given: object) -> Iterator[tuple[str, str]]:
    """A user makes its home, with the owner that this has."""
    if given.get("createhome") is not False:
        yield "home", home or f"/home/{name}"


def autorequire(
    name: str,
    gid: object = None,
    groups: Sequence[str] | None = None,
    home: str | None = None,
    **_: object,
) -> Iterator[tuple[str, str]]:
    """A user comes after its groups, and after the mount and the folder of its home."""
    for group_name in (gid, *(groups or ())):
        if group_name is not None:
            yield "group", str(group_name)
    above = (home or "").rpartition("/")[0]
    if above:
        yield "mount", above
        yield "file", above
