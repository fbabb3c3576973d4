# SPDX-License-Identifier: Apache-2.0
"""pacman's hooks (alpm-hooks(5)): commands that it runs once packages, or paths, have come."""

from __future__ import annotations

import fnmatch
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from modules import _paths, cmd
from modules._paths import text_of
from modules.pkg.package_manager import Hook

if TYPE_CHECKING:
    from modules.pkg._ahead import PlannedPackage

FOLDER = "/usr/share/libalpm/hooks"
Section = dict[str, list[str]]


def hooks(packages: Sequence[PlannedPackage]) -> Iterator[Hook]:
    """Yield the commands that pacman runs after packages have come."""
    for path in _files():
        sections = _sections(text_of(path, "surrogateescape"))
        action = next((section for name, section in sections if name == "Action"), {})
        if action.get("When") != ["PostTransaction"] or not action.get("Exec"):
            continue
        triggers = [section for name, section in sections if name == "Trigger"]
        targets = sorted({each for section in triggers for each in _targets(section, packages)})
        if targets:
            name = os.path.basename(path).removesuffix(".hook")
            command = action["Exec"][0]
            with suppress(ValueError):  # a quote that does not end: no shell reads it, either
                command = shlex.join(shlex.split(command))
            text = f"#!/bin/sh\n{command}\n"
            yield Hook(name, "hook", text, tuple(targets) if "NeedsTargets" in action else ())


def _files() -> list[str]:
    """The files of hooks, in their order. A later folder's are those of that name."""
    found: dict[str, str] = {}
    for folder in (FOLDER, *cmd.probe(["pacman-conf", "HookDir"]).stdout.split()):
        for path in _paths.glob(f"{folder.rstrip('/')}/*.hook"):
            found[os.path.basename(path)] = path
    return [found[name] for name in sorted(found)]


def _sections(text: str) -> list[tuple[str, Section]]:
    sections: list[tuple[str, Section]] = []
    for line in map(str.strip, text.splitlines()):
        key, _, value = map(str.strip, line.partition("="))
        if line.startswith("["):
            sections.append((line.strip("[]"), {}))
        elif line and not line.startswith("#") and sections:
            sections[-1][1].setdefault(key, []).append(value)
    return sections


def _targets(trigger: Section, packages: Iterable[PlannedPackage]) -> Iterator[str]:
    """Yield what a trigger waits for: the names of packages, or paths of theirs."""
    of_packages = trigger.get("Type") == ["Package"]
    for package in packages:
        if ("Upgrade" if package.old else "Install") not in trigger.get("Operation", ()):
            continue
        paths = (member.path[1:] for member in package.contents.members)
        for name in (package.name,) if of_packages else paths:
            if is_meant(name, trigger.get("Target", ())):
                yield name


def is_meant(name: str, patterns: Iterable[str]) -> bool:
    """Return whether patterns mean a name; of several that do, the last one says so (!: not)."""
    meant = False
    for pattern in patterns:
        if fnmatch.fnmatchcase(name, pattern.removeprefix("!")):
            meant = not pattern.startswith("!")
    return meant
