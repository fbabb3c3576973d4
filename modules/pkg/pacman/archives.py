# SPDX-License-Identifier: Apache-2.0
"""Archives of pacman's packages before they are installed: where they come from, and what pacman
would make of them here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from modules import _paths, cmd
from modules._paths import text_of
from modules.pkg import _run
from modules.pkg._provided import size_of
from modules.pkg._tar import opened_tar, unpacking_words
from modules.pkg.package_manager import NEEDS, PROVIDES, Archive, Control
from modules.pkg.pacman import conf as pacman_conf
from modules.pkg.pacman import records as pacman_records
from modules.pkg.pacman import run as pacman_run
from modules.pkg.pacman.hooks import is_meant

LISTS = "/var/lib/pacman/sync"
INSTALLED = "/var/lib/pacman/local"
ABOUT = (".PKGINFO", ".INSTALL")
MOST_CONTROL = 64 << 20  # bytes before the files that are installed
# functions of a package's .INSTALL by the words of dpkg for such scripts
SCRIPTS = {
    "preinst": ("pre_install", "pre_upgrade"),
    "postinst": ("post_install", "post_upgrade"),
    "prerm": ("pre_remove", "pre_remove"),
    "postrm": ("post_remove", "post_remove"),
}


def find(versions: Sequence[tuple[str, str]], cache: str) -> dict[str, Archive]:
    """Return the archives of packages, by name. cache: pacman's own folder of archives."""
    members = [f"{name}-{version}/desc" for name, version in versions]
    found: dict[str, Archive] = {}
    for repository in pacman_conf.repositories():
        listed = f"{LISTS}/{repository.name}.db"
        servers = [each for each in repository.values("Server") if each.startswith("file://")]
        folders = [
            each.removeprefix("file://").replace("$repo", repository.name) for each in servers
        ]
        done = cmd.probe(["tar", "-xOf", listed, "--", *members])
        for fields in _entries(done.stdout):
            name, version = fields.get("NAME", ""), fields.get("VERSION", "")
            digest, file_name = fields.get("SHA256SUM", ""), fields.get("FILENAME", "")
            if (name, version) in versions and digest and "/" not in file_name:
                places = [os.path.join(folder, file_name) for folder in folders]
                path = next(filter(_paths.isfile, places), os.path.join(cache, file_name))
                size = size_of(fields.get("CSIZE", ""))
                found.setdefault(name, Archive(name, version, path, size, f"sha256:{digest}"))
    return found


def _entries(output: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each package, from what stands in a list: %KEY%, then its lines."""
    fields: dict[str, str] = {}
    key = ""
    for line in output.splitlines():
        if line.startswith("%") and line.endswith("%"):
            key = line.strip("%")
            if key == "FILENAME" and fields:
                yield fields
                fields = {}
        elif line and key:
            fields.setdefault(key, line)
    if fields:
        yield fields


def fetch(versions: Sequence[tuple[str, str]], seconds: float) -> None:
    """Have archives in pacman's cache. Raises CommandFailed."""
    names = [name for name, _ in versions]
    _run.fetch([*pacman_run.START, "-Sw", "--", *names], seconds, pacman_run.errors)


def control(path: str) -> Control:
    """Return what an archive says of itself. Raises BadArchive."""
    texts = dict.fromkeys(ABOUT, "")
    with opened_tar(unpacking_words(path), MOST_CONTROL) as tar:
        for info in tar:
            if not info.name.startswith("."):  # they come first
                break
            taken = tar.opened(info) if info.name in texts else None
            if taken:
                texts[info.name] = taken.read().decode("utf-8", "surrogateescape")
    about, script = texts.values()
    values: dict[str, list[str]] = {}
    for key, _, value in (line.partition(" = ") for line in about.splitlines()):
        values.setdefault(key, []).append(value)
    kept = tuple(f"/{value}" for value in values.get("backup", ()))
    names = {NEEDS: values.get("depend", ()), PROVIDES: values.get("provides", ())}
    bare = {key: "\n".join(map(pacman_records.bare, each)) for key, each in names.items()}
    return Control({**scripts(script), **bare}, kept)


def scripts(text: str) -> dict[str, str]:
    """Return the scripts of a package as dpkg would call them: of an .INSTALL each function that
    it has.
    """
    return {
        kind: f'#!/bin/sh\n{text}\nif test -n "$2"; then {second} x "$2"; else {first}; fi\n'
        for kind, (first, second) in SCRIPTS.items()
        if first in text or second in text
    }


class PacmanPlacement:
    """How pacman places what archives hold: by its NoExtract and NoUpgrade."""

    LEFT, REPLACED, SAVED = ".pacnew", "", ".pacsave"
    LEFT_WARNING, SAVED_WARNING = "{path} installed as {left}", "{path} saved as {saved}"
    BESIDE: tuple[str, ...] = ()
    PURGES, RESTORES, KEEPS = True, True, False

    def __init__(self, folders: Sequence[str]) -> None:
        """folders: what pacman has of those packages that are installed."""
        self.configuration = dict(_backups(folders))
        asked = cmd.probe(["pacman-conf", "NoExtract"]).stdout
        self._left_out = asked.split()

    def path(self, package: str, path: str) -> str:
        """Return where a member of a package goes; empty for one that is left out."""
        name = path[1:]
        left_out = name.startswith(".") and "/" not in name
        return "" if left_out or is_meant(name, self._left_out) else path

    def rights(self, path: str) -> tuple[str, str, int] | None:
        """Return nothing: pacman leaves rights to archives."""
        return None


def _backups(folders: Sequence[str]) -> Iterator[tuple[str, str]]:
    for folder in folders:
        for line in _lines(f"{folder}/files", "BACKUP"):
            path, _, digest = line.partition("\t")
            yield f"/{path}", f"md5:{digest}"


def _lines(path: str, section: str) -> list[str]:
    """The lines of a section of a file of pacman's."""
    if not (text := text_of(path, "surrogateescape")):
        return []
    return text.partition(f"%{section}%\n")[2].partition("\n\n")[0].split("\n")


def installed_scripts(folder: str) -> Mapping[str, str]:
    """Return the scripts of an installed package."""
    return scripts(text_of(f"{folder}/install", "surrogateescape"))
