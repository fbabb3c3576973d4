"""Groups: how to look at them, and groupadd, groupmod, groupdel, gpasswd to change them."""

from __future__ import annotations

import grp
from typing import Any

from modules import cmd
from runner.api import CommandFailed, changer, look_once


@look_once("groups", "/etc/group")
def _groups() -> dict[str, grp.struct_group]:
    return {group.gr_name: group for group in grp.getgrall()}


def info(name: str) -> dict[str, Any]:
    """What is known of a group; empty when there is none.

    {{ salt['group.info']('sudo').members }}
    """
    found = _groups().get(name)
    if found is None:
        return {}
    return {"name": found.gr_name, "passwd": found.gr_passwd, "gid": found.gr_gid, "members": list(found.gr_mem)}


def getent(refresh: bool = False) -> list[dict[str, Any]]:
    """What is known of all groups."""
    return [info(name) for name in sorted(_groups())]


@changer(touches=["groups"])
def groupadd(name: str, *options: str) -> None:
    """Add a group with groupadd's options."""
    _done("groupadd", *options, name)


@changer(touches=["groups", "users"])
def groupmod(name: str, *options: str) -> None:
    """Change a group with groupmod's options."""
    _done("groupmod", *options, name)


@changer(touches=["groups"])
def groupdel(name: str) -> None:
    """Delete a group."""
    _done("groupdel", name)


@changer(touches=["groups"])
def add_member(name: str, user: str) -> None:
    """Put a user into a group."""
    _done("gpasswd", "-a", user, name)


@changer(touches=["groups"])
def remove_member(name: str, user: str) -> None:
    """Take a user out of a group."""
    _done("gpasswd", "-d", user, name)


def _done(*argv: str) -> None:
    done = cmd.probe(argv)
    if done.retcode:
        raise CommandFailed(f"{argv[0]}: {done.stderr.strip() or done.stdout.strip()}")
