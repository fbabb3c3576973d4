# SPDX-License-Identifier: Apache-2.0
"""file.exists: a path exists."""

from __future__ import annotations

from modules import file
from runner.api import Done, StateFailed


def exists(name: str) -> Done:
    """Fail unless a path exists (a symlink counts when what it points to exists); changes nothing.

    name: The path.

        /etc/ssl/private/host.key:
          file.exists
    """
    if not file.exists(name):
        raise StateFailed(f"Specified path {name} does not exist", missing=("file", name))
    return Done(f"Path {name} exists", {})
