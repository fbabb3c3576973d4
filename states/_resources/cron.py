"""Crontabs as they are."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from typing import Any

from modules import cron
from runner.api import Resource

FOLDER = "/var/spool/cron/crontabs"
FIELDS = ("minute", "hour", "daymonth", "month", "dayweek")


def resources(name: str | None) -> Iterator[Resource]:
    """The variables and the managed entries of crontabs, by command or identifier; other entries
    only as a remark.
    """
    for user in _users():
        entries = [entry for _, _, entry in cron.entries(user)]
        others = _others(user, entries)
        note = (
            f"crontab of {user} has entries that are not managed: {'; '.join(others)}"
            if others
            else ""
        )
        variables = [
            Resource("cron.env_present", key, {"user": user, "value": value})
            for _, key, value in cron.environment(user)
        ]
        matching = [variable for variable in variables if name in (None, variable.name)]
        matching += [
            _entry(entry, user)
            for entry in entries
            if name in (None, entry.command, entry.identifier)
        ]
        if note and name is None and matching:
            matching[0] = matching[0]._replace(note=note)
        yield from matching
        if note and name is None and not matching:
            yield Resource("", user, note=note)


def _users() -> list[str]:
    """Whose crontabs can be read: everybody's for root, else the caller's own."""
    own = pwd.getpwuid(os.geteuid()).pw_name
    if os.geteuid():
        return [own]
    return sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else []


def _entry(entry: cron.Entry, user: str) -> Resource:
    arguments: dict[str, Any] = {"user": user}
    if entry.identifier != entry.command:
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


def _others(user: str, entries: list[cron.Entry]) -> list[str]:
    """Lines that run something and stand above what is managed."""
    managed = {f"{entry.time} {entry.command}" for entry in entries}
    lines = [" ".join(line.split()) for line in cron.read(user)]
    plain = [line for line in lines if line and not line.startswith("#") and line not in managed]
    return [line for line in plain if not cron.sets_variable(line)]
