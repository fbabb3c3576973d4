# SPDX-License-Identifier: Apache-2.0
"""Services as the plans of a dry run so far would leave them: what runs and what is enabled.

Links and scripts that say what starts with the machine are planned files (`_planned/files.py`);
here is what is only in a service manager's memory.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from typing import Literal

from runner.api import CommandFailed, Unforeseen, here

Fact = Literal["running", "enabled"]
STARTING = ("start", "restart", "reload-or-restart", "force-reload")


def planned(fact: Fact, name: str, user: str = "") -> bool | None:
    """Return whether a service will run, or be enabled; None where nothing was planned."""
    if not here.dry:
        return None
    return _facts(fact).get((user, name.removesuffix(".service")))


def plan(fact: Fact, name: str, value: bool, user: str = "") -> None:
    """Keep in mind that a service will run, or be enabled, or will not."""
    _facts(fact)[user, name.removesuffix(".service")] = value


def merged(fact: Fact, names: Iterable[str], user: str = "") -> list[str]:
    """The services of which something is true, with what was planned."""
    names = list(names)
    if not here.dry or not (facts := _facts(fact)):
        return names
    now = dict.fromkeys(names, True)
    now |= {name: value for (whose, name), value in facts.items() if whose == user}
    return sorted(name for name, value in now.items() if value)


def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Plan what an action makes of a service that runs or does not; raise Unforeseen for what else
    there is.
    """
    if action in ("mask", "unmask"):
        raise CommandFailed(f"this service cannot be {action}ed")
    if action in STARTING:
        plan("running", name, True)
    elif action == "stop":
        plan("running", name, False)
    elif action != "reload":
        raise Unforeseen(action)


def _facts(fact: Fact) -> MutableMapping[tuple[str, str], bool]:
    facts: MutableMapping[tuple[str, str], bool] = here.store("planned").setdefault(fact, {})
    return facts
