# SPDX-License-Identifier: Apache-2.0
"""/etc/pacman.conf and what it includes: sections, and the packages that stay at their version."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterator, Sequence

from modules import _paths, file
from runner.api import Record

MAIN = "/etc/pacman.conf"
FOLDER = "/etc/pacman.d"
_HEADER = re.compile(r"\s*\[(?P<name>[^\]]+)\]\s*$")
_SETTING = re.compile(r"\s*(?P<key>\w+)\s*(?:=\s*(?P<value>.*?)\s*)?$")


class Section(Record):
    """A section of a configuration file. lines: its settings, header and comments left out.

    start, end: the lines of the file that it takes, header included.
    """

    name: str
    path: str
    start: int
    end: int
    settings: tuple[tuple[str, str], ...]

    def values(self, key: str) -> tuple[str, ...]:
        """Return the values of a setting that may be there several times."""
        return tuple(value for name, value in self.settings if name == key)


def read(path: str) -> str:
    """Return the text of a configuration file; empty when there is none."""
    return file.read_table(path).decode("utf-8", "replace") if file.is_file(path) else ""


def sections(path: str) -> Iterator[Section]:
    """Return the sections of one file, in their order."""
    lines = read(path).splitlines()
    starts = [number for number, line in enumerate(lines) if _HEADER.match(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        header = _HEADER.match(lines[start])
        assert header
        yield Section(header["name"], path, start, end, tuple(_settings(lines[start + 1 : end])))


def _settings(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        match = _SETTING.match(line)
        if match:
            yield match["key"], match["value"] or ""


def files() -> list[str]:
    """Return the main file and those that it includes."""
    paths = [MAIN]
    for path in paths:
        for _, value in _settings([line for line in read(path).splitlines() if "Include" in line]):
            paths += [included for included in sorted(_paths.glob(value)) if included not in paths]
    return paths


def repositories() -> list[Section]:
    """Return the repositories in use, in the order in which pacman asks them (of one file)."""
    return [section for path in files() for section in sections(path) if section.name != "options"]


def includes(path: str) -> bool:
    """Return whether the main file includes a file."""
    patterns = [value for section in sections(MAIN) for value in section.values("Include")]
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def with_include(text: str, path: str) -> str:
    """Return a configuration with a line at its end that includes a file."""
    return f"{text.rstrip()}\n\nInclude = {path}\n".lstrip()


def without_include(text: str, path: str) -> str:
    """Return a configuration without the lines that include exactly a file."""
    line = re.compile(rf"\n?^\s*Include\s*=\s*{re.escape(path)}\s*$\n?", re.MULTILINE)
    return line.sub("", text)


def replaced_lines(path: str, start: int, end: int, new: Sequence[str]) -> str:
    """Return the text of a file with other lines in the place of some."""
    lines = read(path).splitlines()
    lines[start:end] = new
    return "".join(f"{line}\n" for line in lines)


def with_ignored(text: str, add: Sequence[str], release: Collection[str]) -> str:
    """Return a configuration in which IgnorePkg names some packages, and others no longer."""
    lines: list[str] = []
    section, place, commented = "", 0, 0
    missing = list(add)
    for line in text.splitlines():
        if header := _HEADER.match(line):
            section = header["name"]
        setting = _SETTING.match(line)
        if setting and setting["key"] == "IgnorePkg" and section == "options":
            names = (setting["value"] or "").split()
            remaining = [name for name in [*names, *missing] if name not in release]
            missing = []
            if not remaining:
                continue
            line = line if remaining == names else f"IgnorePkg = {' '.join(remaining)}"
        lines.append(line)
        if header and section == "options":
            place = len(lines)
        if section == "options" and re.match(r"\s*#\s*IgnorePkg\b", line):
            commented = len(lines)
    if missing:
        new = [f"IgnorePkg = {' '.join(missing)}"]
        if not place:
            new, place = ["[options]", *new], 0
        lines[commented or place : commented or place] = new
    return "".join(f"{line}\n" for line in lines)
