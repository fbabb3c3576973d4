# SPDX-License-Identifier: Apache-2.0
"""Which packages pacman has as installed by hand, and what it would remove if it had others so."""

from __future__ import annotations

import os
from collections.abc import Sequence

from modules import _paths, cmd
from modules.pkg.pacman import run as pacman_run
from runner.api import here

BASE = "base"  # the package that needs what each Arch Linux has


def manually_installed() -> list[str]:
    """Return the packages that pacman does not have as installed for others."""
    return cmd.probe(["pacman", "-Qeq"]).stdout.split()


def vital() -> list[str]:
    """Return the packages that pacman asks about before it removes them, and Arch's base."""
    return [*cmd.probe(["pacman-conf", "HoldPkg"]).stdout.split(), BASE]


def mark(automatic: Sequence[str], manual: Sequence[str], *options: str) -> None:
    """Have pacman note why packages are installed. Raises CommandFailed with its errors."""
    for reason, names in (("--asdeps", automatic), ("--asexplicit", manual)):
        if names:
            # -D knows nothing of a progress bar
            pacman_run.run(*options, "-D", reason, "--", *names, start=["pacman"])


def unneeded(
    database: str, automatic: Sequence[str], manual: Sequence[str]
) -> cmd.Completed | None:
    """Return what pacman says to removing what nothing needs once packages are marked; None where
    there is nothing to ask. It is asked with a copy of its notes in which they are marked.

    database: the folder with what is installed.
    """
    copy = here.scratch()
    for folder, _, names in _paths.walk(database):
        target = f"{copy}/local{folder.removeprefix(database)}"
        os.makedirs(target)
        for name in {"desc", "ALPM_DB_VERSION"} & {*names}:
            _paths.copy_out(f"{folder}/{name}", f"{target}/{name}")
    options = ("--dbpath", copy)
    mark(automatic, manual, *options)
    orphans = cmd.probe(["pacman", *options, "-Qdtq"]).stdout.split()
    # -u leaves out what others need
    targets = dict.fromkeys([*automatic, *orphans])
    words = ["-Rsu", "--print", "--print-format", "%n %v", "--", *targets]
    return cmd.probe([*pacman_run.START, *options, *words]) if targets else None
