# SPDX-License-Identifier: Apache-2.0
"""Users as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import file, group, shadow
from modules import user as users
from runner.api import Resource
from states._account import AGING
from states._resources._shipped import made_by_package

ROLE = "users"
AFTER = ("group",)
FILES = tuple(f"/etc/{name}" for name in ("passwd", "shadow", "subuid", "subgid"))

# what useradd gives a new user
USUAL = {"mindays": 0, "maxdays": 99999, "warndays": 7, "inactdays": -1, "expire": -1}


def resources(name: str | None) -> Iterator[Resource]:
    """Users with their numbers, groups, home, shell and GECOS field; never their passwords."""
    for login in users.list_users() if name is None else [name]:
        account = users.info(login)
        yield (
            Resource(
                "user.present",
                login,
                _arguments(account),
                shipped=made_by_package(login, account["uid"], account["home"]),
                files=FILES,
            )
            if account
            else Resource("user.absent", login)
        )


def _arguments(account: dict[str, Any]) -> dict[str, Any]:
    name = account["name"]
    primary = users.primary_group(name)
    further = [
        group_name
        for group_name in account["groups"]
        if group_name != primary and group.info(group_name)
    ]
    arguments = {
        "uid": account["uid"],
        "gid": account["gid"],
        "groups": further,
        "home": account["home"],
        "shell": account["shell"],
    }
    arguments |= {key: account[key] for key in users.GECOS if account[key]}
    if not file.is_dir(account["home"]):
        arguments["createhome"] = False
    if users.lingers(name):
        arguments["linger"] = True
    aged = shadow.info(name)
    days = {key: aged[AGING[key]] for key in USUAL if aged[AGING[key]] not in ("", USUAL[key])}
    return {key: value for key, value in (arguments | days).items() if value != ""}
