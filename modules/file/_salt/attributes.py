# SPDX-License-Identifier: Apache-2.0
"""Attributes, SELinux contexts, owners and modes of files, under Salt's names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from modules import _paths, cmd
from modules._machine import processes
from modules.file import _change, _look
from modules.file._salt.arguments import path_given
from modules.file._salt.looks import get_group, get_mode, get_user
from runner.api import StateFailed, here


def lsattr(path: str) -> dict[str, list[str]]:
    """The attributes that lsattr shows for a file, or for all in a folder, by path.

    {{ salt['file.lsattr']('/etc/resolv.conf') }}
    """
    path = path_given(path)
    if not _paths.lexists(path):
        raise StateFailed(f"File or directory does not exist: {path}", missing=("file", path))
    processes.needs("lsattr", "e2fsprogs")
    done = cmd.probe(["lsattr", "--", path])
    pairs = (line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    return {
        name.strip(): [letter for letter in letters if letter != "-"] for letters, name in pairs
    }


def chattr(*files: str, operator: str = "", attributes: str = "", flags: str | None = None) -> bool:
    """Add attributes to files, or remove them. Raises StateFailed for an unknown one.

    operator: add or remove. attributes: letters as of chattr (`i`). flags: R for all below folders.

        runner call file.chattr /etc/resolv.conf operator=add attributes=i
    """
    signs = {"add": "+", "remove": "-"}
    if operator not in signs:
        raise StateFailed("Need an operator: 'add' or 'remove' to modify attributes.")
    if not attributes or not files:
        raise StateFailed("chattr needs files and attributes")
    if flags not in (None, "", "R"):
        raise StateFailed(f"flags: expected R, not {flags!r}")
    for name in map(path_given, files):
        for path in _tree(name) if flags else [name]:
            _change.set_attributes(path, f"{signs[operator]}{attributes}")
    return True


def _tree(top: str) -> list[str]:
    """A path and the files and folders below it; links are left out."""
    below = [
        os.path.join(folder, name)
        for folder, names, more in _paths.walk(top)
        for name in names + more
    ]
    return [top, *(path for path in below if not _paths.islink(path))]


def get_selinux_context(path: str) -> str:
    """The SELinux context of a path; a sentence where it has none."""
    try:
        context = os.getxattr(path_given(path), "security.selinux")  # os: nobody plans it
        return context.rstrip(b"\0").decode()
    except OSError:
        return f"No selinux context information is available for {path}"


def check_perms(
    name: str,
    ret: Mapping[str, Any] | None,
    user: str | None,
    group: str | None,
    mode: Any,
    attrs: str | None = None,
    follow_symlinks: bool = False,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Have a path belong to a user and a group, with a mode: Salt's dictionary of what changed (in
    a dry run: would change), and how it was.

    ret: the dictionary of a state, to which it is added.
    """
    answer: dict[str, Any] = {"name": name, "changes": {}, "comment": "", "result": True}
    answer |= dict(ret or {})
    path = path_given(name)
    owners = (get_user(path, follow_symlinks), get_group(path, follow_symlinks))
    old_mode = get_mode(path, follow_symlinks)
    facts: dict[str, Any] = {"luser": owners[0], "lgroup": owners[1], "lmode": old_mode}
    wanted = {"user": user, "group": group, "mode": None if mode is None else _octal(mode)}
    present = {"user": owners[0], "group": owners[1], "mode": old_mode}
    new = {key: value for key, value in wanted.items() if value and str(value) != present[key]}
    facts |= {f"c{key}": value for key, value in new.items()}
    if attrs is not None:
        letters = _look.get_attributes(path) or ""
        if set(attrs) - set(letters):
            new["attrs"] = attrs
    answer["changes"] = {**answer["changes"], **new}
    if new and here.dry:  # dry: Salt's function answers with what it would do
        answer["result"] = None
    elif new:
        _give(path, new, follow_symlinks)
    return answer, facts


def _octal(mode: Any) -> str:
    return str(mode).removeprefix("0o").zfill(4)


def _give(path: str, new: Mapping[str, Any], follow: bool) -> None:
    if "user" in new or "group" in new:
        _change.chown(path, new.get("user"), new.get("group"), follow=follow)
    if "mode" in new and (follow or not _paths.islink(path)):
        _change.set_mode(path, new["mode"], follow)
    if "attrs" in new:
        _change.set_attributes(path, f"+{new['attrs']}")
