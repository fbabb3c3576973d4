# SPDX-License-Identifier: Apache-2.0
"""Running apt-get: other programs' locks are waited for, an interrupted dpkg is brought to its end
first.
"""

from __future__ import annotations

import re

from modules import _paths, cmd
from modules.pkg._run import LOCK_SECONDS, error_list, run_unlocked
from modules.pkg.apt.policy import starting_nothing
from modules.pkg.apt.questions import UPDATES
from runner.api import CommandFailed, here, pattern

QUIET = {
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    "UCF_FORCE_CONFFOLD": "1",
}
CONFFILES = (
    "--force-confold",
    "--force-confdef",
)  # a configuration file that was changed here stays
OPTIONS = "DPkg::Options::="
NEW_CONFFILES = f"{OPTIONS}--force-confnew"  # --force-confdef would keep the changed ones
MOST_LINES = 5  # of what a script says
KEPT = (
    "{path} was changed on this machine and stays as it is: the new one of its package is {left}"
    " (`force_conf_new: True` takes that)"
)
_LOCKED = pattern(
    r"^E: (Could not get lock .*|Unable to acquire the dpkg frontend lock.*another process.*)$",
    re.MULTILINE,
)
_KEPT = pattern(
    r"^Configuration file '(.+)'\n(?: ==> .*\n)* ==> Keeping old config file", re.MULTILINE
)
_SCRIPT = pattern(r"installed (\S+) package (\S+) script subprocess")
# lines of apt-get and dpkg among those of the scripts that they run
_OF_DPKG = pattern(
    r"(?:dpkg: |E: |W: |N: |debconf: |Setting up |Processing triggers |Errors were )"
)
_INTERRUPTED = "dpkg was interrupted"
_BROKEN = "apt --fix-broken install"


def interrupted() -> bool:
    """Return whether dpkg was killed in the middle of something."""
    return _paths.isdir(UPDATES) and any(map(str.isdigit, _paths.listdir(UPDATES)))


def run(*words: str) -> None:
    """Have apt-get change something. Raises CommandFailed with its errors, a line each."""
    done = _unlocked("apt-get", words[0], "-q", "-y", *_passed(words), *words[1:])
    if done.retcode and repairs(done):
        _heal()
        done = _unlocked("apt-get", words[0], "-q", "-y", *_passed(words), *words[1:])
    if done.retcode:
        raise CommandFailed(errors(done))
    for path in _KEPT.findall(done.stderr + done.stdout):
        here.warn(KEPT.format(path=path, left=f"{path}.dpkg-dist"))
    for line in done.stderr.splitlines():
        if words[0] == "update" and line.startswith("W: Failed to fetch"):
            here.warn(f"the package lists are old: {line.removeprefix('W: ')}")


def repairs(done: cmd.Completed) -> bool:
    """Return whether apt-get failed because of what another run had left, which is finished before
    the next change.
    """
    return _INTERRUPTED in done.stderr or _BROKEN in done.stderr + done.stdout


def _passed(words: tuple[str, ...] = ()) -> list[str]:
    """Return what dpkg is told through apt-get, unless words say otherwise."""
    options = [] if NEW_CONFFILES in words else [f"{OPTIONS}{option}" for option in CONFFILES]
    return [word for option in ("DPkg::Lock::Timeout=0", *options) for word in ("-o", option)]


def _unlocked(*argv: str) -> cmd.Completed:
    setting = "DPkg::Lock::Timeout in apt's configuration"
    with starting_nothing(argv) as words:
        return run_unlocked(words, _lock_problem, QUIET, _patience, setting)


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


_UNMET = pattern(r"^The following packages have unmet dependencies:\n((?: .*\n?)+)", re.M)
_HELD = pattern(r"^The following held packages will be changed:\n((?: .*\n)+)", re.M)


def errors(done: cmd.Completed) -> str:
    """The lines that say what went wrong, those of a package's script that failed among them."""
    lines: list[str] = []
    said: list[str] = []  # since the last line of dpkg
    in_error = False
    for line in f"{done.stderr}\n{done.stdout}".splitlines():
        if in_error and line.startswith(" "):  # why
            lines[-1] += line
            if failed := _SCRIPT.search(line):
                lines += said or _said_by(failed[1], done.stdout)
                said = []
            continue
        in_error = line.startswith(("E:", "dpkg: error"))
        lines += [line] if in_error else []
        if not in_error:
            said = [] if _OF_DPKG.match(line) else [*said, line][-MOST_LINES:]
    if unmet := _UNMET.search(done.stdout):
        lines[:0] = [" ".join(line.split()) for line in unmet[1].splitlines()[:MOST_LINES]]
    if held := _HELD.search(done.stdout):
        lines.append(f"held: {', '.join(held[1].split())}; the state pkg.unheld releases packages")
    others = [line for line in done.stderr.splitlines() if not line.startswith("debconf: ")]
    return error_list(*(lines or others[-3:]))


def _said_by(package: str, output: str) -> list[str]:
    """The last lines that the script of a package printed when it was set up."""
    lines = output.partition(f"Setting up {package} (")[2].splitlines()[1:]
    end = next((at for at, line in enumerate(lines) if _OF_DPKG.match(line)), len(lines))
    return lines[:end][-MOST_LINES:]
