# SPDX-License-Identifier: Apache-2.0
"""The base of the states of RabbitMQ: order."""

from __future__ import annotations

from collections.abc import Iterator

from modules.messaging import rabbitmq


def after_server() -> Iterator[tuple[str, str]]:
    """The states that all of these come after."""
    yield "service", rabbitmq.SERVICE
    yield "pkg", "rabbitmq-server"
