# SPDX-License-Identifier: Apache-2.0
"""The state of a service before a change, for the history and undo: the same for all providers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from runner.api import FormerState


def state_of(looks: Any, name: str, user: str = "") -> FormerState:
    """A service as undo restores it. looks: its provider, or what that has for a user; user: one of
    this user's, which is called USER/NAME.
    """
    shown = f"{user}/{name}" if user else name
    if not looks.available(name):
        return FormerState("service", shown, {})
    state = {
        "running": looks.status(name),
        "enabled": looks.enabled(name),
        "masked": looks.masked(name),
    }
    return FormerState("service", shown, state)


def former_of(provider: str) -> Callable[..., FormerState]:
    """Return what gives the state of a service of a provider. provider: the name of its module."""

    def former_state(name: str, *_: object, user: str = "", **__: object) -> FormerState:
        looks = sys.modules[provider]
        return state_of(looks.of_user(user) if user else looks, name, user)

    return former_state
