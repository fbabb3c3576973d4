"""Processes."""

from __future__ import annotations

import os
import re


def pgrep(
    pattern: str, user: str | None = None, full: bool = False, pattern_is_regex: bool = False
) -> list[int] | None:
    """The numbers of the processes whose name has a text in it; null if there are none.

    user: only this user's. full: search the whole command line. pattern_is_regex: the text is a
    regular expression.

    {% if salt['ps.pgrep']('dockerd') %}
    """
    wanted = re.compile(str(pattern) if pattern_is_regex else re.escape(str(pattern)))
    numbers = [
        number
        for number in sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
        if wanted.search(_words(number, full)) and user in (None, _owner(number))
    ]
    return numbers or None


def num_cpus() -> int:
    """The number of processors."""
    return os.cpu_count() or 1


def _words(number: int, full: bool) -> str:
    """The name of a process, or its command line; empty once it has ended."""
    line = _read(f"/proc/{number}/cmdline").rstrip("\0").split("\0")
    if full:
        return " ".join(line)
    name = _read(f"/proc/{number}/comm").rstrip("\n")
    long = os.path.basename(line[0])  # the kernel keeps 15 letters of a name
    return long if len(name) == 15 and long.startswith(name) else name


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _owner(number: int) -> str | None:
    from modules.file import uid_to_user

    try:
        return uid_to_user(os.stat(f"/proc/{number}").st_uid)
    except OSError:
        return None
