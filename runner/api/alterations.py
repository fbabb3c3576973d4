# SPDX-License-Identifier: Apache-2.0
"""What a command may do to paths, as far as its words tell (`command_lines.py`)."""

from __future__ import annotations

from runner.model.records import Record


class Alterations(Record):
    """What a command may do to paths. made: paths that may be there afterwards, files or folders;
    created: those that surely are; altered: those that may be otherwise, or gone. is_all: it does
    nothing else.
    """

    made: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    is_all: bool = False

    def facts(self) -> list[tuple[str, str]]:
        """Return what a Plan provides of it."""
        kinds = {
            "created": self.created,
            "made": self.made,
            "made file": self.files,
            "made folder": self.folders,
            "altered": self.altered,
        }
        return [(kind, path) for kind, paths in kinds.items() for path in paths]
