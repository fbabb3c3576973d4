# SPDX-License-Identifier: Apache-2.0
"""Policies of RabbitMQ: settings of the queues and exchanges that a pattern matches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

from modules.messaging import rabbitmq
from runner.api import CommandFailed, Line, Name, Planned, StateFailed
from runner.api.kinds import CURRENT, WANTED, Kind, Property, Wording
from runner.api.opposite import Opposite
from states.messaging._rabbitmq import REMOVED, SERVER

ApplyTo = Literal["queues", "classic_queues", "quorum_queues", "streams", "exchanges", "all"]

DECIDES = {"present": "pattern definition priority apply_to"}
OPPOSITE = {"present": Opposite("absent", by=("vhost",))}
SET = Wording(
    "{title} is already present.",
    "{title} is set to be created.",
    "{title} was set.",
    "Failed to set the policy '{name}' of '{vhost}'",
    {"old": {}, "new": "{name}"},
)
POLICY = Kind(
    "Policy '{vhost}' '{name}'",
    SET,
    SET._replace(pending="{title} is set to be updated.", changes={"old": CURRENT, "new": WANTED}),
    REMOVED._replace(failed="Failed to remove the policy '{name}' of '{vhost}'"),
)


def present(
    name: Name,
    pattern: Line,
    definition: Line | dict[Line, Any],
    priority: int = 0,
    vhost: Name = "/",
    runas: Name | None = None,
    apply_to: ApplyTo | None = None,
) -> Planned:
    """Make sure that a virtual host has a policy.

    name: The policy.
    pattern: A regular expression of the names that it is for.
    definition: The settings of the policy, as a mapping or as JSON.
    priority: The highest one of those that match counts.
    vhost: The virtual host.
    runas: The user who runs rabbitmqctl.
    apply_to: Queues, exchanges or all (the default of RabbitMQ).

        short queues:
          rabbitmq_policy.present:
            - pattern: '^app'
            - definition: {max-length: 1000}
            - vhost: /app
    """
    settings = _settings(definition)
    now = _policies(vhost, runas).get(name)
    if now is not None:
        now = {**now, "definition": _settings(now["definition"]), "priority": int(now["priority"])}
    set_it = partial(rabbitmq.set_policy, vhost, name, pattern, settings, priority, runas, apply_to)
    properties = [
        Property("pattern", pattern),
        Property("definition", settings, matching="all"),
        Property("priority", priority),
        Property("apply_to", apply_to, lambda: (now or {}).get("apply_to")),
    ]
    return POLICY.present(now, set_it, properties, lambda _: set_it(), name=name, vhost=vhost)


def absent(name: Name, vhost: Name = "/", runas: Name | None = None) -> Planned:
    """Make sure that a virtual host has no such policy.

    name: The policy.
    vhost: The virtual host.
    runas: The user who runs rabbitmqctl.

        short queues:
          rabbitmq_policy.absent: []
    """
    there = rabbitmq.vhost_exists(vhost, runas) and name in _policies(vhost, runas)
    delete = partial(rabbitmq.delete_policy, vhost, name, runas)
    return POLICY.absent(there, delete, name=name, vhost=vhost)


def _settings(definition: object) -> Any:
    if not isinstance(definition, str):
        return definition
    try:
        return json.loads(definition)
    except ValueError as error:
        raise StateFailed(f"definition is no JSON: {error}") from None


MEANS = {"definition": _settings}


def _policies(vhost: str, runas: str | None) -> dict[str, dict[str, Any]]:
    try:
        return rabbitmq.list_policies(vhost, runas).get(vhost, {})
    except CommandFailed as failure:
        missing = failure.missing or ("rabbitmq_vhost", vhost)
        raise StateFailed(failure.message, missing=missing) from None


def autorequire(name: str, vhost: str = "/", **_: object) -> Iterator[tuple[str, str]]:
    """A policy comes after the server and its virtual host."""
    yield from (*SERVER, ("rabbitmq_vhost", vhost))
