# SPDX-License-Identifier: Apache-2.0
"""Which packages zypper has as installed by hand, and what it would remove if it had others so.

zypper has no command for it: the names of packages that its solver added stand, a line each, in a
file of its library.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable

from modules import _paths, file
from modules._paths import text_of
from modules.pkg.rpm import packages as rpm
from runner.api import here

NOTES = "/var/lib/zypp/AutoInstalled"
CHECK = "/etc/zypp/systemCheck"  # lines "requires:NAME", further files in its folder ....d
_SHARED = ("/etc", "/usr", "/lib", "/lib64", "/var/lib/rpm", "/var/cache/zypp")


def automatic() -> list[str]:
    """Return the names of packages, without their architectures, that were added for others."""
    return [line for line in _lines() if line and not line.startswith("#")]


def _lines() -> list[str]:
    return text_of(NOTES).splitlines()


def manually_installed(installed: Iterable[str]) -> list[str]:
    """Return the packages that were not added for others."""
    added = {*automatic()}
    return [name for name in installed if rpm.split_name(name)[0] not in added]


def system_check() -> list[str]:
    """Return the packages that zypper's library wants to be there at all times."""
    paths = (CHECK, *sorted(_paths.glob(f"{CHECK}.d/*")))
    lines = [line for path in paths for line in text_of(path).splitlines()]
    return [line.split(":", 1)[1].strip() for line in lines if line.startswith("requires:")]


def marked(for_others: Collection[str], by_hand: Collection[str]) -> str:
    """Return the file's text with packages marked anew."""
    leaving = {rpm.split_name(name)[0] for name in by_hand}
    adding = {rpm.split_name(name)[0] for name in for_others} - {*automatic()}
    lines = [line for line in _lines() if line not in leaving]
    return "".join(f"{line}\n" for line in [*lines, *sorted(adding)])


def mark(for_others: Collection[str], by_hand: Collection[str]) -> None:
    """Note why packages are installed."""
    file.write(NOTES, marked(for_others, by_hand).encode())


def marked_copy(for_others: Collection[str], by_hand: Collection[str]) -> list[str]:
    """Return the option by which zypper looks at this system with those packages marked: a root
    folder of links, with a copy of its notes.
    """
    root = here.scratch()
    for path in filter(_paths.isdir, _SHARED):
        os.makedirs(os.path.dirname(root + path), exist_ok=True)
        os.symlink(path, root + path)
    os.makedirs(f"{root}/var/lib", exist_ok=True)
    folder = os.path.dirname(NOTES)
    if os.path.isdir(folder):  # os: as zypper has noted them
        shutil.copytree(folder, root + folder)  # os: the same
    else:
        os.makedirs(root + folder)
    with open(root + NOTES, "w", encoding="utf-8") as notes:
        notes.write(marked(for_others, by_hand))
    return ["--root", root]
