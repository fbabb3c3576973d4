# SPDX-License-Identifier: Apache-2.0
"""Upstreams of RabbitMQ's federation: the servers that it takes messages from."""

from __future__ import annotations

from typing import Literal

from modules.messaging import rabbitmq
from runner.api import Duration, Line, Name, Plan, Planned
from runner.api.kinds import comes_after
from states._tools import explained
from states.messaging._rabbitmq import SERVER

DECIDES = {"present": "uri"}


def present(
    name: Name,
    uri: Line,
    prefetch_count: int | None = None,
    reconnect_delay: Duration[int] | None = None,
    ack_mode: Literal["on-confirm", "on-publish", "no-ack"] | None = None,
    trust_user_id: bool | None = None,
    exchange: Line | None = None,
    max_hops: int | None = None,
    expires: int | None = None,
    message_ttl: int | None = None,
    ha_policy: Line | None = None,
    queue: Line | None = None,
    runas: Name | None = None,
) -> Planned:
    """Make sure that the federation has an upstream, in the virtual host /. It needs the plugin
    rabbitmq_federation.

    name: The upstream.
    uri: The address of the upstream (amqp://user:password@host).
    prefetch_count: Messages that are on their way unconfirmed.
    reconnect_delay: Seconds until a lost connection is tried again.
    ack_mode: When messages are confirmed.
    trust_user_id: Believe the upstream who sent a message.
    exchange: The name of the exchange there; without it as here.
    max_hops: How many federations a message may cross.
    expires: Milliseconds that a queue there outlives a connection.
    message_ttl: Milliseconds that a message in it outlives a connection.
    ha_policy: The policy by which the queue there is kept on several nodes.
    queue: The name of the queue there; without it as here.
    runas: The user who runs rabbitmqctl.

        far:
          rabbitmq_upstream.present:
            - uri: 'amqp://{{ pillar.get('far_login') }}@far.example.com'
            - max_hops: 2
    """
    settings = {
        "prefetch_count": prefetch_count,
        "reconnect_delay": reconnect_delay,
        "ack_mode": ack_mode,
        "trust_user_id": trust_user_id,
        "exchange": exchange,
        "max_hops": max_hops,
        "expires": expires,
        "message_ttl": message_ttl,
        "ha_policy": ha_policy,
        "queue": queue,
    }
    old = rabbitmq.upstream(name, runas)
    new = rabbitmq.upstream_settings(uri, settings)
    if old == new:
        return f'Upstream "{name}" already present as specified.'
    verb = "created" if old is None else "updated"
    yield Plan({"old": old, "new": new}, f'Upstream "{name}" would have been {verb}.')
    with explained(f'Failed to set the upstream "{name}"'):
        rabbitmq.set_upstream(name, uri, runas, **settings)
    return f'Upstream "{name}" {verb}.'


def absent(name: Name, runas: Name | None = None) -> Planned:
    """Make sure that the federation has no such upstream.

    name: The upstream.
    runas: The user who runs rabbitmqctl.

        far:
          rabbitmq_upstream.absent: []
    """
    if not rabbitmq.upstream_exists(name, runas):
        return f'The upstream "{name}" is already absent.'
    yield Plan({"old": name, "new": None}, f'Upstream "{name}" would have been deleted.')
    with explained(f'Failed to delete the upstream "{name}"'):
        rabbitmq.delete_upstream(name, runas)
    return f'Upstream "{name}" has been deleted.'


autorequire = comes_after(
    "An upstream comes after the server and the plugin of the federation.",
    *SERVER,
    ("rabbitmq_plugin", "rabbitmq_federation"),
)
