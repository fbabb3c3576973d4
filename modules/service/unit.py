# SPDX-License-Identifier: Apache-2.0
"""A service, timer or socket, as one look at all of them shows it."""

from __future__ import annotations

from runner.api import Record


class Unit(Record):
    """What one look at all services says of one.

    changed: it starts with the machine, or does not, other than its package wants; or it is of no
    package.
    """

    name: str
    available: bool
    running: bool
    enabled: bool
    masked: bool
    changed: bool
