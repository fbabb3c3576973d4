# SPDX-License-Identifier: Apache-2.0
"""Running apk: its lock is waited for, failures say what to do."""

from __future__ import annotations

import re

from modules import cmd
from modules.pkg._run import LOCK_SECONDS, error_list
from runner.api import CommandFailed, here

START = ("apk", "--no-progress", "--wait", f"{LOCK_SECONDS:g}")
HINTS = {  # what apk says -> what to do
    r"Unable to lock database": (
        f"another apk has the database (waited {LOCK_SECONDS:g} seconds): let it end, or end it,"
        " and run this again"
    ),
    r"UNTRUSTED signature": (
        "the key of this repository is not in /etc/apk/keys: give it to pkgrepo.managed as key_url"
    ),
    r"temporary error|network error|DNS|could not connect|Host is unreachable|404|no such file": (
        "a repository does not answer: see its address in /etc/apk/repositories"
    ),
    r"no such package": (
        "no repository has it: renew the package lists (refresh: True), or add the repository that"
        " has it (community, say) with pkgrepo.managed"
    ),
}
_PROBLEM = re.compile(r"(ERROR|WARNING): (.*)")
_NOT_REMOVED = "not removed due to"


def run(*words: str, stays: bool = False) -> None:
    """Have apk change something. Raises CommandFailed with its errors, a line each.

    stays: what is deleted may stay because something else needs it.
    """
    done = cmd.probe([*START, *words])
    if done.retcode or (refuses(done) and not stays):
        raise CommandFailed(errors(done))
    for line in done.stderr.splitlines():
        if match := _PROBLEM.match(line):
            here.warn(f"apk: {match[2]}")


def errors(done: cmd.Completed) -> str:
    """Return the lines that say what went wrong, and what to do about it."""
    lines: list[str] = []
    explains = False
    for line in f"{done.stderr}\n{done.stdout}".splitlines():
        match = _PROBLEM.match(line)
        if explains and line.startswith(" "):  # why
            lines[-1] += f" {line.strip()}"
            continue
        explains = match is not None or _NOT_REMOVED in line
        lines += [match[2] if match else line] if explains else []
    lines = lines or done.stderr.strip().splitlines()[-3:]
    hint = next((hint for text, hint in HINTS.items() if re.search(text, "\n".join(lines))), "")
    return error_list(*lines, hint)


def refuses(done: cmd.Completed) -> bool:
    """Return whether apk said that it would not do what was asked."""
    return bool(done.retcode) or _NOT_REMOVED in done.stdout + done.stderr
