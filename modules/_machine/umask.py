# SPDX-License-Identifier: Apache-2.0
"""The umask of a state: what its `- umask:` says. Nothing sets the one of the process, which is
everybody's.
"""

from __future__ import annotations

from contextlib import suppress

from runner.api import here

_own: list[int] = []


def of_state() -> int | None:
    """The umask of the state that runs now; None when it gives none."""
    chunk = here.chunk
    text = chunk.args.get("umask") if chunk is not None else None
    return None if text is None else int(str(text), 8)


def umask() -> int:
    """The state's umask, else the caller's, read without setting it."""
    mask = of_state()
    return of_process() if mask is None else mask


def of_process() -> int:
    """The caller's umask, which the kernel applies to what is made."""
    if not _own:
        with suppress(OSError, ValueError), open("/proc/self/status", "rb", buffering=0) as status:
            _own.extend(int(line[6:], 8) for line in status if line.startswith(b"Umask:"))
    return _own[0] if _own else 0o022
