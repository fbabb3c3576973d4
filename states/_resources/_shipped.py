# SPDX-License-Identifier: Apache-2.0
"""Which accounts of this machine its distribution or its packages made."""

from __future__ import annotations

from modules import pkg

FIRST_OF_PEOPLE = 1000  # smaller numbers are the system's
NOBODY = 65534
OF_PEOPLE = ("/home/", "/srv/", "/opt/", "/usr/local/")


def made_by_package(name: str, number: int, home: str = "") -> bool:
    """Return whether an account is one of the system's that no person made."""
    if FIRST_OF_PEOPLE <= number != NOBODY or f"{home}/".startswith(OF_PEOPLE):
        return False
    brought = pkg.shipped()
    return brought is None or name in brought.accounts
