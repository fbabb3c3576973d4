# SPDX-License-Identifier: Apache-2.0
"""Facts: what a Plan makes true, and what a state lacks."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

# ("file", "/etc/motd"), ("user", "www"); also of the kinds group, pkg, service, command
Fact = tuple[str, str]


class Open:
    """Anything may be there afterwards: what pkg.*, cmd.*, module.run, git, archive and classic
    functions provide.
    """

    def __repr__(self) -> str:
        return "OPEN"


OPEN: Final = Open()


def open_at(*paths: str | None, named: Iterable[str] = ()) -> list[Fact | Open]:
    """What a Plan provides that makes nobody knows what, first of all below some paths, and what
    is named like something.
    """
    told = [path.rstrip("/") for path in paths if path]
    places = ((kind, path) for path in told for kind in ("made", "altered"))
    return [OPEN, *places, *(("named", name) for name in named)]
