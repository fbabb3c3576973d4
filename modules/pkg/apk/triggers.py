# SPDX-License-Identifier: Apache-2.0
"""Triggers of apk's packages: scripts that are run when folders that they wait for have changed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence

from modules import _paths
from modules._paths import text_of
from modules.pkg.apk import archives
from modules.pkg.package_manager import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from modules.pkg._ahead import PlannedPackage

FOLDERS = "/lib/apk/db/triggers"  # of installed packages, each by its digest
_MEMBER = re.compile(r"(?P<owner>.+)-[^-]+-r\d+\.(?P<digest>[^.]+)\.trigger")


def hooks(packages: Sequence[PlannedPackage]) -> Iterator[Hook]:
    """Yield what apk runs when packages have come: with the folders that they have altered, those
    of a package that comes with all that are there.
    """
    paths = {member.path for package in packages for member in package.contents.members}
    altered = paths | {os.path.dirname(path) for path in paths}
    coming = {package.name: package.contents.control for package in packages}
    for owner, patterns, script in _installed():
        if owner not in coming:
            yield from _hook(owner, script, _matching(patterns, altered))
    for owner, texts in coming.items():
        if archives.TRIGGER in texts:
            patterns = texts[archives.TRIGGER_FOLDERS].split()
            yield from _hook(owner, texts[archives.TRIGGER], _matching(patterns, altered, True))


def _installed() -> Iterator[tuple[str, list[str], str]]:
    """The owners of triggers that are installed, the folders that they wait for, and what they
    run.
    """
    lines = text_of(FOLDERS, "surrogateescape").splitlines() if _paths.isfile(FOLDERS) else []
    folders = {digest: patterns for digest, *patterns in filter(None, map(str.split, lines))}
    for name, script in archives.installed_texts(".trigger"):
        match = _MEMBER.fullmatch(name)
        if match and match["digest"] in folders:
            yield match["owner"], folders[match["digest"]], script


def _matching(patterns: Sequence[str], altered: set[str], comes: bool = False) -> list[str]:
    """The folders that patterns mean, of which something was altered. comes: the others, too, but
    for a pattern with a plus.
    """
    return [
        path
        for pattern in patterns
        for path in _paths.glob(pattern.removeprefix("+"))
        if _paths.isdir(path) and (path in altered or (comes and not pattern.startswith("+")))
    ]


def _hook(owner: str, script: str, folders: Sequence[str]) -> Iterator[Hook]:
    if folders:
        yield Hook(owner, "trigger", f"#!/bin/sh\nset -- {shlex.join(folders)}\n{script}")
