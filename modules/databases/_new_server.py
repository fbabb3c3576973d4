# SPDX-License-Identifier: Apache-2.0
"""A server that is made by the run which a dry run foresees: nothing is in it yet."""

from __future__ import annotations

from collections.abc import Iterable

from modules import _paths
from modules._planned.overlay import is_planned, overlay
from runner.api.offline import offline_as

CONNECT_SECONDS = 60  # that a server is waited for which takes a connection and says nothing


@offline_as(lambda programs, data: False)  # nothing starts it, and nobody can be asked
def is_new(programs: Iterable[str], data: Iterable[str]) -> bool:
    """Return whether the packages of this run bring the server, which has no data from before.

    programs, data: patterns of the paths of its program, and of what any server keeps.
    """
    if overlay() is None:
        return False
    found = (path for pattern in programs for path in _paths.glob(pattern))
    kept = (path for pattern in data for path in _paths.glob(pattern))
    return any(map(is_planned, found)) and not any(map(_paths.source, kept))


def is_local(host: object) -> bool:
    """Return whether a connection leads to this machine: by a socket, or its own address."""
    return not host or str(host).startswith("/") or host in ("localhost", "127.0.0.1", "::1")
