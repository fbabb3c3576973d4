# SPDX-License-Identifier: Apache-2.0
"""Policies of RabbitMQ: settings of the queues and exchanges that a pattern matches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from modules.messaging import rabbitmq
from runner.api import CommandFailed, Line, Name, Plan, Planned, StateFailed
from runner.api.opposite import Opposite
from states._tools import carry_out
from states.messaging._rabbitmq import after_server

ApplyTo = Literal["queues", "classic_queues", "quorum_queues", "streams", "exchanges", "all"]

OPPOSITE = {"present": Opposite("absent", by=("vhost",))}


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

    Behaviour: Salt 3008's rabbitmq_policy.present.
    """
    settings = _settings(definition)
    old = _policies(vhost, runas).get(name)
    wanted = {
        "pattern": pattern,
        "definition": settings,
        "priority": priority,
        **({"apply_to": apply_to} if apply_to else {}),
    }
    shown = f"Policy '{vhost}' '{name}'"
    if old is not None:
        current = {
            **old,
            "definition": _settings(old["definition"]),
            "priority": int(old["priority"]),
        }
        updates = {key: value for key, value in wanted.items() if current.get(key) != value}
        if not updates:
            return f"{shown} is already present."
        changes: dict[str, Any] = {
            "old": {key: current.get(key) for key in updates},
            "new": updates,
        }
        pending = f"{shown} is set to be updated."
    else:
        changes, pending = {"old": {}, "new": name}, f"{shown} is set to be created."
    return (
        yield from carry_out(
            Plan(changes, pending),
            lambda: rabbitmq.set_policy(vhost, name, pattern, settings, priority, runas, apply_to),
            f"{shown} was set.",
            f"Failed to set the policy '{name}' of '{vhost}'",
        )
    )


def absent(name: Name, vhost: Name = "/", runas: Name | None = None) -> Planned:
    """Make sure that a virtual host has no such policy.

    name: The policy.
    vhost: The virtual host.
    runas: The user who runs rabbitmqctl.

        short queues:
          rabbitmq_policy.absent: []

    Behaviour: Salt 3008's rabbitmq_policy.absent.
    """
    if not rabbitmq.vhost_exists(vhost, runas) or name not in _policies(vhost, runas):
        return f"Policy '{vhost}' '{name}' is not present."
    return (
        yield from carry_out(
            Plan({"old": name, "new": ""}, f"Policy '{vhost}' '{name}' will be removed."),
            lambda: rabbitmq.delete_policy(vhost, name, runas),
            f"Policy '{vhost}' '{name}' was removed.",
            f"Failed to remove the policy '{name}' of '{vhost}'",
        )
    )


def _settings(definition: object) -> Any:
    if not isinstance(definition, str):
        return definition
    try:
        return json.loads(definition)
    except ValueError as error:
        raise StateFailed(f"definition is no JSON: {error}") from None


def _policies(vhost: str, runas: str | None) -> dict[str, dict[str, Any]]:
    try:
        return rabbitmq.list_policies(vhost, runas).get(vhost, {})
    except CommandFailed as failure:
        missing = failure.missing or ("rabbitmq_vhost", vhost)
        raise StateFailed(failure.message, missing=missing) from None


def autorequire(name: str, vhost: str = "/", **_: object) -> Iterator[tuple[str, str]]:
    """A policy comes after the server and its virtual host."""
    yield from after_server()
    yield "rabbitmq_vhost", vhost


__all__ = ["absent", "autorequire", "present"]
