# SPDX-License-Identifier: Apache-2.0
"""The place that a path means: of the machine, or in a dry run of the planned one."""

from __future__ import annotations

from modules._planned.files import planned_files
from modules.file._paths import planned_place
from modules.file._paths.place import Place
from modules.file._paths.walk import resolved


def place(path: str, follow: bool = False) -> Place:
    """The place that a path means now, in a dry run on the planned machine. follow: a link at its
    end, too, where it may be followed.
    """
    files = planned_files()
    if files is None:
        return Place(resolved(path, follow))
    return planned_place.PlannedPlace(files, files.way(path, follow))
