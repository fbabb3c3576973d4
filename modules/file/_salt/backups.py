# SPDX-License-Identifier: Apache-2.0
"""The files that `backup: minion` kept, under Salt's names with Salt's answers."""

from __future__ import annotations

import datetime
import os
import re
from typing import Any

from modules import _paths
from modules.file import _change, _look
from modules.file._contents import write
from modules.file._salt.arguments import path_given
from runner.api import StateFailed, here

_STAMP = "%a_%b_%d_%H:%M:%S_%f_%Y"
_NAME = re.compile(r"(?P<name>.+)_(?P<stamp>\w{3}_\w{3}_\d\d_\d\d:\d\d:\d\d_\d{6}_\d{4})")


def _backups_below(folder: str) -> dict[str, list[tuple[datetime.datetime, str]]]:
    """The backups of the files of a folder by their names: time and path of each, newest first."""
    kept = f"{here.state_dir}/file_backup{folder.rstrip('/')}"
    by_name: dict[str, list[tuple[datetime.datetime, str]]] = {}
    for entry in sorted(_paths.listdir(kept)) if _paths.isdir(kept) else []:
        match = _NAME.fullmatch(entry)
        if match:
            when = _time(match["stamp"])
            by_name.setdefault(match["name"], []).append((when, os.path.join(kept, entry)))
    return {name: sorted(backups, reverse=True) for name, backups in by_name.items()}


def _time(stamp: str) -> datetime.datetime:
    """The time of a backup; its month is written in English, or in the language of that run."""
    try:
        return datetime.datetime.strptime(stamp, _STAMP)
    except ValueError:
        return datetime.datetime.min


def _listing(
    backups: list[tuple[datetime.datetime, str]], limit: int | None
) -> dict[int, dict[str, Any]]:
    return {
        number: {
            "Backup Time": when.strftime("%a %b %d %Y %H:%M:%S.%f"),
            "Size": _paths.stat(path).st_size,
            "Location": path,
        }
        for number, (when, path) in enumerate(backups[:limit])
    }


def _limit(limit: int | str | None) -> int | None:
    if limit is None:
        return None
    if not str(limit).isdecimal():
        raise StateFailed(f"limit: expected a number, not {limit!r}")
    return int(limit)


def list_backups(path: str, limit: int | None = None) -> dict[int, dict[str, Any]]:
    """The earlier versions of a file that `backup: minion` kept, newest first, by a number: Backup
    Time, Size and Location of each. limit: at most so many.

    runner call file.list_backups /etc/nginx/nginx.conf
    """
    folder, name = os.path.split(path_given(path))
    return _listing(_backups_below(folder).get(name, []), _limit(limit))


list_backup = list_backups


def list_backups_dir(path: str, limit: int | None = None) -> dict[str, dict[int, dict[str, Any]]]:
    """Return what list_backups answers for each file of a folder, by its name."""
    most = _limit(limit)
    below = _backups_below(path_given(path))
    return {name: _listing(backups, most) for name, backups in below.items()}


def _location(path: str, backup_id: int | str) -> str:
    backups = list_backups(path)
    number = int(backup_id) if str(backup_id).isdecimal() else -1
    if number not in backups:
        raise StateFailed(
            f"backup_id '{backup_id}' does not exist for {path}: file.list_backups has the numbers"
        )
    return str(backups[number]["Location"])


def restore_backup(path: str, backup_id: int | str) -> dict[str, Any]:
    """Make a file what it was in a backup, its mode and owner too; the present one is kept as a
    backup before.

    backup_id: its number, as list_backups has it; 0 is the newest.

        runner call file.restore_backup /etc/nginx/nginx.conf 0
    """
    target, location = path_given(path), _location(path, backup_id)
    old = _look.stat(location)
    data = _look.read_whole(location)
    write.write(target, data, mode=old.mode, user=old.uid, group=old.gid, backup="minion")
    return {"result": True, "comment": f"Successfully restored {location} to {target}"}


def delete_backup(path: str, backup_id: int | str) -> dict[str, Any]:
    """Delete a backup of a file. backup_id: its number, as list_backups has it."""
    location = _location(path, backup_id)
    _change.remove(location)
    return {"result": True, "comment": f"Successfully removed {location}"}


remove_backup = delete_backup
