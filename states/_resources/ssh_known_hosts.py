# SPDX-License-Identifier: Apache-2.0
"""The keys by which other machines are known, as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from modules import file
from modules import user as users
from modules.ssh import keys, known_hosts
from runner.api import Resource, StateFailed

ROLE = "users"
AFTER = ("user",)
_HOST = re.compile(r"(?P<bare>[^\[\]|*?!,@]+)|\[(?P<name>[^\[\]|*?!,@]+)\]:(?P<port>\d+)")


def resources(name: str | None) -> Iterator[Resource]:
    """Known hosts of the system and of users; those whose names are hidden only as a remark."""
    for user in (None, *users.list_users()):
        try:
            path = known_hosts.path_of(user, None)
            lines = keys.lines(path) if file.lexists(path) else []
        except (StateFailed, PermissionError):
            continue  # ssh_auth remarks on a home that cannot be read
        listed = [item for line in lines for item in _hosts(line, user)]
        hidden = sum(line.startswith("|") for line in lines)
        if name is None and hidden:
            note = f"{path}: the names of {hidden} hosts are hidden: left out"
            yield Resource("", path, note=note)
        told = (known_hosts.SYSTEM,) if user is None and not hidden else ()
        yield from (item._replace(files=told) for item in listed if name in (None, item.name))


def _hosts(line: str, user: str | None) -> Iterator[Resource]:
    names, *rest = [*line.split(), "", ""][:3]
    for label in names.split(","):
        match = _HOST.fullmatch(label)
        if match and all(rest) and re.fullmatch(keys.KINDS, rest[0]):
            arguments: dict[str, Any] = {"user": user} if user else {}
            arguments |= {"port": int(match["port"])} if match["port"] else {}
            arguments |= {"enc": rest[0], "key": rest[1], "hash_known_hosts": False}
            yield Resource("ssh_known_hosts.present", match["bare"] or match["name"], arguments)
