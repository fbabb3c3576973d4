# SPDX-License-Identifier: Apache-2.0
"""The time zone of the machine."""

from __future__ import annotations

import os

from modules import _paths, cmd, file
from runner.api import StateFailed, changer, for_states
from runner.api.near import closest
from runner.api.offline import offline_as

ZONES = "/usr/share/zoneinfo"
LINK = "/etc/localtime"
NAME = "/etc/timezone"
ADJUSTMENT = "/etc/adjtime"


def get_zone() -> str:
    """The zone that /etc/localtime points to; without a link what /etc/timezone says.

    {{ salt['timezone.get_zone']() }}
    """
    return _linked() or _named() or "UTC"


def _linked() -> str:
    """The zone that /etc/localtime points to; empty where it is no link to one."""
    if file.is_link(LINK):
        target = os.path.normpath(os.path.join("/etc", file.readlink(LINK)))
        if target.startswith(f"{ZONES}/"):
            return target.removeprefix(f"{ZONES}/")
    return ""


def _named() -> str:
    """The zone that /etc/timezone names; empty without it."""
    return file.read_bytes(NAME).decode("utf-8", "replace").strip() if file.is_file(NAME) else ""


def zone_compare(timezone: str) -> bool:
    """Return whether the machine is in a zone: /etc/localtime is the zone's, and /etc/timezone,
    where there is one, names it. Raises StateFailed for a zone that does not exist.
    """
    if not zone_exists(timezone):
        raise StateFailed(unknown_zone(timezone))
    if not file.is_file(LINK) or _named() not in ("", timezone):
        return False
    if linked := _linked():
        return linked == timezone
    return file.read_bytes(LINK) == file.read_bytes(f"{ZONES}/{timezone}")


def zone_exists(timezone: str) -> bool:
    """Return whether there is such a zone."""
    return (
        ".." not in timezone
        and "\n" not in timezone
        and bool(timezone.strip("/"))
        and file.is_file(f"{ZONES}/{timezone}")
    )


@for_states
def unknown_zone(timezone: str) -> str:
    """The message that there is no such zone, with the one that was probably meant."""
    zones = {
        zone.casefold(): zone
        for folder, _, names in _paths.walk(ZONES)
        for zone in (os.path.relpath(f"{folder}/{name}", ZONES) for name in names)
        if zone[0].isupper()  # beside them lie tables, and the same again with leap seconds
    }
    near = closest(timezone.casefold().replace(" ", "_"), zones, 0.7)
    meant = f": did you mean '{zones[near]}'?" if near else ""
    return f'Can\'t find a local timezone "{timezone}"{meant}'


def get_hwclock() -> str:
    """The time that the hardware clock keeps: UTC or localtime."""
    if file.is_file(ADJUSTMENT):
        words = file.read_bytes(ADJUSTMENT).decode("utf-8", "replace").split()
        return "localtime" if words and words[-1] == "LOCAL" else "UTC"
    return "UTC"


def set_zone(timezone: str) -> bool:
    """Put the machine into a zone. Raises StateFailed when there is no such zone."""
    if not zone_exists(timezone):
        raise StateFailed(unknown_zone(timezone))
    file.put_symlink(f"{ZONES}/{timezone}", LINK)
    if file.is_file(NAME) or file.is_file("/etc/debian_version"):
        file.write(NAME, f"{timezone}\n".encode(), mode="0644")
    return True


def _note_hwclock(clock: str) -> bool:
    """Write down what the hardware clock keeps."""
    kept = file.read_bytes(ADJUSTMENT).splitlines()[:2] if file.is_file(ADJUSTMENT) else []
    lines = [
        *kept,
        *(b"0.0 0 0.0", b"0")[len(kept) :],
        b"LOCAL" if clock == "localtime" else b"UTC",
    ]
    file.write(ADJUSTMENT, b"\n".join(lines) + b"\n", mode="0644")
    return True


@changer
@offline_as(_note_hwclock)
def set_hwclock(clock: str) -> bool:
    """Tell the hardware clock what it keeps: UTC or localtime. Raises StateFailed when it cannot be
    set.
    """
    local = "1" if clock == "localtime" else "0"
    cmd.execute(["timedatectl", "set-local-rtc", local]).or_fail("the hardware clock cannot be set")
    return True
