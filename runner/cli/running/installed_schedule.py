# SPDX-License-Identifier: Apache-2.0
"""What `runner schedule install` has set up on this machine."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from runner.api.scheduled import SCHEDULE, ScheduleFiles
from runner.cli.running import scheduling
from runner.cli.running.options import Common, loaded
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError
from runner.model.records import Record


class Installed(Record):
    """A timer or an entry of cron. path: its file. command: what it starts. cron: its expression,
    of an entry. of_user: the timer is that of whoever asks.
    """

    path: str
    command: tuple[str, ...]
    cron: str | None = None
    of_user: bool = False

    @property
    def next_run(self) -> str | None:
        """When it starts the command next, as far as that can be known."""
        if self.cron is None:
            return _elapses(os.path.basename(self.path), self.of_user)
        due = scheduling.due(self.cron, datetime.now())
        return due.isoformat(" ") if due else None


def installed(of_user: bool = False) -> Installed | None:
    """The schedule that is installed; None when there is none. of_user: in the systemd of whoever
    asks.
    """
    files = _files(of_user)
    timer = files.timer_path
    enabled = f"{files.unit_folder}/timers.target.wants/{scheduling.UNIT}.timer"
    if not os.path.exists(timer) and os.path.exists(enabled):
        timer = os.path.realpath(enabled)  # that of a package
    if os.path.exists(timer):
        service = f"{timer.removesuffix('timer')}service"
        command = scheduling.command_of_service(_lines(service))
        return Installed(timer, command, of_user=of_user)
    if of_user or not os.path.exists(scheduling.CRON_FILE):
        return None
    expression, command = scheduling.entry_of_cron(_lines(scheduling.CRON_FILE))
    return Installed(scheduling.CRON_FILE, command, expression)


def first_boot() -> str | None:
    """When the run of the first start comes: pending, or done; None where there is none."""
    if os.path.lexists(scheduling.FIRST_BOOT_LINK):
        return "pending, when the machine starts"
    return "done" if os.path.exists(scheduling.FIRST_BOOT) else None


def watch(of_user: bool = False) -> tuple[str, ...]:
    """The command of the service that watches; empty where there is none. of_user: in the systemd
    of whoever asks.
    """
    folder = _files(of_user).unit_folder
    return scheduling.command_of_service(_lines(f"{folder}/{scheduling.WATCH_UNIT}"))


def _files(of_user: bool) -> ScheduleFiles:
    return SCHEDULE.of_user(os.path.expanduser("~")) if of_user else SCHEDULE


def disobedient(schedule: Installed | None, state_dir: str) -> Iterator[Diagnostic]:
    """Warn of a schedule that goes on while runs of a state folder are disabled: root's, that of an
    earlier runner, or one with a state folder of its own.
    """
    if schedule is None or not schedule.command:
        return
    if os.geteuid() != 0 and not schedule.of_user:
        message = f"the runs of {schedule.path} are root's: they go on"
        yield Diagnostic(message, None, "sudo runner disable ...", "schedule", "warning")
        return
    if "--scheduled" not in schedule.command:
        yield Diagnostic(
            f"{schedule.path} was written by an earlier runner: its runs go on",
            None,
            "`runner schedule install`, with the options as before, writes it anew",
            "schedule",
            "warning",
        )
    where = _of_configuration(schedule.command)
    config, cachedir = where.get("--config"), where.get("--cachedir")
    try:
        other = loaded(Common(config=config, cachedir=cachedir), inside=False)[0].state_dir
    except RunnerError:  # its next run says what is wrong with its configuration
        return
    if other != state_dir:
        words = [word for option, value in where.items() for word in (option, value)]
        yield Diagnostic(
            f"the runs of {schedule.path} have another state_dir ({other}): they go on",
            None,
            f"the same options as there: {shlex.join(words)}"
            if words
            else "without --config and --cachedir",
            "schedule",
            "warning",
        )


def _of_configuration(command: Sequence[str]) -> dict[str, str]:
    """The options of a command line that say where its configuration and its state are."""
    return {word: value for word, value in pairwise(command) if word in ("--config", "--cachedir")}


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _elapses(unit: str, of_user: bool) -> str | None:
    whose = ["--user"] if of_user else []
    argv = ["systemctl", *whose, "show", "--property=NextElapseUSecRealtime", "--value", unit]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
