# SPDX-License-Identifier: Apache-2.0
"""Jobs that the system starts: systemd where it runs this machine, else cron."""

from __future__ import annotations

from typing import Any

from modules import file, schedule, service
from modules.schedule import When
from modules.service import systemd
from runner.api import Done, Duration, Line, NonEmptyLine, OneOrMany, Plan, Planned, StateFailed
from states.file.managed import managed
from states.systemd import unit

DECIDES = {"present": "function job_args job_kwargs seconds minutes hours days cron when splay"}
OPPOSITE = {"present": "absent", "enabled": "disabled"}


def present(
    name: NonEmptyLine,
    function: Line,
    job_args: OneOrMany[Any] | None = None,
    job_kwargs: dict[Line, Any] | None = None,
    seconds: Duration[int] = 0,
    minutes: Duration[int] = 0,
    hours: Duration[int] = 0,
    days: Duration[int] = 0,
    cron: Line | None = None,
    when: OneOrMany[Line] | None = None,
    splay: Duration[int] | dict[Line, Duration[int]] | None = None,
    enabled: bool = True,
    run_on_start: bool = False,
    maxrunning: int | None = None,
    return_job: bool | None = None,
    jid_include: bool | None = None,
    metadata: Any = None,
    persist: bool = True,
    offline: bool = False,
) -> Planned:
    """Make sure that the system calls a function of runner regularly.

    Where systemd runs the machine it is a timer with its service, else a file in /etc/cron.d. The
    regular highstate of a machine is set up by `runner schedule install`, once and for all.

    name: The job.
    function: What is called: state.apply, state.sls, state.highstate or an execution function.
    job_args: Its arguments by their position.
    job_kwargs: Its arguments by their names; of state.* mods, pillar, saltenv, test
      and queue (wait for another run).
    seconds, minutes, hours, days alike: How often; several are added. Cron has whole minutes that
      divide an hour, and hours that divide a day.
    cron: When, as five fields of cron, instead.
    when: When, as `17:00` or `Monday 5:00pm`, or several of them, instead.
    splay: Seconds that each start is delayed at most; of a mapping its `end`.
    enabled: False keeps the job and does not start it.
    run_on_start: Start it also at once, and when the machine starts.
    maxrunning: ignored; the system starts a job again when it has ended.
    return_job: ignored; there is no master that would get the answer.
    jid_include: ignored, as return_job.
    metadata: ignored; it is for the answer, too.
    persist: ignored; the system keeps the job.
    offline: ignored; nobody else has to be reached.

        nightly:
          schedule.present:
            - function: state.apply
            - job_args: [backup]
            - cron: 0 4 * * *

    Behaviour: Salt 3008's schedule.present, whose jobs the minion starts.
    """
    interval = seconds + 60 * (minutes + 60 * (hours + 24 * days))
    if (interval > 0) + bool(cron) + bool(when) != 1:
        raise StateFailed("One of an interval (such as `minutes`), `cron` and `when` says when")
    crons = (cron,) if cron else schedule.of_times(when or ())
    delay = splay.get("end", 0) if isinstance(splay, dict) else splay or 0
    times = When(interval, crons, delay, run_on_start)
    words = schedule.command(function, job_args or (), job_kwargs or {})
    own, told = schedule.unit_name(name), schedule.about(name, function, times)
    if systemd.suits():
        texts = schedule.service_text(name, words, told), schedule.timer_text(name, times)
        return (yield from unit(own, texts[0], timer=texts[1], enable=enabled, running=enabled))
    entry = schedule.cron_text(words, times, enabled, told)
    return (yield from managed(schedule.cron_file(own), contents=entry, mode="0644"))


def absent(name: NonEmptyLine, persist: bool = True, offline: bool = False) -> Planned:
    """Make sure that the system does not call a function any more.

    name, persist, offline: as of schedule.present.

        nightly:
          schedule.absent: []
    """
    own = schedule.unit_name(name)
    there = [path for path in schedule.files(own) if file.lexists(path)]
    if not there:
        return f"Job {name} not present in schedule"
    gone = dict.fromkeys(there, "removed")
    yield Plan(gone, f"Job {name} would be removed from schedule")
    timer = next((path for path in there if path.endswith(".timer")), None)
    if timer and systemd.suits():
        service.stop(f"{own}.timer")
        service.disable(f"{own}.timer")
    for path in there:
        file.remove(path)
    service.systemctl_reload()
    return Done(f"Removed job {name} from schedule", gone)


def enabled(name: NonEmptyLine, persist: bool = True) -> Planned:
    """Make sure that the system starts a job of schedule.present.

    name, persist: as of schedule.present.

        nightly:
          schedule.enabled: []
    """
    return (yield from _switched(name, True))


def disabled(name: NonEmptyLine, persist: bool = True, offline: bool = False) -> Planned:
    """Make sure that the system does not start a job, and keeps it.

    name, persist, offline: as of schedule.present.

        nightly:
          schedule.disabled: []
    """
    return (yield from _switched(name, False))


def _switched(name: str, on: bool) -> Planned:
    word = "Enabled" if on else "Disabled"
    own = schedule.unit_name(name)
    if not any(file.lexists(path) for path in schedule.files(own)):
        return f"Job {name} not present in schedule"
    timer, entry = f"{own}.timer", schedule.cron_file(own)
    by_cron = file.is_file(entry)
    text = file.read_bytes(entry).decode() if by_cron else ""
    is_on = schedule.starts_by_cron(text) if by_cron else systemd.enabled(timer)
    if is_on is on:
        return f"Job {name} is {word.lower()} in schedule"
    changes = {name: word.lower()}
    yield Plan(changes, f"Job: {name} would be {word.lower()} in schedule.")
    if by_cron:
        file.write(entry, schedule.switched(text, on).encode())
    else:
        service.act(timer, "start" if on else "stop")
        (service.enable if on else service.disable)(timer)
    return Done(f"{word} job {name} from schedule", changes)
