# SPDX-License-Identifier: Apache-2.0
"""Runs that start by themselves: the text of a cron entry or of a systemd timer, and when the next
one is due. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from runner.api import scheduled
from runner.api.scheduled import SCHEDULE, cron_command, cron_fields, cron_interval, is_either_day
from runner.model.errors import UsageError
from runner.model.records import Record

CRON_FILE, UNIT, UNIT_FOLDER = SCHEDULE.cron_file, SCHEDULE.unit, SCHEDULE.unit_folder
MARK = "# Written by `runner schedule install`; `runner schedule remove` removes it."
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class SchedulePlan(Record):
    """When to run what. every: minutes. cron: five fields, instead of `every`. splay: seconds, at
    most. ac_power: not on battery. user: whose systemd starts it; empty: the machine's.
    """

    command: tuple[str, ...]
    every: int | None = 30
    cron: str | None = None
    splay: int = 0
    ac_power: bool = False
    user: str = ""


def seconds(text: str, option: str, least: int = 0) -> int:
    """A duration such as 90, 30m, 2h or 1d in seconds. Raises UsageError, for less than `least`,
    too.
    """
    match = re.fullmatch(r"([0-9]{1,9})([smhd]?)", text.strip())
    number = int(match[1]) * _UNITS[match[2] or "s"] if match else -1
    if number < least:
        raise UsageError(f"{option} {text}: no duration", hint=f"{option} 30m, 2h or 1d")
    return number


def minutes(text: str) -> int:
    """The interval of `--every` in minutes: one that divides an hour or a day. Raises UsageError
    for any other.
    """
    whole, rest = divmod(seconds(text, "--every"), 60)
    if rest or cron_interval(whole) is None:
        hint = "5m, 10m, 15m, 20m, 30m, 1h, 2h, 3h, 4h, 6h, 8h, 12h or 1d; others with --cron"
        raise UsageError(f"--every {text} does not divide an hour or a day", hint=hint)
    return whole


def expression(plan: SchedulePlan) -> str:
    """The five fields of cron. Raises UsageError for what cron would not take."""
    if plan.cron is not None:
        _fields(plan.cron)
        return " ".join(plan.cron.split())
    fields = cron_interval(plan.every or 30)
    assert fields is not None, "`minutes` has refused it"
    return fields


def cron_text(plan: SchedulePlan) -> str:
    """The file for /etc/cron.d."""
    command = list(plan.command) + (["--splay", str(plan.splay)] if plan.splay else [])
    return scheduled.cron_text(MARK, [f"{expression(plan)} root {cron_command(command)}"])


def service_text(plan: SchedulePlan) -> str:
    """The service that the timer starts."""
    what = "Bring this machine to its state"
    power = "ConditionACPower=true\n" if plan.ac_power else ""
    return scheduled.service_text(MARK, what, plan.command, power, of_user=bool(plan.user))


def timer_text(plan: SchedulePlan) -> str:
    """The timer. Raises UsageError for a cron expression, which systemd does not read."""
    if plan.cron is not None:
        raise UsageError("--cron goes with --cron-d; a timer takes --every")
    every = plan.every or 30
    when = f"*:0/{every}" if every < 60 else f"0/{every // 60}:00" if every < 1440 else "daily"
    return (
        f"{MARK}\n[Unit]\nDescription=Bring this machine to its state, again and again\n\n[Timer]\n"
        f"OnCalendar={when}\nRandomizedDelaySec={plan.splay}\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n"
    )


States = dict[str, tuple[str, Mapping[str, object]]]


def installing(plan: SchedulePlan, timer: bool, has_systemd: bool) -> States:
    """The states that install it: ID -> (function, arguments). What was installed the other way
    goes.
    """
    if plan.user:
        texts = {"contents": service_text(plan), "timer": timer_text(plan)}
        unit = {"name": UNIT, **texts, "enable": True, "running": True, "user": plan.user}
        return {"timer": ("systemd.unit", unit)}
    if not timer:
        entry = {
            "name": CRON_FILE,
            "contents": cron_text(plan),
            "mode": "0644",
            "user": "root",
            "group": "root",
        }
        return {**(_without_timer() if has_systemd else {}), "schedule": ("file.managed", entry)}
    texts = {"service": service_text(plan), "timer": timer_text(plan)}
    units: States = {
        kind: (
            "file.managed",
            {"name": f"{UNIT_FOLDER}/{UNIT}.{kind}", "contents": text, "mode": "0644"},
        )
        for kind, text in texts.items()
    }
    changed = [{"file": "service"}, {"file": "timer"}]
    # a restart of the timer alone would go on starting the service as systemd knew it
    reread = ("module.wait", {"name": "service.systemctl_reload", "watch": changed})
    started = {"name": f"{UNIT}.timer", "enable": True, "watch": changed}
    return {
        "entry": _WITHOUT_ENTRY,
        **units,
        "units": reread,
        "started": ("service.running", started),
    }


WATCH_UNIT = "runner-watch.service"
WATCH = f"{UNIT_FOLDER}/{WATCH_UNIT}"
# a run that is under way is waited for; what it has left behind, such as a server, goes on
_WATCHES = """\
NotifyAccess=main
TimeoutStartSec=10min
TimeoutStopSec=15min
KillMode=process
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=3
"""


def watching(command: tuple[str, ...], every: int, user: str = "") -> States:
    """The states for a process that watches. every: seconds between its looks at everything. user:
    whose own systemd has it.
    """
    what = "Look at this machine when something on it changes"
    service = f"{_WATCHES}WatchdogSec={3 * every}\n"
    text = scheduled.service_text(MARK, what, command, "", service, bool(user), "notify")
    text += f"\n[Install]\nWantedBy={'default' if user else 'multi-user'}.target\n"
    if user:
        state = {"enable": True, "running": True, "user": user}
        return {"watching": ("systemd.unit", {"name": WATCH_UNIT, "contents": text, **state})}
    unit = {"name": WATCH, "contents": text, "mode": "0644"}
    changed = [{"file": "watch"}]
    started = {"name": WATCH_UNIT, "enable": True, "watch": changed}
    return {
        "watch": ("file.managed", unit),
        "units": ("module.wait", {"name": "service.systemctl_reload", "watch": changed}),
        "watching": ("service.running", started),
    }


FIRST_BOOT = f"{UNIT_FOLDER}/runner-first-boot.service"
FIRST_BOOT_LINK = f"{UNIT_FOLDER}/multi-user.target.wants/runner-first-boot.service"
# no targets: what the run starts may come after those, and would wait for ever
_LOGINS = "getty@tty1 console-getty serial-getty@ttyS0 display-manager"
_BEFORE_LOGIN = f"Before={' '.join(f'{name}.service' for name in _LOGINS.split())}\n"


def at_first_boot(command: tuple[str, ...]) -> States:
    """The states for a run when the machine starts, until one has succeeded. They need no systemd
    that runs: images are made without one.
    """
    what = "Bring this machine to its state for the first time"
    # a run that ends for a restart (system.reboot) goes on when the machine has started again
    done = f"test -e {scheduled.RESTART} || rm -f {FIRST_BOOT_LINK}"
    once = f"ExecStartPost=/bin/sh -c '{done}'\nRestart=on-failure\nRestartSec=30\n"
    text = scheduled.service_text(MARK, what, command, _BEFORE_LOGIN, once)
    text += "\n[Install]\nWantedBy=multi-user.target\n"
    link = {"name": FIRST_BOOT_LINK, "target": FIRST_BOOT, "makedirs": True}
    unit = {"name": FIRST_BOOT, "contents": text, "mode": "0644"}
    return {"unit": ("file.managed", unit), "enabled": ("file.symlink", link)}


def removing(has_systemd: bool, user: str = "", home: str = "") -> States:
    """The states that remove it. user: whose systemd has it, with this home."""
    if user:
        folder, whose = SCHEDULE.of_user(home).unit_folder, {"user": user}
        return {**_without_watching(folder, whose), **_without_timer(folder, whose)}
    first: States = {
        name: ("file.absent", {"name": path})
        for name, path in (("first boot", FIRST_BOOT), ("enabled", FIRST_BOOT_LINK))
    }
    watch: States = {"watch": ("file.absent", {"name": WATCH})}
    if has_systemd:
        watch = {**_without_watching(), **_without_timer()}
    return {"schedule": _WITHOUT_ENTRY, **first, **watch}


_WITHOUT_ENTRY: tuple[str, Mapping[str, object]] = ("file.absent", {"name": CRON_FILE})


_NOBODYS: Mapping[str, object] = MappingProxyType({})


def _without_watching(folder: str = UNIT_FOLDER, whose: Mapping[str, object] = _NOBODYS) -> States:
    stopped = ("service.dead", {"name": WATCH_UNIT, "enable": False, **whose})
    return {"watching": stopped, "watch": ("file.absent", {"name": f"{folder}/{WATCH_UNIT}"})}


def _without_timer(folder: str = UNIT_FOLDER, whose: Mapping[str, object] = _NOBODYS) -> States:
    stopped = ("service.dead", {"name": f"{UNIT}.timer", "enable": False, **whose})
    units = {
        kind: ("file.absent", {"name": f"{folder}/{UNIT}.{kind}"}) for kind in ("timer", "service")
    }
    return {"stopped": stopped, **units}


# ---------------------------------------------------------------- when the next one is due


def _fields(text: str) -> list[set[int]]:
    try:
        return cron_fields(text)
    except ValueError as problem:
        hint = "minute hour day month weekday: '0 4 * * *'"
        raise UsageError(f"--cron {text!r}: {problem}", hint=hint) from None


def due(text: str, now: datetime) -> datetime | None:
    """When a cron expression is due next; None if not within four years."""
    minute, hour, day, month, weekday = _fields(text)
    either = is_either_day(text)
    at = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
    limit = now + timedelta(days=4 * 366)
    while at < limit:
        days = (at.day in day, (at.weekday() + 1) % 7 in weekday)
        if at.month not in month or not (any(days) if either else all(days)):
            at = at.replace(hour=0, minute=0) + timedelta(days=1)
        elif at.hour not in hour:
            at = at.replace(minute=0) + timedelta(hours=1)
        elif at.minute not in minute:
            at += timedelta(minutes=1)
        else:
            return at
    return None


# ---------------------------------------------------------------- what was installed


def entry_of_cron(lines: Iterable[str]) -> tuple[str | None, tuple[str, ...]]:
    """The expression and the command of an entry that we wrote."""
    for line in lines:
        fields = line.split(maxsplit=6)
        if len(fields) > 6 and not line.startswith("#") and fields[5] == "root":
            return " ".join(fields[:5]), _words(fields[6].replace("\\%", "%"))
    return None, ()


def command_of_service(lines: Iterable[str]) -> tuple[str, ...]:
    """The command of a service that we wrote."""
    for line in lines:
        if line.startswith("ExecStart="):
            command = line.removeprefix("ExecStart=").replace("%%", "%").replace("$$", "$")
            return _words(command)
    return ()


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:  # somebody edited it
        return (command,)
