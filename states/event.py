# SPDX-License-Identifier: Apache-2.0
"""Events for the listeners of a run."""

from __future__ import annotations

from typing import Annotated, Any

from modules import environ
from runner.api import CustomEvent, Group, Plan, Planned, Record, here

NON_IDEMPOTENT = dict.fromkeys(("send", "fire_master"), "it sends an event in each run")


class Sent(Record):
    """What an event carries.

    data: The data that it carries.
    preload: Further data that it carries.
    with_env: Carry variables of the environment: true for all, or a list of names; those with names
      of secrets are hidden.
    with_grains: Carry grains: true for all, or a list of names.
    with_pillar: Carry keys of the pillar: true for all, or a list of names.
    show_changed: Report it as a change; false does not.
    """

    data: Any = None
    preload: dict[str, Any] | None = None
    with_env: bool | list[str] = False
    with_grains: bool | list[str] = False
    with_pillar: bool | list[str] = False
    show_changed: bool = True


def send(name: str, sent: Annotated[Sent, Group()] = Sent()) -> Planned:
    """Send an event to the listeners of this run (`--events`).

    name: The tag.

        deployed:
          event.send:
            - data: {version: 1.2}
    """
    carried: dict[str, Any] = {"data": sent.data, **(sent.preload or {})}
    for key, wanted, source in (
        ("environ", sent.with_env, environ.items()),
        ("grains", sent.with_grains, here.grains),
        ("pillar", sent.with_pillar, here.pillar),
    ):
        if wanted:
            names = list(source) if wanted is True else wanted
            carried[key] = {key_name: source[key_name] for key_name in names if key_name in source}
    here.hide_named(carried.get("environ", {}))
    changes = {"tag": name, "data": sent.data} if sent.show_changed else {}
    yield Plan(changes, "Event would have been fired")
    here.emit(CustomEvent(name, carried))
    return "Event fired"


def fire_master(name: str, sent: Annotated[Sent, Group()] = Sent()) -> Planned:
    """The same as event.send, under an older name.

    name: As of event.send.

        deployed too:
          event.fire_master:
            - data: {version: 1.2}
    """
    return send(name, sent)


def wait(name: str, data: Any = None) -> str:
    """Send an event only when something that the state watches changed.

    name, data: As of event.send.

        changed:
          event.wait:
            - watch:
              - test: silent
        silent:
          test.nop: []
    """
    return ""


def mod_watch(name: str, sfun: str, data: Any = None) -> Planned:
    """Send the event because something that is watched changed.

    sfun: the state function that watches.
    """
    return send(name, Sent(data))
