# SPDX-License-Identifier: Apache-2.0
"""file.retention_schedule: old backups go, by a schedule."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import Any

from modules import file
from runner.api import AbsolutePath, Plan, Planned, StateFailed

_PERIODS: dict[str, Callable[[datetime], Any]] = {
    "most_recent": lambda time: time,
    "first_of_hour": lambda time: (time.year, time.month, time.day, time.hour),
    "first_of_day": lambda time: (time.year, time.month, time.day),
    "first_of_week": lambda time: tuple(time.isocalendar())[:2],
    "first_of_month": lambda time: (time.year, time.month),
    "first_of_year": lambda time: time.year,
}


def retention_schedule(
    name: AbsolutePath,
    retain: dict[str, int | str],
    strptime_format: str | None = None,
    timezone: str | None = None,
) -> Planned:
    """Remove the backups of a folder that a schedule does not keep.

    name: The folder; all that is in it counts as a backup, files, links and folders.
    retain: How many to keep, or `all`: most_recent, and the first_of_hour, first_of_day,
      first_of_week (one more than written), first_of_month and first_of_year of the last so many of
      these that have one.
    strptime_format: How the time is written in the names; what does not fit is left alone. Without
      it the time of the last change counts.
    timezone: Whose days and hours count, such as Europe/Berlin; without it the machine's.

        /var/backups/db:
          file.retention_schedule:
            - retain: {most_recent: 5, first_of_day: 7, first_of_month: all}
            - strptime_format: db-%Y%m%dT%H%M.sql

    Behaviour: Salt 3008's file.retention_schedule; a schedule that keeps nothing at all fails.
    """
    counts = {period: _count(period, number) for period, number in retain.items()}
    if not any(counts.values()):
        raise StateFailed(
            "retain keeps nothing, so every backup would be removed; say how many to keep"
        )
    if not file.is_dir(name):
        raise StateFailed(
            "Name provided to file.retention must be a directory", missing=("file", name)
        )
    zone = _zone(timezone)
    times = {
        entry: _time(f"{name.rstrip('/')}/{entry}", entry, strptime_format, zone)
        for entry in file.listdir(name)
    }
    known = {entry: time for entry, time in times.items() if time is not None}
    retained = _retained(known, counts)
    deleted = [entry for entry in known if entry not in retained]
    if not deleted:
        return f"0 backups were removed from {name}.\n"
    changes = {
        "retained": sorted(retained, reverse=True),
        "deleted": sorted(deleted, reverse=True),
        "ignored": sorted([".", "..", *(times.keys() - known.keys())], reverse=True),
    }
    paths = [f"{name.rstrip('/')}/{entry}" for entry in deleted]
    file.refuse_mounted("remove", *paths, below=True)
    yield Plan(changes, f"{len(deleted)} backups would have been removed from {name}.\n")
    for path in paths:
        file.remove(path)
    return f"{len(deleted)} backups were removed from {name}.\n"


def _count(period: str, number: int | str) -> float:
    """The number of backups to keep."""
    if period not in _PERIODS:
        raise StateFailed(f"retain: {period!r} is not a period; there are {', '.join(_PERIODS)}")
    if number == "all":
        return float("inf")
    try:
        count = int(number)
    except ValueError:
        count = -1
    if count < 0:
        raise StateFailed(f"retain: {period}: {number!r} is neither a number of backups nor all")
    return count


def _zone(name: str | None) -> tzinfo | None:
    if not name:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as problem:
        raise StateFailed(f"timezone {name!r} is not known here") from problem


def _time(path: str, entry: str, pattern: str | None, zone: tzinfo | None) -> datetime | None:
    """The time when a backup was made; None for what is not a backup."""
    if pattern is None:
        present = file.seen(path)
        return datetime.fromtimestamp(present.mtime if present else 0, zone)
    try:
        return datetime.strptime(entry, pattern).replace(tzinfo=zone)
    except ValueError:
        return None


def _retained(times: Mapping[str, datetime], counts: Mapping[str, float]) -> set[str]:
    """The backups that the schedule keeps."""
    retained: set[str] = set()
    newest_first = sorted(sorted(times), key=lambda entry: times[entry], reverse=True)
    for period, count in counts.items():
        if period == "most_recent":
            retained.update(entry for number, entry in enumerate(newest_first) if number < count)
            continue
        firsts: dict[Any, str] = {}  # the oldest of a period comes last and stays
        for entry in newest_first:
            firsts[_PERIODS[period](times[entry])] = entry
        most = count + 1 if period == "first_of_week" else count
        retained.update(entry for number, entry in enumerate(firsts.values()) if number < most)
    return retained
