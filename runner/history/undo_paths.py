# SPDX-License-Identifier: Apache-2.0
"""Files, folders and links as they were: judged, compared, restored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from runner.api import StateFailed
from runner.history.contents import ContentStore
from runner.history.kept import KeptRun
from runner.history.snapshots import Snapshot, at, unpacked
from runner.history.undo_foresight import Foresight, Functions

if TYPE_CHECKING:
    from typing import Any

UNKNOWN_SINCE = "the run was killed before it noted how it left this: what changed since is unknown"


def planned(
    was: Snapshot, run: KeptRun, foresight: Foresight, silent: bool
) -> Iterator[tuple[Snapshot, Snapshot, str, str]]:
    """Yield what is to be done about a path: (what it was, what it is, why it is left out, a note);
    nothing where it is as it was. silent: as of `difference`.
    """
    now = foresight.at(was.path)
    is_same = now.is_same(was) and not is_unkept(was) and not _is_made_link(was, run)
    if is_same or _is_moved_back(was, now, run.left_paths):
        return  # an undo that stopped half-way had come here
    refused = (
        _not_kept(was, now, run.store)
        or _changed_since(was, run, silent)
        or _hindrance(was, foresight)
    )
    known = was.path in run.left_paths
    yield was, now, refused, "" if known or refused else UNKNOWN_SINCE


def _is_made_link(was: Snapshot, run: KeptRun) -> bool:
    """Return whether a run put another name of an equal file where a file of its own was."""
    if was.type != "file" or not run.removed(was.path):
        return False
    try:
        return os.lstat(was.path).st_nlink > 1
    except OSError:
        return False


def restore(was: Snapshot, now: Snapshot, store: ContentStore, functions: Functions) -> None:
    """Make a path what it was. Raises StateFailed."""
    data = store.get(was.content) or b""
    attributes = None if was.attributes is None else unpacked(store.get(was.attributes) or b"")
    functions("file.put_back")(
        was.path,
        was.type,
        was.mode,
        was.uid,
        was.gid,
        was.target,
        data,
        attributes,
        now.is_same(was) and not is_unkept(was),  # another name of an equal file
    )


def is_unkept(path: Snapshot) -> bool:
    """Return whether nobody knows what was in a file: it was too large."""
    return path.type == "file" and not path.content


def _is_moved_back(was: Snapshot, now: Snapshot, left: dict[str, Snapshot]) -> bool:
    target = left.get(was.target)
    if was.type != "moved" or target is None or target.type == "none":  # it was moved on
        return False
    return now.is_same(target._replace(path=was.path))


def _not_kept(was: Snapshot, now: Snapshot, store: ContentStore) -> str:
    """The reason why the history does not have what a path was."""
    if was.type == "other" and (now.type, now.target) != (was.type, was.target):
        return "it was a device, a pipe or a socket; these are not kept"
    if was.type == "file" and store.get(was.content) is None:
        usual = "its contents were not kept (too large, or the store is not whole)"
        return store.why_lacking(was.content, usual)
    if was.type == "link" and not was.target:
        return "where it pointed to was not kept (the store is not whole)"
    if was.attributes and store.get(was.attributes) is None:
        usual = "its extended attributes were not kept (the store is not whole)"
        return store.why_lacking(was.attributes, usual)
    return ""


def _changed_since(was: Snapshot, run: KeptRun, silent: bool) -> str:
    """The reason why a path is somebody else's by now; empty when it is as the run left it."""
    for path in (was.path, was.target) if was.type == "moved" else (was.path,):
        now, then = at(path), run.left_paths.get(path)
        if then is not None and then.is_same(now):
            continue
        later = list(run.later_versions(path))
        if run.path and any(version.is_same(now) for _, version in later):
            continue  # one path is asked for, and a later run knows what is there: nothing is lost
        if then is None:
            if not later or later[0][1].is_same(now):
                continue
            then = later[0][1]
        by = [number for number, version in later if version.is_same(now)]
        who = f"run {by[-1]} changed it since" if by else "the machine was changed since"
        return f"{who}: {difference(now, then, silent)}"
    return ""


def _hindrance(was: Snapshot, foresight: Foresight) -> str:
    """The reason why a path cannot be restored; empty without one."""
    folder, now = os.path.dirname(was.path), foresight.at(was.path)
    if not foresight.is_folder(folder):
        return f"its folder {folder} does not exist"
    if now.type == "dir" and was.type != "dir":
        inside = next(foresight.inside(was.path), "")
        if inside:
            return f"it is a folder that is not empty: it holds {inside}"
    if foresight.is_unlocked(was.path):
        return ""
    refuse = foresight.functions
    try:
        stays = now.type == was.type and was.type in ("dir", "other")
        refuse("file.refuse_chmod" if stays else "file.refuse_put")(was.path)
        if was.type in ("file", "dir", "link", "other"):
            refuse("file.refuse_owner")(was.path, was.uid, was.gid)
        if was.type == "moved":
            refuse("file.refuse_put")(was.target)
    except StateFailed as failure:
        return failure.message
    return ""


def masked(
    was: Snapshot, now: Snapshot, mask: Callable[[Any], Any], newest: str = ""
) -> tuple[Snapshot, Snapshot]:
    """Two states of a path as they are shown, the older one first. newest: where it points to by
    now.
    """
    before, after = (
        older(older(each.target, now.target, mask), newest, mask) for each in (was, now)
    )
    if before == after and was.target != now.target:
        before += " (another)"
    return (
        was._replace(path=mask(was.path), target=before),
        now._replace(path=mask(now.path), target=after),
    )


def older(text: str, newer: str, mask: Callable[[Any], Any]) -> str:
    """An old text as it is shown: without what stood where a newer one has a secret, too."""
    return str(mask({"old": text, "new": newer})["old"])


def difference(first: Snapshot, second: Snapshot, silent: bool = False) -> str:
    """The difference of the first from the second, in words. silent: where links point to is not
    shown.
    """
    if first.type == "moved":
        return f"moved back from {first.target}"
    if first.type != second.type:
        return f"{_named(first, silent)} instead of {_named(second, silent)}"
    parts = []
    if first.type == "file" and first.content and first.is_same(second):
        return "a file of its own instead of a hard link"
    if first.content != second.content:
        parts.append("other contents")
    elif first.type == "file" and not first.content:
        parts.append("perhaps other contents")
    if first.target != second.target and first.type == "link":
        where = "elsewhere" if silent else f"to {first.target} instead of {second.target}"
        parts.append(f"points {where}")
    if first.mode != second.mode:
        parts.append(f"mode {first.mode:04o} instead of {second.mode:04o}")
    if (first.uid, first.gid) != (second.uid, second.gid):
        parts.append(f"owner {first.uid}:{first.gid} instead of {second.uid}:{second.gid}")
    if None not in (hashes := (first.attributes, second.attributes)) and hashes[0] != hashes[1]:
        parts.append("other extended attributes")
    return ", ".join(parts) or "as it is"


def _named(snapshot: Snapshot, silent: bool) -> str:
    names = {
        "none": "nothing",
        "dir": "a folder",
        "link": "a link" if silent else f"a link to {snapshot.target}",
        "file": "a file",
    }
    return names.get(snapshot.type, snapshot.type)
