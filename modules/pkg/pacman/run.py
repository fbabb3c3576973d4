# SPDX-License-Identifier: Apache-2.0
"""Running pacman: another program's lock is waited for, failures say what to do."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from modules import _paths, cmd
from modules.pkg._run import error_list, run_unlocked
from runner.api import CommandFailed, here

START = ("pacman", "--noconfirm", "--noprogressbar", "--color", "never")
LOCK = "/var/lib/pacman/db.lck"
_LOCKED = "unable to lock database"
HINTS = {  # what pacman says -> what to do
    r"could not satisfy dependencies": "",  # what pacman says is enough
    r"missing required signature|[uU]nknown trust|marginal trust|key \".*\" (is unknown|could not)"
    r"|[Kk]ey\b.*(missing from|is disabled)|keyring is not writable|PGP signature|\.sig'": (
        "pacman trusts no signature of this: add the key (pkgrepo.managed with key_url or keyid;"
        " by hand: pacman-key --init where there is no keyring yet, pacman-key --recv-keys KEY,"
        " pacman-key --lsign-key KEY), bring archlinux-keyring up to date, or set another siglevel"
        " for the repository"
    ),
    r"failed retrieving file|failed to synchronize|could not resolve|download library error": (
        "a mirror does not answer or does not have the file (any more): name another Server in"
        " /etc/pacman.d or /etc/pacman.conf, or renew the package lists (refresh: True)"
    ),
    r"could not find database|database file for": (
        "the package lists of a repository are not there yet: renew them (refresh: True)"
    ),
    r"exists in filesystem": (
        "files that no package owns are in the way: remove them, or have pacman replace them by"
        " hand (pacman -S --overwrite PATH NAME)"
    ),
    r"could not open file .*/local/": (
        "a package was installed only halfway: remove its folder below /var/lib/pacman/local and"
        " install it anew"
    ),
}


def run(*words: str, start: Sequence[str] = START) -> None:
    """Have pacman change something. Raises CommandFailed with its errors, a line each."""
    done = run_unlocked([*start, *words], _lock_problem)
    if done.retcode:
        raise CommandFailed(errors(done))
    for line in done.stderr.splitlines():
        if ".pacnew" in line or ".pacsave" in line:
            here.warn(line.removeprefix("warning: "))


def stale_lock() -> str:
    """Return what to do about a lock that a killed pacman has left; empty when there is none."""
    if not _paths.exists(LOCK) or _holder():
        return ""
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(_lock_time()))
    return (
        f"the database is locked: {LOCK} is there since {since}, but no process has it open. A"
        " pacman that was killed has left it. Make sure that no package manager runs, then remove"
        f" it (rm {LOCK}) and run this again"
    )


def _lock_problem(done: cmd.Completed) -> str:
    """Return who has the lock. Raises CommandFailed when nobody is going to release it."""
    if _LOCKED not in done.stderr:
        return ""
    if holder := _holder():
        return f"{holder} has {LOCK}"
    time.sleep(1)  # it may have ended just now, or begun
    if problem := stale_lock():
        raise CommandFailed(error_list(f"{problem}."))
    return f"{_holder() or 'another pacman'} has {LOCK}"


def _lock_time() -> float:
    try:
        return _paths.stat(LOCK).st_mtime
    except OSError:  # released just now
        return time.time()


def _holder() -> str:
    """Return the process that has the lock open, by its name and ID; empty when there is none."""
    for link in _paths.glob("/proc/[0-9]*/fd/*"):
        try:
            if _paths.readlink(link) != LOCK:
                continue
            folder = link.partition("/fd/")[0]
            with _paths.open_text(f"{folder}/comm", "utf-8") as comm:
                return f"{comm.read().strip()} ({folder.rpartition('/')[2]})"
        except OSError:  # it has ended
            continue
    return ""


def errors(done: cmd.Completed) -> str:
    """Return the lines that say what went wrong, and what to do about it."""
    lines = [
        re.sub(r"^(:: |error: )|\. Remove .*\[y/N\].*| Do you want to .*", "", line)
        for line in f"{done.stderr}\n{done.stdout}".splitlines()
        if line.startswith("error:") or (line.startswith(":: ") and _is_problem(line))
    ]
    lines = list(dict.fromkeys(lines)) or done.stderr.strip().splitlines()[-3:]
    hint = next((hint for text, hint in HINTS.items() if re.search(text, "\n".join(lines))), "")
    return error_list(*lines, hint)


_PROBLEMS = (
    "unable to satisfy",
    "breaks dependency",
    "in conflict",
    "HoldPkg was found",
    "different architecture",
)


def _is_problem(line: str) -> bool:
    return any(problem in line for problem in _PROBLEMS)
