# SPDX-License-Identifier: Apache-2.0
"""Accounts of RabbitMQ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules.messaging import rabbitmq
from runner.api import Line, Name, OneOrMany, Plan, Planned, Secret, StateFailed
from states._tools import explained
from states.messaging._rabbitmq import SERVER

Rights = dict[str, dict[str, str]]

NON_IDEMPOTENT = {"present": "with force and without a password it is taken away in each run"}

DECIDES = {"present": "password tags"}
OPPOSITE = {"present": "absent"}


def present(
    name: Name,
    password: Secret[Line] | None = None,
    force: bool = False,
    tags: OneOrMany[Name] | None = None,
    perms: list[dict[Name, list[Line]]] | None = None,
    runas: Name | None = None,
) -> Planned:
    """Make sure that there is an account, with its password, tags and rights.

    name: The account.
    password: The password; without it nobody can log in to a new account.
    force: Without a password, take the one away that an account has.
    tags: The tags that the user has, and no others.
    perms: What the user may configure, write and read in each virtual host: three regular
      expressions.
    runas: The user who runs rabbitmqctl.

        app:
          rabbitmq_user.present:
            - password: '{{ pillar.get('queue_password') }}'
            - tags: [monitoring]
            - perms:
              - '/': ['^app', '.*', '.*']
    """
    wanted = _rights(perms)
    current = rabbitmq.list_users(runas)
    exists = name in current
    changes: dict[str, Any] = {} if exists else {"user": {"old": "", "new": name}}
    if exists and password is not None and not rabbitmq.check_password(name, password, runas):
        changes["password"] = {"old": "", "new": "Set password."}
    elif exists and password is None and force:
        changes["password"] = {"old": "Removed password.", "new": ""}
    old_tags = current.get(name, [])
    if tags is not None and set(tags) != set(old_tags):
        changes["tags"] = {"old": old_tags, "new": tags}
    rights = rabbitmq.list_user_permissions(name, runas) if exists and wanted else {}
    missing = {vhost: right for vhost, right in wanted.items() if rights.get(vhost) != right}
    if missing:
        old = {vhost: rights[vhost] for vhost in missing if vhost in rights}
        changes["perms"] = {**({"old": old} if old else {}), "new": missing}
    if not changes:
        return f"'{name}' is already in the desired state."
    created = f"User '{name}' is set to be created."
    pending = f"Configuration for '{name}' will change." if exists else created
    yield Plan(changes, pending, provides=[("rabbitmq_user", name)])
    with explained(f"Failed to configure '{name}'"):
        if not exists:
            rabbitmq.add_user(name, password, runas)
        elif "password" in changes and password is not None:
            rabbitmq.change_password(name, password, runas)
        elif "password" in changes:
            rabbitmq.clear_password(name, runas)
        if "tags" in changes:
            rabbitmq.set_user_tags(name, tags or [], runas)
        for vhost, right in missing.items():
            expressions = (right["configure"], right["write"], right["read"])
            rabbitmq.set_permissions(vhost, name, *expressions, runas)
    return f"'{name}' was configured."


def _rights(perms: list[dict[str, list[str]]] | None) -> Rights:
    """The rights by virtual host. Raises StateFailed for one that has not three expressions."""
    rights: Rights = {}
    for vhost, texts in (pair for entry in perms or () for pair in entry.items()):
        if len(texts) != 3:
            raise StateFailed(
                f"perms of {vhost}: expected three regular expressions (configure, write, read),"
                f" not {len(texts)}"
            )
        rights[vhost] = dict(zip(("configure", "write", "read"), texts, strict=True))
    return rights


def absent(name: Name, runas: Name | None = None) -> Planned:
    """Make sure that there is no such account.

    name: The account.
    runas: The user who runs rabbitmqctl.

        guest:
          rabbitmq_user.absent: []
    """
    if not rabbitmq.user_exists(name, runas):
        return f"The user '{name}' is not present."
    yield Plan({"name": {"old": name, "new": ""}}, f"The user '{name}' will be removed.")
    with explained(f"Failed to remove '{name}'"):
        rabbitmq.delete_user(name, runas)
    return f"The user '{name}' was removed."


def autorequire(
    name: str, perms: list[dict[str, Any]] | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """An account comes after the server and the virtual hosts that it has rights on."""
    yield from SERVER
    for entry in perms or ():
        for vhost in entry:
            yield "rabbitmq_vhost", str(vhost)
