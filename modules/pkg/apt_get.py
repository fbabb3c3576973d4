# SPDX-License-Identifier: Apache-2.0
"""Running apt-get: other programs' locks are waited for, an interrupted dpkg is brought to its end
first.
"""

from __future__ import annotations

import os
import re

from modules import cmd
from modules.pkg._run import LOCK_SECONDS, error_list, run_unlocked
from runner.api import CommandFailed, here

QUIET = {
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    "UCF_FORCE_CONFFOLD": "1",
}
CONFFILES = (
    "--force-confold",
    "--force-confdef",
)  # a configuration file that was changed here stays
UPDATES = "/var/lib/dpkg/updates"
_LOCKED = re.compile(
    r"^E: (Could not get lock .*|Unable to acquire the dpkg frontend lock.*another process.*)$",
    re.MULTILINE,
)
_INTERRUPTED = "dpkg was interrupted"
_BROKEN = "apt --fix-broken install"


def interrupted() -> bool:
    """Return whether dpkg was killed in the middle of something."""
    return os.path.isdir(UPDATES) and any(entry.name.isdigit() for entry in os.scandir(UPDATES))


def run(*words: str) -> None:
    """Have apt-get change something. Raises CommandFailed with its errors, a line each."""
    done = _unlocked("apt-get", words[0], "-q", "-y", *_passed(), *words[1:])
    if done.retcode and repairs(done):
        _heal()
        done = _unlocked("apt-get", words[0], "-q", "-y", *_passed(), *words[1:])
    if done.retcode:
        raise CommandFailed(errors(done))
    for line in done.stderr.splitlines():
        if words[0] == "update" and line.startswith("W: Failed to fetch"):
            here.warn(f"the package lists are old: {line.removeprefix('W: ')}")


def repairs(done: cmd.Completed) -> bool:
    """Return whether apt-get failed because of what another run had left, which is finished before
    the next change.
    """
    return _INTERRUPTED in done.stderr or _BROKEN in done.stderr + done.stdout


def _passed() -> list[str]:
    """Return what dpkg is told through apt-get."""
    options = [f"DPkg::Options::={option}" for option in CONFFILES]
    return [word for option in ("DPkg::Lock::Timeout=0", *options) for word in ("-o", option)]


def _unlocked(*argv: str) -> cmd.Completed:
    return run_unlocked(
        argv, _lock_problem, QUIET, _patience, "DPkg::Lock::Timeout in apt's configuration"
    )


def _lock_problem(done: cmd.Completed) -> str:
    locked = _LOCKED.search(done.stderr)
    return locked[1] if locked else ""


def _patience() -> float:
    output = cmd.probe(["apt-config", "shell", "found", "DPkg::Lock::Timeout"]).stdout
    number = re.search(r"'(\d+)'", output)
    return float(number[1]) if number else LOCK_SECONDS


def _heal() -> None:
    """Finish what a killed dpkg left, or raise CommandFailed with what stands in its way."""
    done = _unlocked("dpkg", *CONFFILES, "--configure", "-a")
    fixed = _unlocked("apt-get", "install", "-q", "-y", "--fix-broken", *_passed())
    if fixed.retcode:
        why = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise CommandFailed(
            f"{errors(fixed)}\n    - dpkg was interrupted, and cannot finish what it had"
            f" begun:\n{why}"
        )
    here.warn("dpkg had been interrupted: what was left was finished first (dpkg --configure -a)")


def errors(done: cmd.Completed) -> str:
    """The lines that say what went wrong."""
    lines: list[str] = []
    in_error = False
    for line in f"{done.stderr}\n{done.stdout}".splitlines():
        if in_error and line.startswith(" "):  # why
            lines[-1] += line
        in_error = line.startswith(("E:", "dpkg: error"))
        lines += [line] if in_error else []
    return error_list(*(lines or done.stderr.strip().splitlines()[-3:]))
