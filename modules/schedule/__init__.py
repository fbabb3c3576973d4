# SPDX-License-Identifier: Apache-2.0
"""What `runner schedule install` and schedule.present have the system start."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modules import _paths
from runner.api import Record, StateFailed, here, scheduled
from runner.api.own_program import NONE_THERE, in_image, own_program
from runner.api.scheduled import SCHEDULE, cron_command, cron_fields, cron_interval, is_either_day

DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_TIME = re.compile(
    r"(?:(?P<day>[a-z]+)\s+)?(?P<hour>\d{1,2}):(?P<minute>\d{2})\s*(?P<half>am|pm)?", re.I
)
_APPLIES = ("state.apply", "state.sls", "state.highstate")


class When(Record):
    """When a job starts: every so many seconds, or by expressions of cron. splay: seconds that it
    waits at most. at_once: also as soon as it is set up, and when the machine starts.
    """

    seconds: int = 0
    crons: tuple[str, ...] = ()
    splay: int = 0
    at_once: bool = False


# ---------------------------------------------------------------- what


def command(function: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """The command line of a job. Raises StateFailed for arguments that it could not have."""
    where = here.opts.get("conf_file")
    config = ["--config", str(where)] if where and not in_image() else []
    if function in _APPLIES:
        return [*_program(), *_applied(function, list(args), dict(kwargs)), *config]
    words = [_word(value) for value in args]
    words += [f"{key}={_word(value)}" for key, value in kwargs.items()]
    return [*_program(), "call", "--scheduled", *config, function, *words]


def _program() -> list[str]:
    if not in_image():
        return own_program()
    if found := _paths.which("runner"):
        return [found]
    raise StateFailed(NONE_THERE, missing=("command", "runner"))


def _applied(function: str, args: list[Any], kwargs: dict[str, Any]) -> list[str]:
    names = kwargs.pop("mods", None) or (args.pop(0) if args else None)
    if function == "state.highstate" or not names:
        words = ["highstate", "-q", "--scheduled"]
    else:
        listed = names.split(",") if isinstance(names, str) else names
        words = ["sls", "-q", "--scheduled", *(str(name).strip() for name in listed)]
    if kwargs.pop("test", False):
        words.append("--test")
    if saltenv := kwargs.pop("saltenv", None):
        words += ["--saltenv", str(saltenv)]
    if pillar := kwargs.pop("pillar", None):
        words += ["--pillar", json.dumps(pillar)]
    kwargs.pop("concurrent", None)  # there is one run at a time
    if kwargs.pop("queue", False):
        words.append("--wait")
    if args or kwargs:
        wrong = ", ".join([*map(str, args), *kwargs])
        raise StateFailed(f"A job that calls {function} takes no {wrong}: call it by systemd.unit")
    return words


def _word(value: Any) -> str:
    """A value as `runner call` reads it."""
    import yaml

    if isinstance(value, str):
        try:
            if yaml.safe_load(value) == value:
                return value
        except yaml.YAMLError:
            pass
    return json.dumps(value)


def unit_name(name: str) -> str:
    """A name for files and units that no other job has."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    return "runner-job-" + (plain if plain == name else f"{plain}-{zlib.crc32(name.encode()):08x}")


def cron_file(unit: str) -> str:
    """Where cron has a job."""
    return f"{os.path.dirname(SCHEDULE.cron_file)}/{unit}"


def files(unit: str) -> list[str]:
    """The files that a job may have."""
    units = (f"{SCHEDULE.unit_folder}/{unit}.{kind}" for kind in ("timer", "service"))
    return [*units, cron_file(unit)]


# ---------------------------------------------------------------- when


def of_times(texts: Sequence[str]) -> tuple[str, ...]:
    """Times as `Monday 5:00pm` or `17:00` as expressions of cron. Raises StateFailed."""
    return tuple(_of_time(text) for text in texts)


def _of_time(text: str) -> str:
    found = _TIME.fullmatch(text.strip())
    day = (found["day"] or "").title()[:3] if found else ""
    hour, half = int(found["hour"]) if found else 99, (found["half"] or "").lower() if found else ""
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0) if 1 <= hour <= 12 else 99
    if found is None or (day and day not in DAYS) or hour > 23 or int(found["minute"]) > 59:
        raise StateFailed(f"when: {text!r} is no time such as `17:00` or `Monday 5:00pm`")
    return f"{int(found['minute'])} {hour} * * {day.lower() or '*'}"


