# SPDX-License-Identifier: Apache-2.0
"""Home folders in what an SLS says."""

from __future__ import annotations

import os.path


class _AskedHome:
    times = 0


def with_home(path: str) -> str:
    """A path with the home folder of a user in place of ~ or ~USER at its beginning, if there is
    such a user. What it gives depends on the machine, so what is made of it is not kept for other
    runs.

    >>> with_home("/srv/www")
    '/srv/www'
    """
    _AskedHome.times += 1
    return os.path.expanduser(path)


def times_asked() -> int:
    """Return how often this process has asked for a home folder."""
    return _AskedHome.times
