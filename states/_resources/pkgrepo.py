# SPDX-License-Identifier: Apache-2.0
"""Archives of packages as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import file, pkg
from runner.api import Resource

ROLE = "repositories"
KEYRINGS = ("/etc/apt/keyrings/", "/etc/apt/trusted.gpg.d/", "/usr/local/share/keyrings/")


def resources(name: str | None) -> Iterator[Resource]:
    """The archives that apt knows, by their entry or address, with the keys that they name."""
    manager = pkg.provider()
    if not manager.has("repositories") or manager.NAMES[0] != "apt":
        return
    keys: set[str] = set()
    repositories = manager.repositories.list_repos()
    odd = {
        entry["file"] for entries in repositories.values() for entry in entries if _is_odd(entry)
    }
    for address, entries in repositories.items():
        for entry in entries:
            if name not in (None, address, entry["line"]):
                continue
            key = entry["signedby"]
            if key.startswith(KEYRINGS) and key not in keys and file.is_file(key):
                keys.add(key)
                yield _key(key)
            item = _archive(entry)
            yield item if entry["file"] in odd else item._replace(files=(entry["file"],))


def _is_odd(entry: dict[str, Any]) -> bool:
    """Return whether an entry has its key in it."""
    return "\n" in entry["line"]


def _archive(entry: dict[str, Any]) -> Resource:
    line = entry["line"].lstrip("# ")
    arguments: dict[str, Any] = {"file": entry["file"]}
    arguments |= {"disabled": True} if entry["disabled"] else {}
    if _is_odd(entry):
        note = f"{entry['file']}: an archive with a key in it, or over several lines, is left out"
        return Resource("", entry["uri"], note=note)
    return Resource("pkgrepo.managed", line, arguments, shipped=entry["disabled"])


def _key(path: str) -> Resource:
    """The file of a key, which has to be there before its archive."""
    data = file.read_bytes(path)
    stat = file.stat(path)
    arguments = {"user": stat.user, "group": stat.group, "mode": stat.mode}
    try:
        contents: dict[str, Any] = {"contents": data.decode()}
        contents |= {} if contents["contents"].endswith("\n") else {"contents_newline": False}
    except UnicodeDecodeError:
        contents = {}
    if not contents or "\r" in contents["contents"]:
        contents = {"replace": False}
    note = (
        f"{path}: its contents are no text: they stay as they are" if "replace" in contents else ""
    )
    return Resource(
        "file.managed", path, {**arguments, **contents}, note, files=(path,), source=data
    )
