# SPDX-License-Identifier: Apache-2.0
"""Halt this machine and start it again; its time."""

from __future__ import annotations

import contextlib
import datetime
import os
import re

from modules import _paths, cmd, file
from modules._machine.processes import needs
from modules._texts.lines import plain_name
from runner.api import CommandFailed, Record, StateFailed, changer, for_states, here, scheduled
from runner.api.offline import of_running
from runner.api.own_program import own_run
from runner.api.restarts import ASKED, KERNEL, PACKAGES, QUESTIONS, YES

BOOT = "/proc/sys/kernel/random/boot_id"
UNIT = "/etc/systemd/system/runner-continue.service"
LINK = "/etc/systemd/system/multi-user.target.wants/runner-continue.service"
_ASKED_IN = "RUNNER_RESTART_ASKED_IN"  # of the run that goes on: the boot that it was begun in
_MARK = "# Written by the state system.reboot of runner"
# whatever the run ended with, it is through; not where it was killed, or has asked again
_ONCE = f"""SuccessExitStatus=1 2 3 4 5 6
ExecStartPost=/bin/sh -c 'grep -qx "# boot: $$(cat {BOOT})" {UNIT} || rm -f {LINK}'
"""


class Restart(Record):
    """A restart that a state has asked for. boot: the one that it was asked in; kernel: that ran
    then.
    """

    state: str = ""
    boot: str = ""
    kernel: str = ""
    why: str = ""

    @property
    def is_of_this_boot(self) -> bool:
        return self.boot == _boot()

    def is_awaited(self, state: str) -> bool:
        """Return whether this run goes on after it, which was left by a state. A run that somebody
        else begins does not, though the mark of one that was killed is there.
        """
        is_own = not self.is_of_this_boot and os.environ.get(_ASKED_IN) == self.boot
        return self.state == state and is_own

    def is_under_way(self, state: str, goes_on: bool) -> bool:
        """Return whether a state has asked for it, and it comes. goes_on: a run after it, too."""
        is_as_asked = self.state == state and file.lexists(LINK) == goes_on
        return is_as_asked and self.is_of_this_boot and file.lexists(scheduled.RESTART)

    def was_in_vain(self, why: str) -> bool:
        """Return whether what it was for is as it was."""
        return self.why == why and not self.is_of_this_boot and self.kernel == os.uname().release


def _boot() -> str:
    return file.read_bytes(BOOT).decode().strip()


@for_states
def last_restart() -> Restart:
    """The restart that was asked for last; an empty one where none was."""
    text = file.read_bytes(UNIT).decode("utf-8", "replace") if file.is_file(UNIT) else ""
    said = dict(re.findall(r"^# (state|boot|kernel|why): (.*)$", text, re.MULTILINE))
    return Restart(**said)


def restart_needed() -> str:
    """Return why the machine has to be restarted; empty where it has not.

    {{ salt['system.restart_needed']() }}
    """
    if file.lexists(ASKED) or _libraries_ask():
        return PACKAGES
    here.reload("grains")
    return KERNEL if here.grains.get("reboot_required") else ""


def _libraries_ask() -> bool:
    """Return whether dnf says so."""
    asked = (words for words in QUESTIONS if _paths.which(words[0]))
    return any(YES in cmd.probe([*words]).stdout for words in asked)


@for_states
def run_again() -> list[str]:
    """The command line that does this run again. Raises StateFailed where there is none."""
    if not _paths.isdir("/run/systemd/system"):
        raise StateFailed(
            "continue: systemd does not run this machine, which would start the run: leave it to"
            " an entry of cron (`special: '@reboot'`)"
        )
    words = own_run()
    if words is None:
        raise StateFailed(
            "continue: this command line cannot be repeated (highstate, sls and pull can be,"
            " without --pillar): what it says belongs into the pillar's files"
        )
    _folder()
    return words


def _folder() -> str:
    """Return the current directory as WorkingDirectory= has it. Raises StateFailed where that
    cannot.
    """
    with contextlib.suppress(OSError):  # it is gone
        if "\n" not in (folder := os.getcwd()):
            return folder.replace("%", "%%")
    raise StateFailed("continue: the run cannot go on in this directory: start it in another one")


@for_states
def check_restart(minutes: int, message: str) -> None:
    """Raise StateFailed for a restart that cannot be asked for."""
    needs("shutdown", "systemd-sysv")
    if minutes < 0:
        raise StateFailed(f"timeout: expected a number of minutes from 0, got {minutes}")
    if message:
        plain_name(message, "the message")


@for_states
def restart(state: str, why: str, command: list[str], minutes: int, message: str = "") -> None:
    """Have the machine restarted, and a command go on then."""
    head = {"state": state, "boot": _boot(), "why": why}
    head["kernel"] = os.uname().release
    mark = "\n".join([_MARK, *(f"# {key}: {value}" for key, value in head.items())])
    what, service = "Go on with the run that has restarted this machine", _ONCE
    if command:  # "-": the directory may be gone by then
        service += f"WorkingDirectory=-{_folder()}\nEnvironment={_ASKED_IN}={head['boot']}\n"
    text = scheduled.service_text(mark, what, command or ["true"], service=service)
    file.write(UNIT, f"{text}\n[Install]\nWantedBy=multi-user.target\n".encode())
    if command and not file.lexists(LINK):
        file.makedirs(os.path.dirname(LINK))
        file.symlink(UNIT, LINK)
    if not command and file.lexists(LINK):  # of a restart that another one comes before
        file.remove(LINK)
    try:
        _shutdown("-r", minutes, message)
    except CommandFailed:
        if command:
            file.remove(LINK)
        raise


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
def _shutdown(how: str, when: str | int | None, message: str = "") -> str:
    text = "now" if when is None else plain_name(when, "the time")
    told = [plain_name(message, "the message")] if message else []
    done = cmd.probe(["shutdown", how, f"+{text}" if text.isdigit() else text, *told])
    if done.retcode:
        raise CommandFailed(done.stderr.strip() or f"shutdown failed with exit code {done.retcode}")
    return done.stdout.strip() or done.stderr.strip()
