# SPDX-License-Identifier: Apache-2.0
"""Aliases of mail as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import aliases
from runner.api import Resource

ROLE = "system"
# what the mail server of each installation begins with
USUAL = tuple(
    """
    mailer-daemon postmaster nobody hostmaster usenet news webmaster www ftp abuse noc security
    """.split()
)


def resources(name: str | None) -> Iterator[Resource]:
    """The aliases with their targets."""
    for alias, target in aliases.list_aliases().items():
        if name in (None, alias) and target:
            shipped = alias.lower() in USUAL and target in ("root", "postmaster")
            files = (aliases.PATH,)
            yield Resource("alias.present", alias, {"target": target}, shipped=shipped, files=files)