def of_interval(seconds: int) -> str:
    """An interval as an expression of cron. Raises StateFailed for one that cron has not."""
    minutes, rest = divmod(seconds, 60)
    expression = None if rest else cron_interval(minutes)
    if expression is None:
        raise StateFailed(
            f"cron cannot start a job every {seconds} seconds: it has minutes that divide an hour,"
            " and hours that divide a day"
        )
    return expression


def calendar(expression: str) -> Iterator[str]:
    """An expression of cron as systemd's OnCalendar. Raises StateFailed for one that cron would not
    take.
    """
    try:
        minutes, hours, days, months, weekdays = cron_fields(expression)
    except ValueError as problem:
        raise StateFailed(f"cron: {expression!r}: {problem}") from None
    day, month = _numbers(days, 31), _numbers(months, 12)
    time = f"{_numbers(hours, 24)}:{_numbers(minutes, 60)}:00"
    chosen = "" if len(weekdays) == 7 else ",".join(DAYS[day] for day in sorted(weekdays)) + " "
    if is_either_day(expression):
        yield f"*-{month}-{day} {time}"
        day = "*"
    yield f"{chosen}*-{month}-{day} {time}"


def _numbers(values: set[int], every: int) -> str:
    return "*" if len(values) == every else ",".join(f"{value:02}" for value in sorted(values))


# ---------------------------------------------------------------- the files

MARK = "# Written by the state schedule.present of runner"
ABOUT = "# Job: "  # in the service and in the entry of cron: what schedule.list tells


def about(name: str, function: str, when: When) -> str:
    """Return what schedule.list tells of a job, as the line that its file has."""
    times = {"seconds": when.seconds or None, "cron": " | ".join(when.crons) or None}
    told = {"name": name, "function": function, **times, "splay": when.splay}
    return ABOUT + json.dumps({key: value for key, value in told.items() if value is not None})


def told_of(text: str) -> dict[str, Any] | None:
    """Return what a file says of its job; None where it is of no job."""
    line = next((line for line in text.split("\n") if line.startswith(ABOUT)), None)
    try:
        told = json.loads(line.removeprefix(ABOUT)) if line else None
    except ValueError:
        return None
    return told if isinstance(told, dict) and isinstance(told.get("name"), str) else None


def starts_by_cron(text: str) -> bool:
    """Return whether the file of a job for cron has entries that are switched on."""
    return any(" root " in line and not line.startswith("#") for line in text.split("\n"))


def switched(text: str, on: bool) -> str:
    """The file of a job for cron with its entries switched on or off."""
    lines = []
    for line in text.split("\n"):
        bare = line.removeprefix("# ")
        if " root " in line and not line.startswith((MARK, ABOUT)):
            line = bare if on else f"# {bare}"
        lines.append(line)
    return "\n".join(lines)


def service_text(name: str, words: Sequence[str], told: str) -> str:
    """The service that the timer of a job starts. told: as `about` gives it."""
    return scheduled.service_text(f"{MARK}\n{told}", f"The job {_plain(name)}", words)


def timer_text(name: str, when: When) -> str:
    """The timer of a job."""
    lines = [f"OnCalendar={line}" for cron in when.crons for line in calendar(cron)]
    if when.seconds:
        lines += [f"OnActiveSec={0 if when.at_once else when.seconds}"]
        lines += [f"OnUnitActiveSec={when.seconds}", "AccuracySec=1s"]
    elif when.at_once:
        lines += ["OnActiveSec=0"]
    if when.splay:
        lines += [f"RandomizedDelaySec={when.splay}"]
    return (
        f"{MARK}\n[Unit]\nDescription=When the job {_plain(name)} starts\n\n[Timer]\n"
        + "\n".join(lines)
        + "\n\n[Install]\nWantedBy=timers.target\n"
    )


def cron_text(words: Sequence[str], when: When, enabled: bool, told: str) -> str:
    """The file of a job for /etc/cron.d. told: as `about` gives it."""
    line = cron_command(words)
    if when.splay:  # dash has no $RANDOM
        wait = f'sleep "$(shuf -i 0-{when.splay} -n 1)"; '
        line = wait + line
    times = [*when.crons, *([of_interval(when.seconds)] if when.seconds else [])]
    times += ["@reboot"] if when.at_once else []
    for expression in when.crons:
        list(calendar(expression))  # what cron would not take
    off = "" if enabled else "# "
    return scheduled.cron_text(f"{MARK}\n{told}", [f"{off}{time} root {line}" for time in times])


def _plain(name: str) -> str:
    return name.replace("%", "%%").replace("\\", "/")


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
        return _paths.read_text(path)
    except OSError:
        return None


__func_alias__ = {"list_": "list"}
