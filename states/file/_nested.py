# SPDX-License-Identifier: Apache-2.0
"""Files and folders that would go, or have no end, when one takes the place of the other."""

from __future__ import annotations

from modules import file
from runner.api import StateFailed


def refuse_to_replace(name: str, source: str) -> None:
    """Raise StateFailed where a path is, or holds, what is to take its place: both would go."""
    if _is_in(source, name):
        raise StateFailed(f'"{source}" is in "{name}", which it would replace; nothing is changed')


def refuse_to_hold(name: str, folder: str) -> None:
    """Raise StateFailed where a folder would be copied into itself, without end."""
    if _is_in(name, file.real_path(folder)):
        raise StateFailed(f'"{folder}" cannot be copied into itself, to "{name}"')


def _is_in(path: str, folder: str) -> bool:
    path, folder = (_without_links(each) for each in (path, folder))
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _without_links(path: str) -> str:
    """A path whose folders are no links; what it names may be one."""
    above, _, name = path.rstrip("/").rpartition("/")
    return f"{file.real_path(above or '/').rstrip('/')}/{name}"
