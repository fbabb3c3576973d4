# SPDX-License-Identifier: Apache-2.0
"""Crontabs as they are."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from modules import cron
from modules import user as users
from modules.cron import FIELDS
from runner.api import Resource

ROLE = "schedule"


def resources(name: str | None) -> Iterator[Resource]:
    """The variables and the entries of crontabs, by command or identifier; what somebody wrote by
    hand, too.
    """
    for user in _users():
        if users.info(user):
            listed = [*_variables(user)]
            listed += [_entry(entry, user, adopt=True) for _, _, entry in cron.by_hand(user)]
            listed += [_entry(entry, user) for _, _, entry in cron.entries(user)]
            yield from (
                item
                for item in listed
                if name in (None, item.name, item.arguments.get("identifier"))
            )


def _variables(user: str) -> Iterator[Resource]:
    managed = {number for number, _, _ in cron.environment(user)}
    variables = cron.environment(user, whole=True)
    values = Counter(name for _, name, _ in variables)
    for number, key, value in variables:
        if values[key] > 1:
            note = f"crontab of {user}: {key} has several values, one after another: left out"
            yield Resource("", key, note=note)
        else:
            adopt = {} if number in managed else {"adopt": True}
            yield Resource("cron.env_present", key, {"user": user, "value": value, **adopt})


def _users() -> list[str]:
    """Whose crontabs can be read: everybody's for root, else the caller's own."""
    if os.geteuid():
        return [*filter(None, [users.own_name()])]
    folder = next(filter(os.path.isdir, cron.SPOOLS), None)
    return sorted(os.listdir(folder)) if folder else []


def _entry(entry: cron.CronEntry, user: str, adopt: bool = False) -> Resource:
    arguments: dict[str, Any] = {"user": user}
    if adopt:
        arguments["adopt"] = True
    elif entry.identifier != entry.command:
        arguments["identifier"] = entry.identifier or False
    if entry.time.startswith("@"):
        arguments["special"] = entry.time
    else:
        arguments |= {
            key: text for key, text in zip(FIELDS, entry.time.split(), strict=True) if text != "*"
        }
    arguments |= {"comment": entry.comment} if entry.comment else {}
    arguments |= {"commented": True} if entry.commented else {}
    return Resource("cron.present", entry.command, arguments)
