"""What the machine says of itself now."""

from __future__ import annotations

import datetime


def time(format: str = "%A, %d. %B %Y %I:%M%p") -> str:
    """The local time, in a format of strftime.

    {{ salt['status.time']('%Y-%m-%d') }}
    """
    return datetime.datetime.now().strftime(format)
