"""Users as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import file, group, shadow
from modules import user as users
from runner.api import Resource

# what useradd gives a new user
USUAL = {"mindays": 0, "maxdays": 99999, "warndays": 7, "inactdays": -1, "expire": -1}
AGING = {
    "mindays": "min",
    "maxdays": "max",
    "warndays": "warn",
    "inactdays": "inact",
    "expire": "expire",
}


def resources(name: str | None) -> Iterator[Resource]:
    """Users with their numbers, groups, home, shell and GECOS field; never their passwords."""
    for each in users.list_users() if name is None else [name]:
        found = users.info(each)
        yield (
            Resource("user.present", each, _arguments(found))
            if found
            else Resource("user.absent", each)
        )


def _arguments(found: dict[str, Any]) -> dict[str, Any]:
    name = found["name"]
    primary = users.primary_group(name)
    further = [each for each in found["groups"] if each != primary and group.info(each)]
    said = {
        "uid": found["uid"],
        "gid": found["gid"],
        "groups": further,
        "home": found["home"],
        "shell": found["shell"],
    }
    said |= {key: found[key] for key in users.GECOS if found[key]}
    if not file.is_dir(found["home"]):
        said["createhome"] = False
    aged = shadow.info(name)
    days = {key: aged[known] for key, known in AGING.items() if aged[known] not in ("", USUAL[key])}
    return {key: value for key, value in (said | days).items() if value != ""}
