# SPDX-License-Identifier: Apache-2.0
"""Which versions come from an archive of security updates, and what apt-get keeps back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from modules.pkg.apt import questions

# the suite of a line `500 http://deb.debian.org/debian-security bookworm-security/main amd64 ...`
_ARCHIVE = re.compile(r"-?\d+ \S+ (?:\S+-security|[^\s/]+/updates)/\S+ ")
_VERSION = re.compile(r"(?P<mark> \*\*\*|    ) (?P<version>\S+) (?P<priority>-?\d+)")
_KEPT = re.compile(
    r"^The following (?:packages have been kept back|upgrades have been deferred due to phasing):"
    r"((?:\n .*)+)",
    re.MULTILINE,
)


def kept_back(output: str) -> list[str]:
    """Return the packages that apt-get says it keeps back in an upgrade."""
    return [name for names in _KEPT.findall(output) for name in names.split()]


def versions(names: Iterable[str], normalized: Callable[[str], str]) -> dict[str, str]:
    """Return the newest version of packages that comes from a security archive, of those for which
    it is newer than the one that is installed.
    """
    words = sorted(names)
    if not words:
        return {}
    found: dict[str, str] = {}
    name = version = ""
    for line in questions.probe("apt-cache", "policy", "--", *words).stdout.splitlines():
        if line and not line.startswith(" "):
            name, version = normalized(line.removesuffix(":")), ""
        elif entry := _VERSION.fullmatch(line):  # the newest first; what is there ends the list
            if entry["mark"].strip():
                name = ""
            version = entry["version"] if int(entry["priority"]) >= 0 else ""
        elif name and version and _ARCHIVE.match(line.strip()):
            found.setdefault(name, version)
    return found
