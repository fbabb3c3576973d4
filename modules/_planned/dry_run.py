# SPDX-License-Identifier: Apache-2.0
"""The overlay of a dry run, whole: planned files, places in them, what commands see of them, and
planned accounts. Only the loader imports this, and hands it in.
"""

from __future__ import annotations

import os

from modules._accounts.planned import PlannedAccounts
from modules._planned.files import PlannedFiles
from modules._planned.view import View, planned_view, settle
from modules.file._change import make_folders
from modules.file._paths.place import Place
from modules.file._paths.planned_place import PlannedPlace


class PlannedOverlay(PlannedFiles):
    """Planned files, to be laid over those of the machine."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts = PlannedAccounts()

    def place(self, path: str, follow: bool = False) -> Place:
        return PlannedPlace(self, self.way(path, follow))

    def settled_copy(self, path: str) -> str:
        copy = self.copy_of(path)
        if copy and (entry := self.entry(path)) is not None:
            settle(entry)
        return copy

    def graft(self, folder: str, path: str) -> None:
        make_folders(os.path.dirname(path))
        where = PlannedPlace(self, self.way(path))
        if where.is_dir():
            where.rmdir()
        where.graft(folder)

    def view(self) -> View | None:
        return planned_view(self)
