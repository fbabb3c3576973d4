# SPDX-License-Identifier: Apache-2.0
"""Files and folders that would go, or have no end, when one takes the place of the other."""

from __future__ import annotations

from modules import file
from runner.api import StateFailed, lies_in


def refuse_to_replace(name: str, source: str) -> None:
    """Raise StateFailed where a path is, or holds, what is to take its place, or what that leads to
    as a link: both would go.
    """
    ends = [source, without_links(source)] if file.exists(source) else [source]
    if any(_is_in(end, name) for end in ends):
        verb = "is in" if _is_in(source, name) else "leads into"
        raise StateFailed(f'"{source}" {verb} "{name}", which it would replace; nothing is changed')


def refuse_to_hold(name: str, folder: str) -> None:
    """Raise StateFailed where a folder would be copied into itself, without end."""
    if _is_in(name, file.real_path(folder)):
        raise StateFailed(f'"{folder}" cannot be copied into itself, to "{name}"')


def without_links(path: str) -> str:
    """Where a path leads; itself where the links on the way are not to be trusted."""
    try:
        return file.real_path(path)
    except StateFailed:
        return path


def _is_in(path: str, folder: str) -> bool:
    return lies_in(_in_real_folder(path), _in_real_folder(folder))


def _in_real_folder(path: str) -> str:
    """A path whose folders are no links; what it names may be one."""
    above, _, name = path.rstrip("/").rpartition("/")
    return f"{without_links(above or '/').rstrip('/')}/{name}"
