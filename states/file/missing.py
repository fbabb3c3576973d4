# SPDX-License-Identifier: Apache-2.0
"""file.missing: a path does not exist."""

from __future__ import annotations

from typing import Annotated

from modules import file
from runner.api import Done, NotEmpty, StateFailed
from states.file import _lines


def missing(name: Annotated[str, NotEmpty()]) -> Done:
    """Fail if a path exists (a symlink to nothing does not); changes nothing.

    name: The path.

        /etc/nologin:
          file.missing
    """
    if file.exists(name):
        raise StateFailed(f"Specified path {name} exists")
    return Done(f"Path {name} is missing", {}, missing=_lines.absence(name))
