# SPDX-License-Identifier: Apache-2.0
"""Virtual hosts of RabbitMQ."""

from __future__ import annotations

from modules.messaging import rabbitmq
from runner.api import Name, Planned
from runner.api.kinds import Kind, Wording, comes_after
from states.messaging._rabbitmq import REMOVED, SERVER

VHOST = Kind(
    "Virtual Host '{name}'",
    Wording(
        "{title} already exists.",
        "{title} will be created.",
        "{title} was created.",
        "Failed to create the virtual host '{name}'",
        {"old": "", "new": "{name}"},
        {"rabbitmq_vhost": "{name}"},
    ),
    removed=REMOVED._replace(failed="Failed to remove the virtual host '{name}'"),
)


def present(name: Name) -> Planned:
    """Make sure that there is a virtual host.

    name: The virtual host.

        /app:
          rabbitmq_vhost.present: []
    """
    there = rabbitmq.vhost_exists(name)
    return VHOST.present(there, lambda: rabbitmq.add_vhost(name), name=name)


def absent(name: Name) -> Planned:
    """Make sure that there is no such virtual host: its queues are lost.

    name: The virtual host.

        /old:
          rabbitmq_vhost.absent: []
    """
    there = rabbitmq.vhost_exists(name)
    return VHOST.absent(there, lambda: rabbitmq.delete_vhost(name), name=name)


autorequire = comes_after("A virtual host comes after the server.", *SERVER)
