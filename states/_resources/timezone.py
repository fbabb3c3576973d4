# SPDX-License-Identifier: Apache-2.0
"""The time zone as it is."""

from __future__ import annotations

from collections.abc import Iterator

from modules import timezone
from runner.api import Resource

ROLE = "system"
USUAL = ("UTC", "Etc/UTC")


def resources(name: str | None) -> Iterator[Resource]:
    """The time zone, and whether the hardware clock keeps UTC."""
    zone, utc = timezone.get_zone(), timezone.get_hwclock() == "UTC"
    files = (timezone.LINK, timezone.NAME, "/etc/adjtime")
    if name not in (None, zone):
        return
    if not timezone.zone_exists(zone):
        yield Resource("", zone, note=f"the time zone {zone} has no file in {timezone.ZONES}")
        return
    arguments = {} if utc else {"utc": False}
    shipped = zone in USUAL and utc
    yield Resource("timezone.system", zone, arguments, shipped=shipped, files=files)
