# SPDX-License-Identifier: Apache-2.0
"""Halt this machine and start it again; its time."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Mapping
from types import MappingProxyType

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
    """A restart that states have asked for. boot: the one that it was asked in; kernel: that ran
    then. runs: the states that have asked, by the run that goes on after it, as ExecStart= has it.
    """

    runs: Mapping[str, str] = MappingProxyType({})
    boot: str = ""
    kernel: str = ""
    why: str = ""

    @property
    def is_of_this_boot(self) -> bool:
        return self.boot == _boot()

    @property
    def _is_own(self) -> bool:
        """This run goes on after it. One that somebody else begins does not, though the mark of one
        that was killed is there.
        """
        return not self.is_of_this_boot and os.environ.get(_ASKED_IN) == self.boot

    @property
    def waiting(self) -> Mapping[str, str]:
        """The runs that are to go on, or do so now."""
        lasts = file.lexists(LINK) and (self.is_of_this_boot or self._is_own)
        return self.runs if lasts else {}

    def is_awaited(self, state: str) -> bool:
        """Return whether this run goes on after it, which was left by a state."""
        return self._is_own and state in self.runs.values()

    def is_under_way(self, run: str, goes_on: bool) -> bool:
        """Return whether it comes, and a run is to go on after it, or is not."""
        comes = self.is_of_this_boot and file.lexists(scheduled.RESTART)
        return comes and goes_on == (run in self.waiting)

    def was_in_vain(self, why: str) -> bool:
        """Return whether what it was for is as it was."""
        return self.why == why and not self.is_of_this_boot and self.kernel == os.uname().release


def _boot() -> str:
    return file.read_bytes(BOOT).decode().strip()


@for_states
def last_restart() -> Restart:
    """The restart that was asked for last; an empty one where none was."""
    text = file.read_bytes(UNIT).decode("utf-8", "replace") if file.is_file(UNIT) else ""
    said = dict(re.findall(r"^# (boot|kernel|why): (.*)$", text, re.MULTILINE))
    runs = re.findall(r"^# state: (.*)\nExecStart=(.*)$", text, re.MULTILINE)
    return Restart({run: state for state, run in runs}, **said)


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
def this_run(goes_on: bool) -> str:
    """Return what does this run again, as ExecStart= has it. Raises StateFailed where a run that
    goes on cannot be repeated; empty for another one.
    """
    try:
        return " ".join(map(scheduled.systemd_word, _again()))
    except StateFailed:
        if goes_on:
            raise
    return ""


def _again() -> list[str]:
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
    try:  # the directory may be gone by then
        words = ["/bin/sh", "-c", 'cd "$0"; exec "$@"', os.getcwd(), *words]
        "".join(words).encode()  # systemd shows nothing of a unit with other bytes in it
    except (OSError, UnicodeEncodeError):
        message = "continue: the run cannot go on in this directory: start it in another one"
        raise StateFailed(message) from None
    return words


@for_states
def check_restart(minutes: int, message: str) -> None:
    """Raise StateFailed for a restart that cannot be asked for."""
    needs("shutdown", "systemd-sysv")
    if minutes < 0:
        raise StateFailed(f"timeout: expected a number of minutes from 0, got {minutes}")
    if message:
        plain_name(message, "the message")


@for_states
def restart(state: str, why: str, run: str, goes_on: bool, minutes: int, message: str = "") -> None:
    """Have the machine restarted, and a run go on then, beside the others that do."""
    others = {one: asked for one, asked in last_restart().waiting.items() if one != run}
    _arrange({**others, run: state} if goes_on else others, why)
    try:
        _shutdown("-r", minutes, message)
    except CommandFailed:
        _arrange(others, why)
        raise


def _arrange(runs: Mapping[str, str], why: str) -> None:
    """Have some runs go on when the machine has started."""
    head = {"boot": _boot(), "kernel": os.uname().release, "why": why}
    mark = "\n".join([_MARK, *(f"# {key}: {value}" for key, value in head.items())])
    starts = "".join(f"# state: {state}\nExecStart={run}\n" for run, state in runs.items())
    service = f"{_ONCE}Environment={_ASKED_IN}={head['boot']}\n{starts}"
    what = "Go on with the runs that have restarted this machine"
    text = scheduled.service_text(mark, what, ["true"], service=service)
    file.write(UNIT, f"{text}\n[Install]\nWantedBy=multi-user.target\n".encode())
    if not runs and file.lexists(LINK):
        file.remove(LINK)
    if runs and not file.lexists(LINK):
        file.makedirs(os.path.dirname(LINK))
        file.symlink(UNIT, LINK)


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
    done = cmd.probe(["shutdown", how, f"+{text}" if text.isdigit() else text, *told]).or_fail()
    return done.stdout.strip() or done.stderr.strip()
