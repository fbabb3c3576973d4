# SPDX-License-Identifier: Apache-2.0
"""The overlay of a dry run, whole: planned files, places in them, what commands see of them. Only
the loader imports this, and hands it in.
"""

from __future__ import annotations

from modules._planned.files import PlannedFiles
from modules._planned.view import View, planned_view
from modules.file._paths.place import Place
from modules.file._paths.planned_place import PlannedPlace


class PlannedOverlay(PlannedFiles):
    """Planned files, to be laid over those of the machine."""

    def place(self, path: str, follow: bool = False) -> Place:
        return PlannedPlace(self, self.way(path, follow))

    def view(self) -> View | None:
        return planned_view(self)
