# SPDX-License-Identifier: Apache-2.0
"""What a command may do to paths, as far as its words tell (`command_lines.py`)."""

from __future__ import annotations

from runner.model.records import Record


class Alterations(Record):
    """What a command may do to paths. made: paths that may be there afterwards; altered: those that
    may be otherwise, or gone. is_all: it does nothing else.
    """

    made: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    is_all: bool = False
