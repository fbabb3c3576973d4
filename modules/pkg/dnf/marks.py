# SPDX-License-Identifier: Apache-2.0
"""Which packages dnf has as installed by hand, and what it would remove if it had others so."""

from __future__ import annotations

import fnmatch
import shutil
from collections.abc import Iterable, Sequence

from modules import _paths
from modules._paths import text_of
from modules.pkg.dnf import run as dnf_run
from modules.pkg.rpm import packages as rpm
from runner.api import CommandFailed, here

PROTECTED = (
    "/etc/dnf/protected.d/*.conf",
    "/etc/yum/protected.d/*.conf",
    "/usr/share/dnf5/libdnf.plugins.conf.d/protected.d/*.conf",
)
INSTALLED_ONLY = "--disablerepo=*"  # what is installed is known without any package lists
# program -> what it calls the two reasons, the option for the folder of its notes, that folder
WORDS = {
    "dnf": ("remove", "install", "persistdir", "/var/lib/dnf"),
    "dnf5": ("dependency", "user", "system_state_dir", "/usr/lib/sysimage/libdnf5"),
}


def manually_installed() -> list[str]:
    """Return the packages that dnf does not have as installed for others. Raises CommandFailed."""
    words = ("repoquery", INSTALLED_ONLY, "--userinstalled", "--qf", "%{name}\t%{arch}\n")
    done = dnf_run.look(*words)
    if done.retcode:
        raise CommandFailed(dnf_run.errors(done))
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    names = (rpm.name_with_architecture(*row) for row in rows if len(row) == 2)
    return list(dict.fromkeys(names))


def vital(installed: Iterable[str]) -> list[str]:
    """Return the packages that dnf's configuration protects from being removed."""
    patterns = [dnf_run.program()]
    for path in sorted(path for pattern in PROTECTED for path in _paths.glob(pattern)):
        lines = text_of(path).splitlines()
        patterns += [line.strip() for line in lines if line.strip() and line[0] != "#"]
    return [name for name in installed if any(fnmatch.fnmatch(name, one) for one in patterns)]


def mark(automatic: Sequence[str], manual: Sequence[str], *options: str) -> None:
    """Have dnf note why packages are installed. Raises CommandFailed with dnf's errors."""
    for_others, by_hand, _, _ = WORDS[dnf_run.program()]
    for reason, names in ((for_others, automatic), (by_hand, manual)):
        if names:
            dnf_run.run(INSTALLED_ONLY, *options, "mark", reason, *names)


def marked_copy(automatic: Sequence[str], manual: Sequence[str]) -> list[str]:
    """Return the options by which dnf uses a copy of its notes, in which these are marked."""
    _, _, setting, folder = WORDS[dnf_run.program()]
    copy = f"{here.scratch()}/notes"
    if _paths.isdir(folder):
        shutil.copytree(folder, copy)  # os: as the program has noted them
    option = f"--setopt={setting}={copy}"
    mark(automatic, manual, option)
    return [INSTALLED_ONLY, option]
