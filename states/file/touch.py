# SPDX-License-Identifier: Apache-2.0
"""file.touch: a file exists and has fresh (or given) times."""

from __future__ import annotations

import time

from modules import file
from runner.api import AbsolutePath, Plan, Planned, StateFailed
from states.file import _lines


def touch(
    name: AbsolutePath,
    atime: int | float | str | None = None,
    mtime: int | float | str | None = None,
    makedirs: bool = False,
) -> Planned:
    """Make sure that a file exists, and set its times in each run.

    name: The file or folder.
    atime: The time of the last access, in seconds since 1970; without it now.
    mtime: The time of the last change, in seconds since 1970; without it now.
    makedirs: Create missing parent folders.

        /var/log/httpd/logrotate.empty:
          file.touch

    Behaviour: Salt 3008's file.touch; a dry run says that the times will be set, as the real run
    sets them always.
    """
    accessed, modified = _seconds("atime", atime), _seconds("mtime", mtime)
    exists = file.exists(name)
    if name[-1:] == "/" and not exists:
        raise StateFailed(f"{name} is no folder (file.directory makes one)", missing=("file", name))
    if not exists:
        _lines.require_parent(name, makedirs, f"Directory not present to touch file {name}")
    kind = "directory" if exists and file.is_dir(name) else "file"
    if exists:
        yield Plan({"touched": name}, f"Times set to be updated on {kind} {name}")
    else:
        yield Plan({"new": name}, f"File {name} is set to be created", provides=[("file", name)])
        _lines.make_parent(name)
        file.write(name, b"")
    now = time.time()
    if exists or not (accessed is None and modified is None):
        file.utime(
            name, now if accessed is None else accessed, now if modified is None else modified
        )
    return f"Updated times on {kind} {name}" if exists else f"Created empty file {name}"


def _seconds(argument: str, value: float | str | None) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        raise StateFailed(
            f"{argument}: {value!r} is not a time; expected seconds since 1970"
        ) from None
