# SPDX-License-Identifier: Apache-2.0
"""Virtual hosts of RabbitMQ."""

from __future__ import annotations

from collections.abc import Iterator

from modules.messaging import rabbitmq
from runner.api import Name, Plan, Planned
from states._tools import carry_out
from states.messaging._rabbitmq import after_server


def present(name: Name) -> Planned:
    """Make sure that there is a virtual host.

    name: The virtual host.

        /app:
          rabbitmq_vhost.present: []

    Behaviour: Salt 3008's rabbitmq_vhost.present.
    """
    if rabbitmq.vhost_exists(name):
        return f"Virtual Host '{name}' already exists."
    return (
        yield from carry_out(
            Plan(
                {"old": "", "new": name},
                f"Virtual Host '{name}' will be created.",
                provides=[("rabbitmq_vhost", name)],
            ),
            lambda: rabbitmq.add_vhost(name),
            f"Virtual Host '{name}' was created.",
            f"Failed to create the virtual host '{name}'",
        )
    )


def absent(name: Name) -> Planned:
    """Make sure that there is no such virtual host: its queues are lost.

    name: The virtual host.

        /old:
          rabbitmq_vhost.absent: []

    Behaviour: Salt 3008's rabbitmq_vhost.absent.
    """
    if not rabbitmq.vhost_exists(name):
        return f"Virtual Host '{name}' is not present."
    return (
        yield from carry_out(
            Plan({"old": name, "new": ""}, f"Virtual Host '{name}' will be removed."),
            lambda: rabbitmq.delete_vhost(name),
            f"Virtual Host '{name}' was removed.",
            f"Failed to remove the virtual host '{name}'",
        )
    )


def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
    """A virtual host comes after the server."""
    yield from after_server()


__all__ = ["absent", "autorequire", "present"]
