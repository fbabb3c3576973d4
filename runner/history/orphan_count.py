# SPDX-License-Identifier: Apache-2.0
"""How many things no state of the highstate declares any more, beside the database: a highstate
that changes nothing tells it without SQLite.

One line: what the highstate that was counted for compiled to, the number, and its tree. It is gone
from the moment on at which a run has something to write, until a highstate has counted anew.
"""

from __future__ import annotations

from contextlib import suppress

from runner.model.errors import RunnerError
from runner.support.files.trusted_folder import trusted_folder

NAME = "history.orphans"


def known(state_dir: str, compiled: str, tree: str) -> int | None:
    """The number, as it was counted for the same highstate; None where it has to be counted."""
    with suppress(OSError, RunnerError, ValueError):
        said = trusted_folder(state_dir, make=False).read(NAME).decode().split(" ", 2)
        if len(said) == 3 and (said[0], said[2]) == (compiled, tree):
            return int(said[1])
    return None


def keep(state_dir: str, compiled: str, tree: str, number: int) -> None:
    """Keep the number for later highstates; where it cannot be kept they count."""
    with suppress(OSError, RunnerError, ValueError):
        trusted_folder(state_dir).write(NAME, f"{compiled} {number} {tree}".encode())


def forget(state_dir: str) -> None:
    """Have the next highstate count: something is about to change. Where that cannot be noted the
    work goes on; the number is for people alone.
    """
    with suppress(OSError, RunnerError):
        trusted_folder(state_dir, make=False).remove(NAME)
