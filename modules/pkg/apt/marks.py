# SPDX-License-Identifier: Apache-2.0
"""Which packages apt has as installed by hand, and what it would remove if it had others so."""

from __future__ import annotations

from modules import _paths, cmd
from modules.pkg.apt import questions
from runner.api import CommandFailed, here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

STATES = "/var/lib/apt/extended_states"


def manually_installed() -> list[str]:
    """Return the packages that apt does not have as installed for others. Raises CommandFailed."""
    return questions.probe("apt-mark", "showmanual").or_fail("apt-mark showmanual").stdout.split()


def vital() -> list[str]:
    """Return the packages that Debian says each system needs: essential, protected, required."""
    fields = "${binary:Package}\\t${Essential}\\t${Protected}\\t${Priority}\\n"
    rows = [
        line.split("\t")
        for line in cmd.probe(["dpkg-query", "-W", "-f", fields]).stdout.splitlines()
    ]
    return [name for name, *about in rows if "yes" in about or "required" in about]


def mark(automatic: Sequence[str], manual: Sequence[str], *options: str) -> None:
    """Have apt note why packages are installed. Raises CommandFailed if apt-mark fails."""
    for action, names in (("auto", automatic), ("manual", manual)):
        if names:
            done = questions.probe("apt-mark", *options, action, "--", *names)
            if done.retcode:
                raise CommandFailed(f"apt-mark {action}: {done.stderr.strip()}")


def marked_copy(automatic: Sequence[str], manual: Sequence[str]) -> list[str]:
    """Return the options by which apt-get uses a copy of its notes, in which these are marked."""
    path = f"{here.scratch()}/extended_states"
    if _paths.exists(STATES):
        _paths.copy_out(STATES, path)
    options = ["-o", f"Dir::State::extended_states={path}"]
    mark(automatic, manual, *options)
    return options
