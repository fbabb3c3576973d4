"""Users: how to look at them, and useradd, usermod, userdel to change them."""

from __future__ import annotations

import grp
import pwd
from typing import Any

from modules import cmd
from runner.api import CommandFailed, changer, look_once

GECOS = ("fullname", "roomnumber", "workphone", "homephone", "other")


@look_once("users", "/etc/passwd")
def _users() -> dict[str, pwd.struct_passwd]:
    return {user.pw_name: user for user in pwd.getpwall()}


@look_once("groups", "/etc/group")
def _groups() -> dict[str, grp.struct_group]:
    return {group.gr_name: group for group in grp.getgrall()}


def list_users() -> list[str]:
    """The names of all users, sorted."""
    return sorted(_users())


def list_groups(name: str) -> list[str]:
    """The names of the groups that a user is in, the primary one included, sorted."""
    user = _users().get(name)
    found = {group.gr_name for group in _groups().values() if name in group.gr_mem}
    if user is not None:
        found |= {group.gr_name for group in _groups().values() if group.gr_gid == user.pw_gid}
    return sorted(found)


def info(name: str) -> dict[str, Any]:
    """What is known of a user; empty when there is none.

    {{ salt['user.info']('www-data').home }}
    """
    user = _users().get(name)
    if user is None:
        return {}
    parts = [*user.pw_gecos.split(",", 4), "", "", "", "", ""]
    return {
        "gid": user.pw_gid,
        "groups": list_groups(name),
        "home": user.pw_dir,
        "name": user.pw_name,
        "passwd": user.pw_passwd,
        "shell": user.pw_shell,
        "uid": user.pw_uid,
        **dict(zip(GECOS, parts, strict=False)),
    }


def getent() -> list[dict[str, Any]]:
    """What is known of all users."""
    return [info(name) for name in list_users()]


def primary_group(name: str) -> str:
    """The name of a user's primary group; empty when there is none."""
    user = _users().get(name)
    names = [group.gr_name for group in _groups().values() if user is not None and group.gr_gid == user.pw_gid]
    return names[0] if names else ""


@changer(touches=["users", "groups"])
def useradd(name: str, *options: str) -> None:
    """Add a user with useradd's options."""
    _done("useradd", *options, name)


@changer(touches=["users", "groups"])
def usermod(name: str, *options: str) -> None:
    """Change a user with usermod's options."""
    _done("usermod", *options, name)


@changer(touches=["users", "groups"])
def userdel(name: str, *options: str) -> None:
    """Delete a user with userdel's options."""
    done = cmd.probe(["userdel", *options, name])
    if done.retcode not in (0, 12):  # 12: the home folder was not there
        hint = " (let it end, or say `force: True`)" if done.retcode == 8 else ""  # the user is at work
        raise CommandFailed(done.stderr.strip() + hint)


def _done(*argv: str) -> None:
    done = cmd.probe(argv)
    if done.retcode:
        raise CommandFailed((done.stderr.strip() or done.stdout.strip() or f"{argv[0]} failed").splitlines()[0])
