# SPDX-License-Identifier: Apache-2.0
"""Plugins of RabbitMQ."""

from __future__ import annotations

from modules.messaging import rabbitmq
from runner.api import Name, Plan, Planned, StateFailed
from runner.api.kinds import comes_after
from states._tools import explained

OPPOSITE = {"enabled": "disabled"}


def enabled(name: Name, runas: Name | None = None) -> Planned:
    """Make sure that a plugin is enabled, and what it needs. A server that does not run has it from
    its start on.

    name: The plugin.
    runas: The user who runs rabbitmq-plugins.

        rabbitmq_management:
          rabbitmq_plugin.enabled: []
    """
    if rabbitmq.plugin_is_enabled(name, runas):
        return f"Plugin '{name}' is already enabled."
    if name not in rabbitmq.list_available_plugins(runas):
        raise StateFailed(f"There is no plugin '{name}'", missing=("rabbitmq plugin", name))
    yield Plan({"old": "", "new": name}, f"Plugin '{name}' is set to be enabled.")
    with explained(f"Failed to enable the plugin '{name}'"):
        rabbitmq.enable_plugin(name, runas)
    return f"Plugin '{name}' was enabled."


def disabled(name: Name, runas: Name | None = None) -> Planned:
    """Make sure that a plugin is not enabled.

    name: The plugin.
    runas: The user who runs rabbitmq-plugins.

        rabbitmq_management:
          rabbitmq_plugin.disabled: []
    """
    if not rabbitmq.plugin_is_enabled(name, runas):
        return f"Plugin '{name}' is already disabled."
    yield Plan({"old": name, "new": ""}, f"Plugin '{name}' is set to be disabled.")
    with explained(f"Failed to disable the plugin '{name}'"):
        rabbitmq.disable_plugin(name, runas)
    return f"Plugin '{name}' was disabled."


autorequire = comes_after(
    "A plugin comes after the package of the server.", ("pkg", "rabbitmq-server")
)
