# SPDX-License-Identifier: Apache-2.0
"""Archives of rpm before they are installed, and what rpm would make of them here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modules import cmd
from modules.pkg.package_manager import Control, Placement
from modules.pkg.rpm.packages import FILES, list_pkgs, normal
from runner.api import cached_look

# rpm's tags by the words of dpkg for such scripts, with what each is told: of an installation, of
# an upgrade
SCRIPTS = {
    "preinst": ("PREIN", "1", "2"),
    "postinst": ("POSTIN", "1", "2"),
    "prerm": ("PREUN", "0", "1"),
    "postrm": ("POSTUN", "0", "1"),
}
_SEPARATOR = "\x1f"
_SCRIPTS = _SEPARATOR.join(f"%{{{tag}PROG}}{_SEPARATOR}%{{{tag}}}" for tag, *_ in SCRIPTS.values())
_FILES = "[%{FILENAMES}\\t%{FILEFLAGS:fflags}\\n]"
_UNSIGNED = ("--nosignature", "--nodigest")  # the archive's own digest was compared before


def control(path: str) -> Control:
    """Return what an archive says of itself."""
    query = ["rpm", "-qp", *_UNSIGNED, "--qf"]
    files = cmd.probe([*query, _FILES, "--", path]).stdout
    rows = (line.rpartition("\t") for line in files.splitlines())
    flags = {name: flag for name, _, flag in rows if "c" in flag}
    replaced = tuple(name for name, flag in flags.items() if "n" not in flag)
    return Control(_scripts(cmd.probe([*query, _SCRIPTS, "--", path]).stdout), (*flags,), replaced)


def _scripts(output: str) -> dict[str, str]:
    """The scripts of a package, as dpkg would call them."""
    values = output.split(_SEPARATOR)
    texts = {}
    for (kind, (_, first, second)), program, text in zip(
        SCRIPTS.items(), values[::2], values[1::2], strict=False
    ):
        if program == "(none)":
            continue
        told = f'if test -n "$2"; then set -- {second}; else set -- {first}; fi'
        body = "" if text == "(none)" else text
        is_shell = program.endswith(("/sh", "/bash"))
        texts[kind] = f"#!{program}\n{told}\n{body}\n" if is_shell else f"#!{program}\n{body}\n"
    return texts


def installed_scripts(name: str) -> dict[str, str]:
    """Return the scripts of an installed package."""
    return _scripts(cmd.probe(["rpm", "-q", "--qf", _SCRIPTS, "--", name]).stdout)


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
    BESIDE: tuple[str, ...] = ()
    PURGES, RESTORES = False, True

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
