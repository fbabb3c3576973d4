# SPDX-License-Identifier: Apache-2.0
"""file.pruned: folders that hold nothing are gone."""

from __future__ import annotations

import time

from modules import file
from runner.api import AbsolutePath, Done, Plan, Planned, StateFailed
from states.file import _lines


def pruned(
    name: AbsolutePath,
    recurse: bool = False,
    ignore_errors: bool = False,
    older_than: float | None = None,
) -> Planned:
    """Make sure that a folder is gone, if nothing is in it.

    name: The folder.
    recurse: Empty folders in it go first.
    ignore_errors: Recurse, leave those that are not empty and succeed.
    older_than: Days; with recurse, only folders that did not change for so long.

        /var/cache/app:
          file.pruned:
            - recurse: True
            - ignore_errors: True

    Behaviour: Salt 3008's file.pruned; where it fails, nothing was removed.
    """
    if not file.is_dir(name) or file.is_link(name):
        return Done(f"Directory {name} is not present", missing=_lines.absence(name))
    recurse = recurse or ignore_errors
    before = time.time() - older_than * 86400 if older_than is not None and recurse else None
    removable: list[str] = []
    blocker = _find_empty(name, recurse, before, removable)
    if blocker and not (recurse and (ignore_errors or before is not None)):
        problem = [blocker, f"[Errno 39] Directory not empty: '{blocker}'"]
        raise StateFailed(
            f"Failed to remove directory {name}", changes={"deleted": [], "errors": [problem]}
        )
    if not removable:
        return f"There is no empty directory under {name}"
    paths = sorted(removable)
    yield Plan({"deleted": paths if recurse else name}, f"Directory {name} is set for removal")
    for path in removable:
        file.remove_folder(path)
    if not recurse:
        return f"Removed directory {name}"
    return Done(f"Recursively removed empty directories under {name}", {"deleted": paths})


def _find_empty(
    folder: str, recurse: bool, before: float | None, removable: list[str]
) -> str | None:
    """Find what can go, the deepest first. Answers with a folder that has to stay."""
    stays: str | None = None
    for name in sorted(file.listdir(folder)):
        path = f"{folder.rstrip('/')}/{name}"
        if recurse and file.is_dir(path) and not file.is_link(path):
            stays = _find_empty(path, recurse, before, removable) or stays
        else:
            stays = stays or folder
    if before is not None and file.stat(folder).mtime > before:
        stays = stays or folder
    if stays is None:
        removable.append(folder)
    return stays
