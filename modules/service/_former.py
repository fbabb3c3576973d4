# SPDX-License-Identifier: Apache-2.0
"""The state of a service before a change, for the history and undo: the same for all providers."""

from __future__ import annotations

from runner.api import FormerState


def former_state(name: str, *_: object, user: str = "", **__: object) -> FormerState:
    """A service as undo restores it. user: one of this user's, which is called USER/NAME."""
    from modules import service  # which imports the providers

    owner = user or None
    shown = f"{user}/{name}" if user else name
    if not service.available(name, owner):
        return FormerState("service", shown, {})
    state = {
        "running": service.status(name, user=owner),
        "enabled": service.enabled(name, user=owner),
        "masked": service.masked(name, user=owner),
    }
    return FormerState("service", shown, state)
