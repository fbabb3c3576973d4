# SPDX-License-Identifier: Apache-2.0
"""Jobs of at as they were: when, in which queue, their tags and what they run; their environment
and directory become those of the undo.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from modules import at, cron
from modules._machine.processes import probe
from modules.undo._kind import ABSENT, Future, State, one_by_one

NOTE = "its environment and directory become those of this undo"


def _look(user: str) -> State:
    return at.former_state(user).state if probe(["at", "-V"]).retcode == 0 else ABSENT


def _difference(was: State, now: State) -> tuple[Counter[str], Counter[str]]:
    """The jobs that come back, and those that go."""
    former = Counter[str](was.get("jobs", ()))
    present = Counter[str](now.get("jobs", ()))
    return former - present, present - former


def _restore(user: str, was: State, now: State) -> None:
    back, gone = _difference(was, now)
    for record in back.elements():
        day, time, queue, tag, text = record.split(" ", 4)
        at.add(
            f"{time} {day}",
            text,
            None if tag == "-" else tag,
            None if user == cron.caller() else user,
            queue,
        )
    for job in at.jobs():
        if job.user == user and gone[job.record] > 0:
            gone[job.record] -= 1
            at.atrm(job.number)


def _refused(user: str, was: State, now: State, future: Future) -> str:
    late = [job for job in _difference(was, now)[0] if _is_over(job)]
    return f"the time of a job is over: {late[0]}" if late else ""


def _is_over(record: str) -> bool:
    return datetime.strptime(record[:16], "%Y-%m-%d %H:%M") <= datetime.now()


JOBS = one_by_one(
    _look, _restore, _refused, lambda user, was, now: NOTE if _difference(was, now)[0] else ""
)
