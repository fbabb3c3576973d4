# SPDX-License-Identifier: Apache-2.0
"""Folders that a dry run has made in its cache, as parts of the planned machine."""

from __future__ import annotations

import os

from modules._planned.files import PlannedFiles
from modules.file._change import make_folders
from modules.file._paths.planned_place import PlannedPlace


def graft(folder: str, files: PlannedFiles, path: str) -> None:
    """Have a folder of the machine at a path of the planned one, instead of an empty folder."""
    make_folders(os.path.dirname(path))
    where = PlannedPlace(files, files.way(path))
    if where.is_dir():
        where.rmdir()
    where.graft(folder)
