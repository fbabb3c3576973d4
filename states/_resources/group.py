"""Groups as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import group, user
from runner.api import Resource


def resources(name: str | None) -> Iterator[Resource]:
    """Groups with their numbers and members."""
    groups = group.getent()
    numbers = [found["gid"] for found in groups]
    for found in groups if name is None else [group.info(name)]:
        if not found:
            yield Resource("group.absent", str(name))
            continue
        said: dict[str, Any] = {"gid": found["gid"]}
        if numbers.count(found["gid"]) > 1:
            said["non_unique"] = True
        known = [each for each in found["members"] if user.info(each)]
        note = "" if known == found["members"] else "it has members that are no users"
        said |= {"members": known} if not note else {"addusers": known} if known else {}
        yield Resource("group.present", found["name"], said, note)
