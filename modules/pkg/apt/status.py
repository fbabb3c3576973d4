# SPDX-License-Identifier: Apache-2.0
"""dpkg's record of what is installed, as plans would leave it: apt-get simulates on a copy."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from modules import cmd, file
from runner.api import here

_STATUS = re.compile(r"^(Status: )(?:install|hold)\b", re.M)
STATUS = "/var/lib/dpkg/status"


def planned_status(versions: Mapping[str, str], held: Collection[str]) -> list[str]:
    """Return the options by which apt-get takes packages for installed in other versions, "" for
    those that are not. held: those that are held.
    """
    path = f"{here.scratch()}/status"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as copy:
        for entry in (*_remaining(versions), *_installed(versions)):
            name = entry.partition("\n")[0].removeprefix("Package: ")
            copy.write(_STATUS.sub(r"\1hold" if name in held else r"\1install", entry, count=1))
    return ["-o", f"Dir::State::status={path}"]


def _remaining(versions: Mapping[str, str]) -> Iterator[str]:
    """The entries of packages that stay as they are."""
    text = file.read_bytes(STATUS).decode("utf-8", "surrogateescape")
    for entry in text.split("\n\n"):
        name = entry.partition("\n")[0].removeprefix("Package: ")
        if entry.strip() and name not in versions:
            yield f"{entry.strip()}\n\n"


def _installed(versions: Mapping[str, str]) -> Iterator[str]:
    """The entries that other packages will have."""
    words = [f"{name}={version}" for name, version in versions.items() if version]
    shown = cmd.probe(["apt-cache", "show", "--", *words]).stdout if words else ""
    for entry in shown.split("\n\n"):
        first, _, rest = entry.strip().partition("\n")
        if first:
            yield f"{first}\nStatus: install ok installed\n{rest}\n\n"
