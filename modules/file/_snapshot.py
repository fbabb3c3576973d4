# SPDX-License-Identifier: Apache-2.0
"""The snapshot of a path before a change: the events carry it, the history and undo live on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice

from modules import _paths
from modules.file._look import seen
from modules.file._paths.walk import real_path
from runner.api import here

MOST_COPIED = 2_000  # paths of a copied folder whose places undo restores


def snapshot(path: str, *_: object, **__: object) -> object:
    """The snapshot of a path, for the history and undo."""
    path = path.rstrip("/") or "/"  # with a slash it would be what a link leads to
    stat = seen(path, follow=False)
    if stat is None:
        return {"path": path, "type": "none"}
    facts = {"path": path, "type": stat.type, "mode": stat.mode, "uid": stat.uid, "gid": stat.gid}
    return facts | (
        {"target": _paths.readlink(path)} if stat.type == "link" else {"size": stat.size}
    )


def snapshot_of_written(
    path: str, *_: object, follow: bool = True, private: bool = False, **__: object
) -> object:
    """The snapshot of a path, for a writer that follows links. private: without the contents."""
    facts = snapshot(target_of(path, follow))
    return {**facts, "private": True} if private and isinstance(facts, dict) else facts


def target_of(path: str, follow: bool) -> str:
    """The file that a write to a path means: what the state found behind a link when it read it, or
    what is there now.

    What has become a link since the state looked is not followed: it is replaced.
    """
    if not follow:
        return path
    if here.chunk is not None and path in here.read:
        return here.read[path]
    return real_path(path) if _paths.islink(path) else path


def missing_folders(path: str) -> list[dict[str, str]]:
    """The snapshots of the folders that will be made for a path, itself among them."""
    missing = []
    while path and not _paths.lexists(path):
        missing.append({"path": path, "type": "none"})
        path = os.path.dirname(path.rstrip("/"))
    return missing[::-1]


def snapshot_of_missing(path: str, *_: object, **__: object) -> object:
    """The folders that will be made."""
    return {"several": missing_folders(path)}


def snapshot_of_move(old: str, new: str, *_: object, **__: object) -> object:
    """The snapshots of both ends."""
    return {"several": [snapshot(new), {"path": old, "type": "moved", "target": new}]}


def paths_below(top: str) -> Iterator[str]:
    """All that a folder holds, and what that holds."""
    for root, folders, files in _paths.walk(top):
        yield from (os.path.join(root, name) for name in [*folders, *files])


def snapshot_of_copy(old: str, new: str, *_: object, **__: object) -> object:
    """The snapshots of the places where a copy goes."""
    if not _paths.isdir(old):
        into = os.path.join(new, os.path.basename(old)) if _paths.isdir(new) else new
        return snapshot(real_path(into) if _paths.islink(into) else into)
    inner = (os.path.join(new, os.path.relpath(path, old)) for path in paths_below(old))
    return {"several": [snapshot(path) for path in (new, *islice(inner, MOST_COPIED))]}


def snapshot_of_second(_: str, path: str, *__: object, **___: object) -> object:
    """The snapshot of the second argument's path."""
    return snapshot(path)
