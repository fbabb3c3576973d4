# SPDX-License-Identifier: Apache-2.0
"""Where a path leads, on the machine or the planned one, and who can make it lead elsewhere."""

from __future__ import annotations

# os in this file: walks by descriptors, or in the planned files
import errno
import os
import stat as bits

from modules import _paths
from modules._planned.files import PlannedFiles, planned_files
from modules.file._paths.walk import Walk, refuse_unless
from runner.api import StateFailed
from runner.api import others_write as others_write


def real_path(path: str) -> str:
    """The path without symbolic links; it need not exist. Raises StateFailed for a link that is not
    to be followed.
    """
    if not path.startswith("/"):
        path = os.path.join(os.getcwd(), path)
    if (files := planned_files()) is not None:
        return _planned_path(files, path)
    walk = Walk(path)
    try:
        target = walk.to_end(follow=True)
    except FileNotFoundError:
        return walk.rest()
    except OSError:  # a file where a folder should be, a loop, a folder that is not ours to enter
        return os.path.realpath(path)
    os.close(target.folder)
    return target.path


def _planned_path(files: PlannedFiles, path: str) -> str:
    try:
        way = files.way(path, follow=True)
    except (FileNotFoundError, NotADirectoryError) as problem:
        return str(problem.filename)
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            return _in_circle("/", path, {})[0]
        raise StateFailed(f"cannot look at {path}: {problem.strerror}") from problem
    end = way.entry() or way.folders[-1][1]
    for link in way.links:
        refuse_unless(link, end.uid)
    return way.path


def _in_circle(folder: str, path: str, seen: dict[str, str]) -> tuple[str, bool]:
    """Where links in a circle lead, as os.path.realpath says, and whether that is their end."""
    if path.startswith("/"):
        folder = "/"
    names = [name for name in path.split("/") if name not in ("", ".")]
    for number, name in enumerate(names, 1):
        at = os.path.dirname(folder) if name == ".." else os.path.join(folder, name)
        has_end = True
        if at in seen:
            folder, has_end = seen[at] or at, bool(seen[at])
        elif _paths.islink(at):
            seen[at] = ""
            folder, has_end = _in_circle(folder, _paths.readlink(at), seen)
            seen[at] = folder if has_end else ""
        else:
            folder = at
        if not has_end:
            return os.path.join(folder, *names[number:]), False
    return folder, True


def others_replace(path: str) -> bool:
    """Return whether somebody but root and the caller can put something else in the place of a
    path, or of a folder above.
    """
    path = real_path(path)
    trusted = (0, os.geteuid())
    while path != "/":
        at, path = _paths.lstat(path), os.path.dirname(path)
        above = _paths.stat(path)
        sticky = above.st_mode & bits.S_ISVTX and above.st_uid in trusted and at.st_uid in trusted
        if others_write(above) and not sticky:
            return True
    return False
