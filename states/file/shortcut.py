# SPDX-License-Identifier: Apache-2.0
"""Shortcuts: what Windows has instead of links."""

from __future__ import annotations

from runner.api import AbsolutePath, StateFailed


def shortcut(
    name: AbsolutePath,
    target: str,
    arguments: str | None = None,
    working_dir: str | None = None,
    description: str | None = None,
    icon_location: str | None = None,
    force: bool = False,
    backupname: str | None = None,
    makedirs: bool = False,
    user: str | None = None,
) -> str:
    """Make sure that there is a shortcut: refused, they are for Windows.

    name: The shortcut.
    target: refused; what it leads to.
    arguments: Refused; the arguments of the program.
    working_dir: Refused; the folder that the program starts in.
    description: Refused; the text of the shortcut.
    icon_location: Refused; where its picture is.
    force: Refused; replace what is in the way.
    backupname: Refused; where what is in the way is moved.
    makedirs: Refused; create missing parent folders.
    user: Refused; who owns it.

        /srv/site.lnk:
          file.shortcut:
            - target: /srv/site-1.2

    Behaviour: Salt 3008's file.shortcut, which fails here, too.
    """
    raise StateFailed("Shortcuts are only supported on Windows: use file.symlink")
