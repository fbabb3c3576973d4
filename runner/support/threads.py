# SPDX-License-Identifier: Apache-2.0
"""What a run needs of threads and signals while it starts no thread: to import `threading` and
`signal` takes longer than all that is done with them.
"""

from __future__ import annotations

import sys
from _thread import _local as Local
from _thread import allocate_lock as Lock
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as signals
else:
    import _signal as signals  # its numbers are no members of an enum

__all__ = ["Local", "Lock", "get_ident", "in_main_thread", "signals"]

_FIRST = get_ident()


def in_main_thread() -> bool:
    """Return whether this is the main thread, which alone gets signals."""
    threading = sys.modules.get("threading")
    return get_ident() == (threading.main_thread().ident if threading else _FIRST)
