# SPDX-License-Identifier: Apache-2.0
"""The base of the states of RabbitMQ: order."""

from __future__ import annotations

from modules.messaging import rabbitmq

SERVER = (("service", rabbitmq.SERVICE), ("pkg", "rabbitmq-server"))  # what all come after
