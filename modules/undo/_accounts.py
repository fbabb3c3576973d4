# SPDX-License-Identifier: Apache-2.0
"""Users, groups, passwords and crontabs as they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modules import cmd, cron, group, shadow, user
from modules._accounts import processes
from modules.undo._kind import ABSENT, Changes, Future, State, UndoKind
from runner.api import CommandFailed


def _restore_users(changes: Changes) -> None:
    for name, (was, now) in changes.items():
        if not was:
            user.userdel(name)
        else:
            if not now:
                user.useradd(
                    user.Account(name, own_group=False, unique=False, **_altered(was, now))
                )
                now = user.former_state(name).state
            account = user.Account(
                name,
                **_altered(was, now),
                subuids=_ranges(was["subuids"], now["subuids"]),
                subgids=_ranges(was["subgids"], now["subgids"]),
            )
            if account != user.Account(name):
                user.usermod(account)


def _altered(was: State, now: State) -> dict[str, Any]:
    """Return what was otherwise of a user, by the names of an Account."""
    keys = ("uid", "gid", "gecos", "home", "shell", "groups")
    return {key: was[key] for key in keys if was[key] != now.get(key)}


def _ranges(was: Sequence[str], now: Sequence[str]) -> user.Ranges:
    """The subordinate numbers to give back and to take away."""
    return user.Ranges(
        tuple(text for text in was if text not in now),
        tuple(text for text in now if text not in was),
    )


def _refused_users(changes: Changes, future: Future) -> dict[str, str]:
    refused = {}
    for name, (was, now) in changes.items():
        if not was and (busy := _processes_of(now["uid"], future)):
            refused[name] = f"it is at work: {busy}"
        elif was and (lacking := _lacking_groups(was, future)):
            refused[name] = f"there is no group {lacking}"
    return refused


def _lacking_groups(was: State, future: Future) -> str:
    missing = [name for name in was["groups"] if not future("group", name)]
    return ", ".join(missing)


def _processes_of(uid: int, future: Future) -> str:
    """A process of a user that no stopped service ends; empty when there is none."""
    for pid in (pid for pid, uids in processes() if uid in uids):
        try:
            with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="replace") as file:
                unit = file.read().strip().rpartition("/")[2]
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                program = file.read().strip()
        except OSError:  # it has just ended
            continue
        ends = unit.endswith(".service") and not _will_run(unit, future)
        if not ends:
            return f"process {pid} ({program}) is its"
    return ""


def _will_run(unit: str, future: Future) -> bool:
    short = unit.removesuffix(".service")
    return all(future("service", name).get("running", False) for name in (unit, short))


def _restore_groups(changes: Changes) -> None:
    for name, (was, now) in changes.items():
        if not was:
            if group.former_state(name).state:  # userdel may have taken it along
                group.groupdel(name)
            continue
        if not now:
            group.groupadd(group.Group(name, was["gid"], unique=False))
        elif was["gid"] != now["gid"]:
            group.groupmod(group.Group(name, was["gid"], unique=False))
        if was["members"] != now.get("members", []):
            group.set_members(name, was["members"])


def _refused_groups(changes: Changes, future: Future) -> dict[str, str]:
    refused = {}
    for name, (was, now) in changes.items():
        if was:
            missing = [member for member in was["members"] if not future("user", member)]
            if missing:
                refused[name] = f"there is no user {', '.join(missing)}"
            continue
        users = [
            login for login in user.list_users() if future("user", login).get("gid") == now["gid"]
        ]
        if users:
            refused[name] = f"it is the primary group of {', '.join(users)}"
    return refused


def _restore_passwords(changes: Changes) -> None:
    for name, (was, _) in changes.items():
        if was:
            shadow.put_password(name, was["passwd"])
            now = shadow.former_state(name).state
            days = {key: was[key] for key in shadow.DAYS if was[key] != now.get(key)}
            if days:
                shadow.set_days(name, shadow.Aging(**days))


def _refused_passwords(changes: Changes, future: Future) -> dict[str, str]:
    refused = {}
    for name in changes:
        if not future("user", name):
            refused[name] = f"there is no user {name}"
    return refused


def _restore_lingering(changes: Changes) -> None:
    for name, (was, _) in changes.items():
        user.set_linger(name, was["linger"])


def _restore_crontabs(changes: Changes) -> None:
    for name, (was, _) in changes.items():
        if lines := was.get("lines"):
            cron.write(name, lines)
        else:
            cron.remove(name)


def _refused_crontabs(changes: Changes, future: Future) -> dict[str, str]:
    if not cmd.has_exec("crontab"):
        return dict.fromkeys(changes, "there is no program crontab")
    return _refused_passwords(changes, future)


def _crontab(name: str) -> State:
    try:
        return cron.former_state(name).state
    except CommandFailed:  # no such user, no cron any more
        return ABSENT


USER = UndoKind(
    lambda name: user.former_state(name).state, _restore_users, _refused_users, along=("group",)
)
GROUP = UndoKind(
    lambda name: group.former_state(name).state, _restore_groups, _refused_groups, along=("user",)
)
PASSWORD = UndoKind(
    lambda name: shadow.former_state(name).state,
    _restore_passwords,
    _refused_passwords,
    private=True,
    part_of="user",
)
LINGERING = UndoKind(
    lambda name: {"linger": user.lingers(name)}, _restore_lingering, _refused_passwords
)
CRONTAB = UndoKind(_crontab, _restore_crontabs, _refused_crontabs)
