# SPDX-License-Identifier: Apache-2.0
"""Archives of rpm before they are installed, and what rpm would make of them here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modules import cmd
from modules.pkg.package_manager import NEEDS, PROVIDES, Control, Placement
from modules.pkg.rpm import scripts as rpm_scripts
from modules.pkg.rpm.packages import FILES, list_pkgs, normal
from runner.api import cached_look

_SEPARATOR = "\x1f"
_FILES = "[%{FILENAMES}\\t%{FILEFLAGS:fflags}\\n]"
_ABOUT = _SEPARATOR.join((_FILES, "[%{REQUIRENAME}\\n]", "[%{PROVIDENAME}\\n]"))
_UNSIGNED = ("--nosignature", "--nodigest")  # the archive's own digest was compared before


def control(path: str) -> Control:
    """Return what an archive says of itself."""
    query = ["rpm", "-qp", *_UNSIGNED, "--qf"]
    told = cmd.probe([*query, _ABOUT, "--", path]).stdout
    files, needs, provides = [*told.split(_SEPARATOR), "", ""][:3]
    rows = (line.rpartition("\t") for line in files.splitlines())
    flags = {name: flag for name, _, flag in rows if "c" in flag}
    replaced = tuple(name for name, flag in flags.items() if "n" not in flag)
    texts = rpm_scripts.scripts("-qp", *_UNSIGNED, path)
    triggers = rpm_scripts.triggers_of(path, *_UNSIGNED)
    texts |= {rpm_scripts.TRIGGERS: triggers, NEEDS: needs, PROVIDES: provides}
    return Control(texts, (*flags,), replaced)


def installed_scripts(name: str) -> dict[str, str]:
    """Return the scripts of an installed package."""
    return rpm_scripts.scripts("-q", name)


def contents_words(path: str) -> list[str]:
    """Return the program that prints what an archive installs."""
    return ["sh", "-c", 'rpm2archive - <"$1" | gzip -dc', "rpm2archive", path]


@cached_look("packages", *FILES)
def kept_by_others(name: str, paths: tuple[str, ...]) -> set[str]:
    """Return those paths that belong to other installed packages, too."""
    kept = set()
    for path in paths:
        owners = cmd.probe(["rpm", "-qf", "--qf", "%{NAME}.%{ARCH}\\n", "--", path]).stdout.split()
        if {*map(normal, owners)} - {name}:
            kept.add(path)
    return kept


@cached_look("packages", *FILES)
def placement(names: tuple[str, ...]) -> Placement:
    """Return how rpm places what is in archives of packages."""
    there = list_pkgs()
    return RpmPlacement([name for name in names if name in there])


class RpmPlacement:
    """How rpm places what archives hold."""

    LEFT, REPLACED, SAVED = ".rpmnew", ".rpmsave", ".rpmsave"
    LEFT_WARNING = SAVED_WARNING = ""
    BESIDE: tuple[str, ...] = ()
    PURGES, RESTORES, KEEPS = False, True, False

    def __init__(self, names: Sequence[str]) -> None:
        """names: packages that are installed."""
        self.configuration = dict(_configuration(names)) if names else {}

    def path(self, package: str, path: str) -> str:
        """Return where a member goes: to its place."""
        return path

    def rights(self, path: str) -> tuple[str, str, int] | None:
        """Return nothing: rpm leaves rights to archives."""
        return None


def _configuration(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the configuration files of installed packages, with their digests."""
    query = "[%{FILENAMES}\\t%{FILEFLAGS:fflags}\\t%{FILEDIGESTS}\\n]"
    for line in cmd.probe(["rpm", "-q", "--qf", query, "--", *names]).stdout.splitlines():
        path, flags, digest = line.rsplit("\t", 2)
        if "c" in flags:
            yield path, f"{'sha256' if len(digest) == 64 else 'md5'}:{digest}"
