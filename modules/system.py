# SPDX-License-Identifier: Apache-2.0
"""Halt this machine and start it again; its time."""

from __future__ import annotations

import datetime
import re

from modules import cmd
from modules._texts.lines import plain_name
from runner.api import CommandFailed, changer
from runner.api.offline import of_running


def reboot(at_time: str | int | None = None) -> str:
    """Restart the machine. at_time: after so many minutes, at `23:30`, or now.

    reboot:
      module.run:
        - system.reboot:
          - at_time: 1
    """
    return _shutdown("-r", at_time)


def shutdown(at_time: str | int | None = None) -> str:
    """Shut the machine down. at_time: after so many minutes, at `23:30`, or now."""
    return _shutdown("-h", at_time)


def poweroff() -> str:
    """Shut the machine down and switch it off."""
    return _shutdown("-P", None)


def halt() -> str:
    """Stop the machine and leave it switched on."""
    return _shutdown("-H", None)


def get_system_date_time(utc_offset: str | int | None = None) -> str:
    """The time as `2026-11-26 18:35:00`. utc_offset: such as `+0600`; without it the local time.

    {{ salt['system.get_system_date_time']() }}
    """
    return _now(utc_offset).strftime("%Y-%m-%d %H:%M:%S")


def get_system_date(utc_offset: str | int | None = None) -> str:
    """The date as `Thu 11/26/2026`. utc_offset: as of system.get_system_date_time.

    {{ salt['system.get_system_date']('+0000') | strftime('%Y%m%d') }}
    """
    return _now(utc_offset).strftime("%a %m/%d/%Y")


def get_system_time(utc_offset: str | int | None = None) -> str:
    """The time as `06:35:00 PM`. utc_offset: as of system.get_system_date_time.

    {{ salt['system.get_system_time']() }}
    """
    return _now(utc_offset).strftime("%I:%M:%S %p")


def _now(utc_offset: str | int | None) -> datetime.datetime:
    if utc_offset is None:
        return datetime.datetime.now()
    written = f"{utc_offset:+05}" if isinstance(utc_offset, int) else utc_offset.strip("'\"")
    parts = re.fullmatch(r"([+-]?)(\d{2})(\d{2})", written)
    if parts is None:
        raise CommandFailed(f"{utc_offset!r} is no offset such as +0600")
    offset = datetime.timedelta(hours=int(parts[2]), minutes=int(parts[3]))
    return datetime.datetime.now(datetime.UTC) + (-offset if parts[1] == "-" else offset)


@of_running
@changer
def _shutdown(how: str, when: str | int | None) -> str:
    text = "now" if when is None else plain_name(when, "the time")
    done = cmd.probe(["shutdown", how, f"+{text}" if text.isdigit() else text])
    if done.retcode:
        raise CommandFailed(done.stderr.strip() or f"shutdown failed with exit code {done.retcode}")
    return done.stdout.strip() or done.stderr.strip()
