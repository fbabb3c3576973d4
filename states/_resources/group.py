"""Groups as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import group, user
from runner.api import Resource


def resources(name: str | None) -> Iterator[Resource]:
    """Groups with their numbers and members."""
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
        arguments |= {"members": known} if not note else {"addusers": known} if known else {}
        yield Resource("group.present", entry["name"], arguments, note)
