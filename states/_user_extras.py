# SPDX-License-Identifier: Apache-2.0
"""Arguments of user.present beyond Salt's: lingering and ranges of subordinate numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from modules import user as users
from runner.api import Record, StateFailed


class Extras(Record):
    """linger: whether the user's systemd runs without a login; None: as it is. subuids, subgids:
    ranges FIRST-LAST that the user has to own.
    """

    linger: bool | None = None
    subuids: Sequence[str] = ()
    subgids: Sequence[str] = ()

    def pending(self, name: str) -> dict[str, Any]:
        """The changes to come. Raises StateFailed for what cannot be."""
        changes: dict[str, Any] = {}
        for kind, ranges in (("subuids", self.subuids), ("subgids", self.subgids)):
            for text in ranges:
                first, _, last = text.partition("-")
                if not re.fullmatch(r"\d+-\d+", text) or int(first) > int(last):
                    raise StateFailed(f"{kind}: {text!r} is not a range such as 100000-165535")
            missing = [text for text in ranges if text not in users.subordinate(kind, name)]
            changes |= {kind: missing} if missing else {}
        if self.linger is not None and users.lingers(name) is not self.linger:
            if self.linger and not users.can_linger():
                raise StateFailed("linger needs systemd, which does not run this machine")
            changes["linger"] = self.linger
        return changes

    def apply(self, name: str) -> None:
        """Make the changes that are still to be made. Raises CommandFailed."""
        changes = self.pending(name)
        new = [users.Ranges(tuple(changes.get(kind, ()))) for kind in ("subuids", "subgids")]
        if any(ranges.added for ranges in new):
            users.usermod(users.Account(name, subuids=new[0], subgids=new[1]))
        if "linger" in changes:
            users.set_linger(name, changes["linger"])
