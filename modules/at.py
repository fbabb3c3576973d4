# SPDX-License-Identifier: Apache-2.0
"""Jobs that run once, later, with at."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from modules import cmd, cron
from modules._machine.processes import needs, probe
from modules._texts.lines import one_line, plain_name
from runner.api import CommandFailed, FormerState, Record, cached_look, changer, for_states

NEEDS_PROGRAM = "at"  # without it templates find no function of this module
MARK = "### SALT: "  # before the tag, in the first line of a job
TOPIC = "at jobs"
RUNNING = "="  # the queue of jobs that run
# at reads the time, says what it has against it, and would then write: the system stops it there
_ONLY_READS = ["sh", "-c", 'ulimit -c 0; ulimit -f 0; exec at -v -- "$1"', "sh"]
_LISTED = re.compile(r"(\d+)\t(\w+ \w+ +\d+ [\d:]+ \d+) (\S) (\S+)")
_HERE_DOCUMENT = re.compile(r".* << '(\w+)'")  # how some systems hand the job to its shell


class Job(Record):
    """A job as it waits. tag, text: what it runs, where it may be read."""

    number: str
    time: datetime
    queue: str
    user: str
    tag: str
    text: str

    def shown(self) -> dict[str, str]:
        """As results tell of it, with Salt's keys."""
        date, time = self.time.strftime("%Y-%m-%d %H:%M:%S").split()
        about = {"job": self.number, "date": date, "time": time, "queue": self.queue}
        return {**about, "user": self.user, "tag": self.tag}

    @property
    def record(self) -> str:
        """All that makes it again, as undo keeps it: when, the queue, the tag, what it runs."""
        return f"{self.time:%Y-%m-%d %H:%M} {self.queue} {self.tag or '-'} {self.text}"


@for_states
def former_state(user: str) -> FormerState:
    """The jobs of a user that wait, as undo restores them; those that run are not to be had any
    more.
    """
    own = [job for job in _jobs() if job.user == user and job.queue != RUNNING]
    return FormerState("at jobs", user, {"jobs": [job.record for job in own]})


@cached_look(TOPIC)
@for_states
def jobs() -> tuple[Job, ...]:
    """The jobs that wait or run: those of everybody for root. Raises StateFailed where there is no
    at.
    """
    needs("at", "at")
    return _jobs()


def _jobs() -> tuple[Job, ...]:
    listed = probe(["atq"]).or_fail()
    found = []
    for line in listed.stdout.splitlines():
        if seen := _LISTED.fullmatch(line.strip()):
            number, when, queue, user = seen.groups()
            time = datetime.strptime(when, "%a %b %d %H:%M:%S %Y")
            found.append(Job(number, time, queue, user, *_contents(number)))
    return tuple(sorted(found, key=lambda job: int(job.number)))


def _contents(number: str) -> tuple[str, str]:
    """The tag of a job, and what it runs: what comes after the surroundings that at puts before."""
    script = probe(["at", "-c", number]).stdout
    lines = script.partition("\n}\n")[2].strip("\n").split("\n")
    if begin := _HERE_DOCUMENT.fullmatch(lines[0]):
        end = lines.index(begin[1]) if begin[1] in lines else len(lines)
        lines = lines[1:end]
    tag = lines.pop(0).removeprefix(MARK) if lines and lines[0].startswith(MARK) else ""
    return tag, "\n".join(lines).strip("\n")


def atq(tag: str | None = None) -> dict[str, list[dict[str, str]]]:
    """The jobs that wait or run, or those with a tag.

    {{ salt['at.atq']('nightly')['jobs'] | json }}
    """
    return {"jobs": [job.shown() for job in jobs() if tag in (None, job.tag)]}


def at(timespec: str, cmd: str, tag: str | None = None, runas: str | None = None) -> dict[str, Any]:
    """Let a command line run once, at a time as at(1) takes it: the job, or what at has against it.

    runner call at.at '3:05 tomorrow' 'systemctl reboot' tag=reboot
    """
    try:
        return {"jobs": [add(timespec, cmd, tag, runas).shown()]}
    except CommandFailed as failure:
        return {"jobs": [], "error": failure.message}


@for_states
def refuse_time(timespec: str, user: str | None = None) -> None:
    """Raise CommandFailed for a time or a user that at refuses, with its words."""
    words = [*_ONLY_READS, one_line(timespec, "timespec")]
    done = cmd.complete(words, stdin="", runas=user, python_shell=False)
    if done.retcode == 1:
        raise CommandFailed(f"at {timespec}: {done.error_text or 'failed without a message'}")


@changer(
    touches=[TOPIC, "files"],
    before=lambda timespec, job, tag=None, user=None, queue="a": former_state(
        user or cron.caller()
    ),
)
def add(
    timespec: str, job: str, tag: str | None = None, user: str | None = None, queue: str = "a"
) -> Job:
    """Let a command line run once. Raises CommandFailed with what at has against it."""
    needs("at", "at")
    words = ["at", "-q", plain_name(queue, "queue"), "--", one_line(timespec, "timespec")]
    text = (f"{MARK}{one_line(tag, 'tag')}\n" if tag else "") + job.strip("\n") + "\n"
    done = cmd.complete(words, stdin=text, runas=user, python_shell=False)
    made = re.search(r"^job (\d+) at ", done.stderr, re.MULTILINE)
    if done.retcode or not made:
        raise CommandFailed(f"at {timespec}: {done.error_text or 'failed without a message'}")
    return next(each for each in _jobs() if each.number == made[1])


def _former_of_all(*args: str | int) -> dict[str, list[FormerState]]:
    numbers = set(map(str, args))
    owners = sorted({job.user for job in _jobs() if job.number in numbers})
    return {"several": [former_state(user) for user in owners]}


@changer(touches=[TOPIC, "files"], before=_former_of_all)
def atrm(*args: str | int) -> dict[str, Any]:
    """Remove jobs by their numbers. Raises CommandFailed with what atrm has against it.

    runner call at.atrm 3 4
    """
    numbers = [str(int(number)) for number in args]
    cmd.execute(["atrm", *numbers]).or_fail()
    return {"jobs": {"removed": numbers, "tag": None}}
