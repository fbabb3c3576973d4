# SPDX-License-Identifier: Apache-2.0
"""The records that `pacman -Qi` and `pacman -Si` print of packages, and which of them exclude one
another.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from modules.pkg.package_manager import Changes, date_of
from modules.pkg.pacman.versions import compare
from runner.api import Record
from runner.api.versions import holds

_FIELD = re.compile(r"(?P<key>[A-Z][A-Za-z ]*?)\s*: (?P<value>.*)$")
_CONDITION = re.compile(r"(?P<name>[^<>=]+)(?:(?P<operator><=|>=|=|<|>)(?P<version>.+))?$")
_NONE = ("", "None")


class Package(Record):
    """The record of a package in pacman's output, by its words ("Depends On")."""

    fields: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.fields.get("Name", "")

    @property
    def version(self) -> str:
        return self.fields.get("Version", "")

    def words(self, key: str) -> list[str]:
        """Return a field that lists packages."""
        value = self.fields.get(key, "")
        return [] if value in _NONE else value.split()

    def meets(self, condition: str) -> bool:
        """Return whether it is, or provides, what a condition asks for (`words>=1.0`)."""
        provided = [f"{self.name}={self.version}", *self.words("Provides")]
        return any(_meets(capability, condition) for capability in provided)


def _meets(provided: str, condition: str) -> bool:
    name, _, version = provided.partition("=")
    asked = _CONDITION.match(condition)
    if not asked or asked["name"] != name:
        return False
    if not asked["operator"]:
        return True
    return bool(version) and holds(compare(version, asked["version"]), asked["operator"])


def bare(condition: str) -> str:
    """Return the name in a condition."""
    match = _CONDITION.match(condition)
    return match["name"] if match else condition


def parse(output: str) -> Iterator[Package]:
    """Return the packages that pacman describes; fields of several lines are one text."""
    fields: dict[str, str] = {}
    key = ""
    for line in output.splitlines():
        match = _FIELD.match(line)
        if match:
            key = match["key"]
            if key in ("Name", "Repository") and "Name" in fields:
                yield Package(fields)
                fields = {}
            fields[key] = match["value"].strip()
        elif line.startswith(" ") and key:
            fields[key] += f"\n{line.strip()}"
    if "Name" in fields:
        yield Package(fields)


def conflicts(new: Mapping[str, Package], staying: Mapping[str, Package]) -> list[str]:
    """Return pacman's words for each pair that cannot be installed together, one of them new."""
    everything = {**staying, **new}
    pairs = {
        tuple(sorted((one.name, other.name))): f"{one.name} and {other.name} are in conflict"
        for one in everything.values()
        for condition in one.words("Conflicts With")
        for other in everything.values()
        if other.name != one.name
        and (one.name in new or other.name in new)
        and other.meets(condition)
    }
    return [pairs[pair] for pair in sorted(pairs)]


def replaced(new: Mapping[str, Package], installed: Mapping[str, Package]) -> set[str]:
    """Return the installed packages that an upgrade replaces by new ones."""
    return {
        old.name
        for package in new.values()
        if package.name not in installed
        for condition in package.words("Replaces")
        for old in installed.values()
        if old.name == bare(condition) and old.meets(condition)
    }


def without_replaced(changes: Changes, names: set[str], installed: Mapping[str, str]) -> Changes:
    """Return changes in which packages that are replaced go, whatever pacman prints of them."""
    gone = {name: {"old": installed[name], "new": ""} for name in sorted(names)}
    return {name: change for name, change in changes.items() if name not in names} | gone


DETAILS = {  # Salt's key -> pacman's field
    "name": "Name",
    "version": "Version",
    "arch": "Architecture",
    "url": "URL",
    "license": "Licenses",
    "description": "Description",
    "group": "Groups",
    "size": "Installed Size",
    "packager": "Packager",
    "build_date": "Build Date",
    "install_date": "Install Date",
    "install_reason": "Install Reason",
    "validation": "Validated By",
}


def described(package: Package) -> dict[str, Any]:
    """Return details of a package with Salt's keys: sizes in bytes, dates as ISO 8601 has them."""
    values = {key: package.fields.get(field, "") for key, field in DETAILS.items()}
    details: dict[str, Any] = {key: value for key, value in values.items() if value not in _NONE}
    for key in ("build_date", "install_date"):
        if seconds := _seconds(details.get(key, "")):
            details[f"{key}_time_t"] = seconds
            details[key] = date_of(seconds)
    if size := _bytes(details.get("size", "")):
        details["size"] = size
    return details


def _seconds(date: str) -> int:
    try:
        return int(time.mktime(time.strptime(date, "%a %b %d %H:%M:%S %Y")))
    except ValueError:
        return 0


def _bytes(size: str) -> str:
    number, _, unit = size.partition(" ")
    factor = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}.get(unit, 0)
    return str(round(float(number) * factor)) if factor else ""
