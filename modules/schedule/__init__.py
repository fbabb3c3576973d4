# SPDX-License-Identifier: Apache-2.0
"""What `runner schedule install` and schedule.present have the system start."""

from __future__ import annotations

import os
import re
from typing import Any

from modules import _paths
from modules.schedule._jobs import (
    When,
    about,
    command,
    cron_file,
    cron_text,
    files,
    of_times,
    service_text,
    starts_by_cron,
    switched,
    timer_text,
    told_of,
    unit_name,
)
from runner.api import SCHEDULE

__load__ = ["is_enabled", "list_"]
JOB = "highstate"


def list_(
    show_all: bool = False,
    show_disabled: bool = True,
    where: str | None = None,
    return_yaml: bool = True,
    offline: bool = False,
) -> Any:
    """The jobs that the system starts, the highstate and those of schedule.present, as Salt lists
    them: function, enabled, splay, and when (`cron`, `seconds`, or systemd's `on_calendar`).

    return_yaml: as text. show_disabled: also those that the system does not start.
    show_all, where, offline: accepted and without a meaning here.

        {{ salt['schedule.list'](return_yaml=False) }}
    """
    highstate = _of_timer() or _of_cron()
    jobs = {**({JOB: highstate} if highstate else {}), **_of_states()}
    jobs = {name: job for name, job in jobs.items() if show_disabled or job["enabled"]}
    if not return_yaml:
        return jobs
    import yaml

    return yaml.safe_dump({"schedule": jobs}, default_flow_style=False)


def is_enabled(name: str | None = None) -> Any:
    """Return whether a job is started by the system; without a name, what schedule.list does."""
    jobs = list_(return_yaml=False)
    return bool(jobs.get(name, {}).get("enabled")) if name else jobs


def _of_states() -> dict[str, dict[str, Any]]:
    """The jobs of schedule.present."""
    jobs = {}
    prefix = unit_name("")
    for folder in (SCHEDULE.unit_folder, os.path.dirname(SCHEDULE.cron_file)):
        for name in sorted(_paths.listdir(folder)) if _paths.isdir(folder) else ():
            of_timer = name.endswith(".service")
            if not name.startswith(prefix) or ("." in name and not of_timer):
                continue
            text = _text(os.path.join(folder, name)) or ""
            if told := told_of(text):
                on = _starts(name.removesuffix(".service")) if of_timer else starts_by_cron(text)
                jobs[told["name"]] = {**told, "enabled": on}
    return jobs


def _starts(unit: str) -> bool:
    wants = os.path.join(SCHEDULE.unit_folder, "timers.target.wants", f"{unit}.timer")
    return _paths.lexists(wants)


def _of_timer() -> dict[str, Any] | None:
    text = _text(SCHEDULE.timer_path)
    if text is None:
        return None
    settings = dict(re.findall(r"^(OnCalendar|RandomizedDelaySec)=(.*)$", text, re.M))
    return {
        "name": JOB,
        "function": "state.highstate",
        "enabled": _starts(SCHEDULE.unit),
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
