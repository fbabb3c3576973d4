# SPDX-License-Identifier: Apache-2.0
"""Groups as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import group, user
from runner.api import Resource
from states._resources._shipped import made_by_package

ROLE = "users"


def resources(name: str | None) -> Iterator[Resource]:
    """Groups with their numbers and members. Without a name only those members that packages made:
    what others belong to their own states say, which come after those of groups.
    """
    groups = group.getent()
    numbers = [entry["gid"] for entry in groups]
    for entry in groups if name is None else [group.info(name)]:
        if not entry:
            yield Resource("group.absent", str(name))
            continue
        arguments: dict[str, Any] = {"gid": entry["gid"]}
        if numbers.count(entry["gid"]) > 1:
            arguments["non_unique"] = True
        known = [member for member in entry["members"] if user.info(member)]
        note = "" if known == entry["members"] else "it has members that are no users"
        if name is None:
            known = [member for member in known if _is_of_package(member)]
        if name is None or note:
            arguments |= {"addusers": known} if known else {}
        else:
            arguments["members"] = known
        yield Resource(
            "group.present",
            entry["name"],
            arguments,
            note,
            shipped=made_by_package(entry["name"], entry["gid"]),
            files=("/etc/group", "/etc/gshadow"),
        )


def _is_of_package(login: str) -> bool:
    account = user.info(login)
    return made_by_package(login, account["uid"], account["home"])
