# SPDX-License-Identifier: Apache-2.0
"""The state of a service before a change, for the history and undo: the same for all providers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ParamSpec

from modules.service._offline import AtRest
from runner.api import FormerState, changer
from runner.api.offline import is_offline

P = ParamSpec("P")


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
    if runlevels := getattr(looks, "runlevels", None):
        state["runlevels"] = runlevels(name)
    return FormerState("service", shown, state)


def acts(
    provider: str, plan: Callable[P, object]
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare the changer of a provider. provider: the name of its module; plan: what a dry run
    calls instead.
    """

    def former_state(name: str, *_: object, user: str = "", **__: object) -> FormerState:
        manager = sys.modules[provider]
        looks: Any = AtRest(manager) if is_offline() else manager
        return state_of(looks.of_user(user) if user else looks, name, user)

    return changer(
        before=former_state,
        planned=plan,
        touches=["services", "files"],
        planned_touches=["files"],
    )
