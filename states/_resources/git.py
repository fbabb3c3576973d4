# SPDX-License-Identifier: Apache-2.0
"""Checkouts of git repositories as they are."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import os
import re
from collections.abc import Iterator
from typing import Any

from modules import file
from runner.api import Resource, StateFailed

ROLE = "files"
AFTER = ("file",)
ROOTS = ("/srv", "/opt", "/usr/local", "/var/www")
DEPTH = 3
_ORIGIN = re.compile(r'\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)\s*$', re.MULTILINE)


def resources(name: str | None) -> Iterator[Resource]:
    """Checkouts, by their directory or address, with the branch that they are on."""
    for folder in _checkouts() if name is None or not name.startswith("/") else [name]:
        item = _checkout(folder.rstrip("/"))
        if item and name in (None, folder, item.name):
            yield item


def _checkouts() -> Iterator[str]:
    for root in ROOTS:
        for folder, below, _ in os.walk(root):
            if ".git" in below:
                yield folder
            if ".git" in below or folder.count("/") > root.count("/") + DEPTH:
                below.clear()
            below.sort()


def _checkout(folder: str) -> Resource | None:
    """The checkout in a directory; None for one of no other repository. git is not asked: what it
    would run is up to whom the checkout belongs to.
    """
    try:
        match = _ORIGIN.search(_text(f"{folder}/.git/config"))
        head = re.fullmatch(r"ref: refs/heads/(\S+)\s*", _text(f"{folder}/.git/HEAD"))
        at = file.stat(folder)
    except (StateFailed, PermissionError):
        return None
    if not match:
        return None
    arguments: dict[str, Any] = {"target": folder}
    arguments |= {"branch": head[1]} if head else {}
    if os.geteuid() not in (0, at.uid):
        note = f"{folder}: git shows this checkout to {at.user or at.uid} and to root only"
        return Resource("", folder, note=note)
    arguments |= {"user": at.user} if at.user not in ("root", "") else {}
    return Resource("git.cloned", match[1], arguments, files=(folder,))


def _text(path: str) -> str:
    return file.read_bytes(path).decode("utf-8", "replace") if file.is_file(path) else ""
