# SPDX-License-Identifier: Apache-2.0
"""Jobs that run once, later (at)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from modules import at, cron
from runner.api import (
    Check,
    Done,
    Name,
    NonEmptyLine,
    NotEmpty,
    Pattern,
    Plan,
    Planned,
    StateFailed,
)
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite, Removal
from states._run_as import dry_run_check as dry_run_check

Tag = Annotated[Name, Pattern(r"\w+", "a word (letters, digits, _)")]
Job = Annotated[str, NotEmpty()]
PARTS = {"year": "%y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M"}


def _part_problem(part: int) -> str | None:
    return None if 0 <= part <= 9999 else "expected a number of a date or time"


Part = Annotated[int, Check(_part_problem)]


def present(
    name: Job,
    timespec: NonEmptyLine,
    tag: Tag | None = None,
    user: Name | None = None,
    job: Job | None = None,
    unique_tag: bool = False,
) -> Planned:
    """Make sure that a job waits to be run once.

    A job that waits already, with this command, tag and user, is not added again, whatever its
    time. After it ran it is added anew, as `timespec` then says: let `onchanges` or `creates`
    decide where it is not to. at itself is asked in a dry run, too, whether it takes the time.

    name: The command line, or any name where `job` has it.
    timespec: When, in the words of at(1): `10:00 tomorrow`, `now + 2 hours`, `04:00 2030-12-24`.
      A time alone is to be in quotes, as in all YAML.
    tag: A word by which the job is known.
    user: Who runs it; without it who runs runner.
    job: The command lines.
    unique_tag: Any job of this tag will do.

        restart after the window:
          at.present:
            - job: systemctl restart web
            - timespec: '04:00 tomorrow'
            - tag: restart_web

    Behaviour: Salt 3008's at.present, which adds another one in each run but for `unique_tag`.
    """
    text = (job or name).strip("\n")
    if unique_tag and not tag:
        raise StateFailed("no tag provided and unique_tag is set to True")
    owner = user or cron.caller()
    if user and not cron.is_user(user):
        raise StateFailed(f"user {user} does not exists", missing=("user", user))
    for each in at.jobs():
        if unique_tag and each.tag == tag:
            return f"atleast one job with tag {tag} exists."
        if (each.user, each.tag, each.text) == (owner, tag or "", text):
            return f"job {text} is in the queue and will run on {each.time}"
    ran_by = f" as {user}" if user else ""
    comment = f"job {text} added and will run{ran_by} on {timespec}"
    made = {"job": None, "date": None, "time": None, "queue": None, "user": owner, "tag": tag or ""}
    yield Plan(made, comment, in_dry_run=lambda: at.refuse_time(timespec, user))
    return Done(comment, at.add(timespec, text, tag, user).shown())


def absent(
    name: NonEmptyLine,
    jobid: Part | None = None,
    tag: Tag | None = None,
    runas: Name | None = None,
    year: Part | None = None,
    month: Part | None = None,
    day: Part | None = None,
    hour: Part | None = None,
    minute: Part | None = None,
    job: Job | None = None,
) -> Planned:
    """Make sure that no such job waits: those are removed that fit all that is given. Without any
    argument these are all jobs, whoever's they are.

    name: Any name.
    jobid: Its number.
    tag: as of at.present.
    runas: Whose it is.
    year, month, day, hour, minute alike: When it is to run; a year in two or four digits.
    job: as of at.present.

        no restart:
          at.absent:
            - tag: restart_web

    Behaviour: Salt 3008's at.absent, which does not know `job`.
    """
    parts = {"year": year, "month": month, "day": day, "hour": hour, "minute": minute}
    wanted = {PARTS[part]: value % 100 for part, value in parts.items() if value is not None}
    found = [
        each.number
        for each in at.jobs()
        if jobid in (None, int(each.number))
        and tag in (None, each.tag)
        and runas in (None, each.user)
        and (job is None or job.strip("\n") == each.text)
        and all(int(each.time.strftime(part)) == value for part, value in wanted.items())
    ]
    if not found:
        return "removed 0 job(s)" if jobid is None else f"job with id {jobid} not present"
    yield Plan({"removed": found}, f"{len(found)} job(s) would be removed")
    at.atrm(*found)
    one = f"job with id {jobid} was removed"
    return one if jobid is not None else f"removed {len(found)} job(s)"


def _made(
    name: str, tag: str | None = None, user: str | None = None, job: str | None = None, **_: object
) -> Iterator[Removal]:
    """The job of a state."""
    about = {"tag": tag, "runas": user, "job": job or name}
    given = {key: value for key, value in about.items() if value}
    yield Removal(name, given, thing=" ".join(given.values()))
    if cron.caller(user) == cron.caller():  # the same job, however it says so
        other = {**about, "runas": None if user else cron.caller()}
        thing = " ".join(value for value in other.values() if value)
        yield Removal(name, thing=thing, made=False)


OPPOSITE = {"present": Opposite("absent", things=_made)}
autorequire = comes_after(
    "Jobs come after at and the user whose they are.", ("pkg", "at"), user="user"
)
