# SPDX-License-Identifier: Apache-2.0
"""apk's database of what is installed, as apk-tools 2 writes it: a letter, a colon, a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from modules._paths import text_of
from modules.pkg.package_manager import date_of

DETAILS = {  # the letter in the database -> Salt's key
    "P": "name",
    "V": "version",
    "A": "arch",
    "I": "size",
    "T": "description",
    "U": "url",
    "L": "license",
    "o": "source",
    "m": "packager",
    "t": "build_date_time_t",
}


def read(path: str) -> dict[str, dict[str, Any]]:
    """Return the details of the installed packages, by their names."""
    described = map(_described, text_of(path).split("\n\n"))
    return {details["name"]: details for details in described if "name" in details}


def files(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield what installed packages have: the package, a path, and the digest of a file (Q1...);
    folders have none.
    """
    name = folder = found = ""
    for line in text_of(path, "surrogateescape").splitlines():
        letter, _, value = line.partition(":")
        if letter in ("F", "R", "P") and found:
            yield name, found, ""
            found = ""
        if letter == "P":
            name = value
        elif letter == "F":
            folder = f"/{value}".rstrip("/")
            yield name, folder or "/", ""
        elif letter == "R":
            found = f"{folder}/{value}"
        elif letter == "Z" and found:
            yield name, found, value
            found = ""
    if found:
        yield name, found, ""


def _described(stanza: str) -> dict[str, Any]:
    details: dict[str, Any] = {}
    for line in stanza.splitlines():
        letter, _, value = line.partition(":")
        if letter == "F":  # its files follow
            break
        if letter in DETAILS and value:
            details[DETAILS[letter]] = value
    return _with_dates(details)


def _with_dates(details: Mapping[str, Any]) -> dict[str, Any]:
    seconds = str(details.get("build_date_time_t", ""))
    if not seconds.isdecimal():
        return dict(details)
    written = int(seconds)
    return {**details, "build_date_time_t": written, "build_date": date_of(written)}
