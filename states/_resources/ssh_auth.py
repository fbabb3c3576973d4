# SPDX-License-Identifier: Apache-2.0
"""Keys that may log in, as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import file
from modules import user as users
from modules.ssh import keys
from runner.api import Resource, StateFailed
from states.ssh_auth import CONFIG

ROLE = "users"
AFTER = ("user",)


def resources(name: str | None) -> Iterator[Resource]:
    """The keys of users, by their digits, their comment or the user."""
    for user in users.list_users():
        try:
            path = keys.path_of(user, CONFIG)
            lines = keys.lines(path) if file.lexists(path) else []
        except (StateFailed, PermissionError) as failure:
            reason = failure.message if isinstance(failure, StateFailed) else str(failure)
            if name in (None, user):
                yield Resource("", user, note=f"keys of {user}: {reason}")
            continue
        present = {key.key: key for key in map(keys.parsed, lines) if key}
        yield from (
            _key(key, user)
            for key in present.values()
            if name in (None, key.key, key.comment, user)
        )


def _key(key: keys.Key, user: str) -> Resource:
    options = keys.option_list(key.options)
    if ",".join(options) != key.options:  # no list says it
        return Resource("ssh_auth.present", key.line, {"user": user})
    arguments: dict[str, Any] = {"user": user, "enc": key.kind}
    arguments |= {"comment": key.comment} if key.comment else {}
    arguments |= {"options": options} if options else {}
    return Resource("ssh_auth.present", key.key, arguments)
