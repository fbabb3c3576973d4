# SPDX-License-Identifier: Apache-2.0
"""The base of the states of RabbitMQ: order, and what results say of what is removed."""

from __future__ import annotations

from modules.messaging import rabbitmq
from runner.api.kinds import Wording

SERVER = (("service", rabbitmq.SERVICE), ("pkg", "rabbitmq-server"))  # what all come after
REMOVED = Wording(
    "{title} is not present.",
    "{title} will be removed.",
    "{title} was removed.",
    changes={"old": "{name}", "new": ""},
)
