# SPDX-License-Identifier: Apache-2.0
"""Rules of systemd-tmpfiles and systemd-sysusers: what these programs say of them, and do."""

from __future__ import annotations

import os
import re

from modules import cmd
from modules._machine.processes import needs
from runner.api import CommandFailed, Record, changer, for_states, here
from runner.api.offline import is_offline
from runner.api.planning import leave_pending


class Rules(Record):
    """A kind of rules. folder: where their files are. made: what a rule makes."""

    program: str
    folder: str
    made: str


TMPFILES = Rules("systemd-tmpfiles", "/etc/tmpfiles.d", "file")
SYSUSERS = Rules("systemd-sysusers", "/etc/sysusers.d", "user")
_UNKNOWN = re.compile(r"Failed to resolve (user|group) '([^']*)'")


@for_states
def verify(rules: Rules, name: str, text: str) -> str:
    """Have the program read what a file of rules would hold, where it can do nothing: a copy of it.
    Raises CommandFailed with what it says.
    """
    needs(rules.program, "systemd")
    folder = f"{here.scratch()}/rules"
    os.makedirs(f"{folder}/etc", exist_ok=True)
    path = f"{folder}/{name}.conf"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(text)
    if rules == SYSUSERS:
        words = ["--dry-run"]
    else:  # in an empty folder there is nothing to clean, but the accounts count
        words = ["--clean", f"--root={folder}"]
        for database in ("passwd", "group"):
            with open(f"{folder}/etc/{database}", "wb") as copy:
                copy.write(_accounts(database))
    done = cmd.probe([rules.program, *words, path])
    if done.retcode:
        said = done.error_text.replace(path, f"{rules.folder}/{name}.conf")
        missing = [(match[1], match[2]) for match in _UNKNOWN.finditer(said)]
        raise CommandFailed(f"{rules.program} refuses the rules: {said}", missing=missing)
    return path


def _accounts(database: str) -> bytes:
    done = cmd.probe(["getent", database])
    return f"{done.stdout}\n".encode("utf-8", "surrogateescape")


@for_states
def made(rules: Rules, lines: list[str]) -> list[tuple[str, str]]:
    """What rules make, as facts of a Plan."""
    found = [line.split(maxsplit=2)[1].strip('"') for line in lines if len(line.split()) > 1]
    kinds = ("user", "group") if rules == SYSUSERS else ("file",)
    return [(kind, each) for each in found for kind in kinds]


@for_states
@changer(planned=lambda rules, path: leave_pending())
def carry_out(rules: Rules, path: str) -> None:
    """Have the program make what a file of rules says; on a system that does not run, only what is
    kept. Raises CommandFailed.
    """
    words = ["--create", *(["-E"] if is_offline() else [])] if rules == TMPFILES else []
    cmd.execute([rules.program, *words, path]).or_fail(rules.program)
