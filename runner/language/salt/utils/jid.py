# SPDX-License-Identifier: Apache-2.0
"""salt.utils.jid: the numbers of a master's jobs, which are times."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def gen_jid(opts: Any = None) -> str:
    """A number that no other call returns."""
    return datetime.now().strftime("%Y%m%d%H%M%S%f")


def is_jid(jid: Any) -> bool:
    """Return whether a text is such a number."""
    return isinstance(jid, str) and len(jid) == 20 and jid.isdigit()


def jid_to_time(jid: Any) -> str:
    """The time of a number, for people."""
    if not is_jid(str(jid)):
        return ""
    return datetime.strptime(str(jid), "%Y%m%d%H%M%S%f").strftime("%Y, %b %d %H:%M:%S.%f")
