# SPDX-License-Identifier: Apache-2.0
"""What `runner schedule install` and schedule.present have the system start."""

from __future__ import annotations

import os
import re
from typing import Any

from modules import _paths
from modules._jobs import (
    When,
    command,
    cron_file,
    cron_text,
    files,
    of_times,
    service_text,
    timer_text,
    unit_name,
)
from runner.api import SCHEDULE

__all__ = [
    "When",
    "command",
    "cron_file",
    "cron_text",
    "files",
    "is_enabled",
    "list_",
    "of_times",
    "service_text",
    "timer_text",
    "unit_name",
]
JOB = "highstate"


def list_(
    show_all: bool = False,
    show_disabled: bool = True,
    where: str | None = None,
    return_yaml: bool = True,
    offline: bool = False,
) -> Any:
    """The highstate that the system starts, as Salt lists its jobs: function, enabled, splay, and
    when (`cron`, or systemd's `on_calendar`).

    return_yaml: as text. show_disabled: also when the timer does not start with the system.
    show_all, where, offline: accepted and without a meaning here.

        {{ salt['schedule.list'](return_yaml=False) }}
    """
    job = _of_timer() or _of_cron()
    jobs = {JOB: job} if job and (show_disabled or job["enabled"]) else {}
    if not return_yaml:
        return jobs
    import yaml

    return yaml.safe_dump({"schedule": jobs}, default_flow_style=False)


def is_enabled(name: str | None = None) -> Any:
    """Return whether a job is started by the system; without a name, what schedule.list does."""
    jobs = list_(return_yaml=False)
    return bool(jobs.get(name, {}).get("enabled")) if name else jobs


def _of_timer() -> dict[str, Any] | None:
    text = _text(SCHEDULE.timer_path)
    if text is None:
        return None
    settings = dict(re.findall(r"^(OnCalendar|RandomizedDelaySec)=(.*)$", text, re.M))
    wants = os.path.join(SCHEDULE.unit_folder, "timers.target.wants", f"{SCHEDULE.unit}.timer")
    return {
        "name": JOB,
        "function": "state.highstate",
        "enabled": _paths.lexists(wants),
        "on_calendar": settings.get("OnCalendar", ""),
        "splay": int(settings.get("RandomizedDelaySec") or 0),
    }


def _of_cron() -> dict[str, Any] | None:
    text = _text(SCHEDULE.cron_file) or ""
    match = re.search(r"^((?:\S+ ){5})root .* ((?:highstate|pull) .*)$", text, re.M)
    if match is None:
        return None
    splay = re.search(r"--splay (\d+)", match[2])
    return {
        "name": JOB,
        "function": "state.highstate",
        "enabled": True,
        "cron": match[1].strip(),
        "splay": int(splay[1]) if splay else 0,
    }


def _text(path: str) -> str | None:
    try:
        with _paths.open_text(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


__func_alias__ = {"list_": "list"}
