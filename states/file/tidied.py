# SPDX-License-Identifier: Apache-2.0
"""file.tidied: old and large files of a folder are removed."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from modules import file
from runner.api import AbsolutePath, Plan, Planned, StateFailed

_UNITS = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


def tidied(
    name: AbsolutePath,
    age: int = 0,
    matches: list[str] | None = None,
    rmdirs: bool = False,
    size: int | str = 0,
    exclude: list[str] | None = None,
    full_path_match: bool = False,
    followlinks: bool = False,
    time_comparison: str = "atime",
    age_size_logical_operator: str = "OR",
    age_size_only: str | None = None,
    rmlinks: bool = True,
) -> Planned:
    """Remove files of a folder, and of those below it, that are old enough or large enough. Without
    `age` and `size` all go that match.

    name: The folder.
    age: Days since the time that `time_comparison` names; 0 asks for no age.
    matches: Regular expressions of the names of files to look at; without them all.
    rmdirs: Remove folders, too.
    size: The smallest size, as a number of bytes or as 10k, 5m, 1g; 0 asks for no size.
    exclude: Regular expressions of the names of files to leave.
    full_path_match: The expressions are about whole paths instead of names.
    followlinks: Go into linked folders.
    time_comparison: Which time of a file counts: `atime` (read), `mtime` (written) or `ctime`
      (changed).
    age_size_logical_operator: Whether a file that is old `OR` large goes, or only one that is old
      `AND` large.
    age_size_only: Look at the `age` only, or at the `size` only.
    rmlinks: False keeps links.

        /var/log/app:
          file.tidied:
            - age: 30
            - matches: ['.*\\.log$']
    """
    if time_comparison not in ("atime", "mtime", "ctime"):
        raise StateFailed(
            f"time_comparison: there is no {time_comparison!r}; it is atime, mtime or ctime"
        )
    if not file.is_dir(name):
        raise StateFailed(f"{name} does not exist or is not a directory.", missing=("file", name))
    limit = _bytes(size)
    patterns = [re.compile(pattern) for pattern in matches or [".*"]]
    unwanted = [re.compile(pattern) for pattern in exclude or ()]
    removed = []
    for entry in file.entries_below(name, followlinks):
        kind_fits = (
            entry.kind == "file"
            or (entry.kind == "link" and rmlinks)
            or (entry.kind == "dir" and rmdirs)
        )
        label = entry.path if full_path_match else entry.path.rpartition("/")[2]
        if (
            not kind_fits
            or not any(pattern.match(label) for pattern in patterns)
            or any(pattern.match(label) for pattern in unwanted)
        ):
            continue
        old = (time.time() - getattr(entry, time_comparison)) / 86400 >= abs(age)
        criteria = {"age": (age, old), "size": (limit, entry.size >= limit)}
        if _is_chosen(criteria, age_size_logical_operator, age_size_only):
            removed.append(entry.path)
    if not removed:
        return f"Nothing to remove from directory {name}"
    file.refuse_mounted("remove", *removed, below=True)
    yield Plan({"removed": removed}, f"{name} is set for tidy")
    for path in removed:
        file.remove(path)
    return f"Removed {len(removed)} files or directories from directory {name}"


def _is_chosen(criteria: Mapping[str, tuple[int, bool]], operator: str, only: str | None) -> bool:
    """Return whether a file goes. criteria: what each asks for, 0 for nothing, and whether the file
    meets it.
    """
    if only:
        return criteria["age" if only.lower() == "age" else "size"][1]
    met = [is_met for wanted, is_met in criteria.values() if wanted]
    return all(met) if operator.upper() == "AND" else any(met) or not met


def _bytes(size: int | str) -> int:
    match = re.fullmatch(r"(\d+)\s*([bkmgt]?)b?", str(size).lower())
    if match is None:
        raise StateFailed(f"size: {size!r} is not a size; write 10k, 5m or 1g")
    return int(match[1]) * _UNITS[match[2]]
