# SPDX-License-Identifier: Apache-2.0
"""Users, groups, passwords and crontabs as they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modules import cmd, cron, group, shadow, user
from modules._accounts import processes
from modules.undo._kind import ABSENT, Future, State, one_by_one
from runner.api import CommandFailed


def _restore_user(name: str, was: State, now: State) -> None:
    if not was:
        user.userdel(name)
        return
    if not now:
        user.useradd(user.Account(name, own_group=False, unique=False, **_altered(was, now)))
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


def _refused_user(name: str, was: State, now: State, future: Future) -> str:
    if not was and (busy := _processes_of(now["uid"], future)):
        return f"it is at work: {busy}"
    if was and (lacking := [group for group in was["groups"] if not future("group", group)]):
        return f"there is no group {', '.join(lacking)}"
    return ""


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


def _restore_group(name: str, was: State, now: State) -> None:
    if not was:
        if group.former_state(name).state:  # userdel may have taken it along
            group.groupdel(name)
        return
    if not now:
        group.groupadd(group.Group(name, was["gid"], unique=False))
    elif was["gid"] != now["gid"]:
        group.groupmod(group.Group(name, was["gid"], unique=False))
    if was["members"] != now.get("members", []):
        group.set_members(name, was["members"])


def _refused_group(name: str, was: State, now: State, future: Future) -> str:
    if was:
        missing = [member for member in was["members"] if not future("user", member)]
        return f"there is no user {', '.join(missing)}" if missing else ""
    users = [login for login in user.list_users() if future("user", login).get("gid") == now["gid"]]
    return f"it is the primary group of {', '.join(users)}" if users else ""


def _restore_password(name: str, was: State, now: State) -> None:
    if was:
        shadow.put_password(name, was["passwd"])
        now = shadow.former_state(name).state
        days = {key: was[key] for key in shadow.DAYS if was[key] != now.get(key)}
        if days:
            shadow.set_days(name, shadow.Aging(**days))


def _refused_password(name: str, was: State, now: State, future: Future) -> str:
    return "" if future("user", name) else f"there is no user {name}"


def _restore_crontab(name: str, was: State, now: State) -> None:
    if lines := was.get("lines"):
        cron.write(name, lines)
    else:
        cron.remove(name)


def _refused_crontab(name: str, was: State, now: State, future: Future) -> str:
    if not cmd.has_exec("crontab"):
        return "there is no program crontab"
    return _refused_password(name, was, now, future)


def _crontab(name: str) -> State:
    try:
        return cron.former_state(name).state
    except CommandFailed:  # no such user, no cron any more
        return ABSENT


USER = one_by_one(user.former_state, _restore_user, _refused_user, along=("group",))
GROUP = one_by_one(group.former_state, _restore_group, _refused_group, along=("user",))
PASSWORD = one_by_one(
    shadow.former_state, _restore_password, _refused_password, private=True, part_of="user"
)
LINGERING = one_by_one(
    lambda name: {"linger": user.lingers(name)},
    lambda name, was, now: user.set_linger(name, was["linger"]),
    _refused_password,
)
CRONTAB = one_by_one(_crontab, _restore_crontab, _refused_crontab)
