# SPDX-License-Identifier: Apache-2.0
"""Running dnf: other programs' locks are waited for, what an interrupted one left is repaired
first, its errors say what to do.
"""

from __future__ import annotations

import re

from modules import _paths, cmd
from modules.pkg._run import error_list, run_unlocked
from modules.pkg.rpm import packages as rpm
from runner.api import CommandFailed, here

PROGRAMS = ("/usr/bin/dnf", "/usr/bin/dnf5")
ABORTED = "Operation aborted"  # what a transaction ends with that --assumeno refuses
NO_LISTS = "Cache-only enabled but no cache"
_LOCKED = re.compile(
    r"^.*(already locked by \d+|can't create transaction lock on|Failed to obtain .*lock).*$", re.M
)
_PROBLEM = re.compile(
    r"(Error|Problem|RPM: error|Config error)\b.*"
    r"|(No match for argument|Public key for|All matches were filtered|Failed to).*"
    r"|Package .* is not signed|- .*"
)
ADVICE = (  # part of an error, what to do
    (
        r"Curl error|Failed to download metadata|Cannot download|Librepo error",
        "the mirror does not answer: see whether its address is right and can be reached;"
        " pkgrepo.managed with `skip_if_unavailable: 1`, or `disablerepo`, goes on without it",
    ),
    (
        r"You have enabled checking of packages|Public key for .* is not installed",
        "the key that the packages are signed with is not here: name it in `gpgkey` of"
        " pkgrepo.managed, or import it with `rpm --import`",
    ),
    (
        r"is not signed|GPG check FAILED|Failed to retrieve GPG key|GPG Keys are configured",
        "the signatures could not be verified: see `gpgkey` of the repository; `skip_verify: True`"
        " installs all the same",
    ),
    (
        r"filtered out by exclude filtering",
        "`exclude` of the configuration or a hold keeps the package from being changed: see"
        " `update_holds` and `disableexcludes` of pkg.installed",
    ),
    (
        r"No such command: .?versionlock",
        "holding packages needs dnf's plugin versionlock: install python3-dnf-plugin-versionlock",
    ),
)


def program() -> str:
    """Return the program that this machine has: dnf, or only its successor dnf5."""
    only_new = not _paths.exists(PROGRAMS[0]) and _paths.exists(PROGRAMS[1])
    return "dnf5" if only_new else "dnf"


def look(*words: str) -> cmd.Completed:
    """Ask dnf something. It reads the package lists that are there, and fetches none."""
    return cmd.probe([program(), "-q", "-C", *words])


def run(*words: str) -> cmd.Completed:
    """Have dnf change something. Raises CommandFailed with its errors, a line each."""
    # the old dnf would wait in silence for as long as it takes
    fails_locked = ("--setopt=exit_on_lock=True",) if program() == "dnf" else ()
    done = run_unlocked([program(), *fails_locked, "-y", *words], _lock_problem)
    if done.retcode:
        raise CommandFailed(errors(done))
    return done


def _lock_problem(done: cmd.Completed) -> str:
    locked = _LOCKED.search(f"{done.stderr}\n{done.stdout}")
    return locked[0] if locked else ""


def repair() -> None:
    """Finish what a killed dnf left: packages that are there in their old and new version."""
    duplicates = duplicated_packages()
    if duplicates:
        run("remove", "--duplicates")
        here.warn(
            f"dnf had been interrupted: the old versions of {', '.join(duplicates)} were removed"
            " first (dnf remove --duplicates)"
        )


def duplicated_packages() -> list[str]:
    """Return the packages that an interrupted upgrade left twice. Kernels may be there twice."""
    several = [name for name, version in rpm.list_pkgs().items() if "," in version]
    if not several:
        return []
    lines = look("repoquery", "--duplicates", "--qf", "%{name}\n").stdout.splitlines()
    return sorted({line.strip() for line in lines} & {*several})


def errors(done: cmd.Completed) -> str:
    """Return the lines that say what went wrong, and what to do about it."""
    output = f"{done.stdout}\n{done.stderr}"
    lines = [line.strip() for line in output.splitlines()]
    problems = [line for line in lines if _PROBLEM.match(line) and line != "Error:"]
    problems = [line.removeprefix("- ") for line in dict.fromkeys(problems)] or [
        line for line in lines if line
    ][-3:]
    problems += [f"{advice}." for pattern, advice in ADVICE if re.search(pattern, output)]
    return error_list(*problems)
