# SPDX-License-Identifier: Apache-2.0
"""Programs written in Python, each in an environment of its own, with pipx."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from modules import _paths, file
from modules._machine import fetching
from modules._machine.surroundings import home
from modules._machine.tools import TOPIC, UNPINNED, Tool, change, former_program
from modules._planned.machine import merged
from modules._texts.lines import one_line, plain_name
from modules.languages import pip, uv_tool
from runner.api import CommandFailed, FormerState, cached_look


@cached_look(TOPIC)
def list_(user: str | None = None) -> dict[str, str]:
    """The installed programs of a user with their versions. Raises CommandFailed where there is no
    pipx, or its record of one cannot be read.

    {{ salt['pipx.list']() | json }}
    """
    _pipx(user).require()
    there = {name: version for name, version, *_ in _records(user)}
    return merged(there, _pipx(user).planned)


def _records(user: str | None) -> Iterator[tuple[str, str, str, bool]]:
    """Of each program its name, its version, its environment, and whether uv has made that."""
    folder = _folder(user)  # `pipx list` would write there
    for name in sorted(_paths.listdir(folder)) if _paths.isdir(folder) else ():
        path = f"{folder}/{name}/pipx_metadata.json"
        if not file.is_file(path):
            continue
        try:
            record = json.loads(file.read_bytes(path))
            package = record["main_package"]
            version = str(package["package_version"])
            by_uv = record.get("backend") == "uv"
            yield pip.normal(package["package"]), version, f"{folder}/{name}", by_uv
        except (ValueError, KeyError, TypeError, AttributeError):
            raise CommandFailed(f"{path} is not a record of pipx") from None


def newest(name: str, user: str | None = None) -> str:
    """The newest version that an installed program could be brought to. Raises CommandFailed with
    what pip has against it.

    {{ salt['pipx.newest']('black') }}
    """
    known = pip.normal(name)
    if planned := _pipx(user).newest_planned(known):
        return planned
    found = next((record for record in _records(user) if record[0] == known), None)
    if found is None:
        raise CommandFailed(f"pipx has not installed {name}")
    _, version, environment, by_uv = found
    if by_uv:
        return uv_tool.newest_in(environment, known, version, user)
    with fetching.asking(f"the newest version of {name}"):
        would = pip.would_install(["--upgrade", "--", known], environment, user, None)
    if would is None:
        raise CommandFailed(f"the pip of {environment} is too old to say what is new")
    return next((new for package, new in would.items() if pip.normal(package) == known), version)


def _folder(user: str | None) -> str:
    """Where the environments are: pipx 1.2 moved them, and stays where they were."""
    data = f"{home(user)}/.local"
    own = [os.environ.get("PIPX_HOME") or "", f"{data}/pipx", f"{data}/share/pipx"]
    return next(
        (f"{path}/venvs" for path in own if path and _paths.isdir(path)), f"{own[-1]}/venvs"
    )


def install(name: str, version: str | None = None, user: str | None = None) -> str:
    """Install a program, or another version of it: what pipx prints. Raises CommandFailed with what
    pipx has against it.

    runner call pipx.install black version=24.1.0
    """
    package = plain_name(name, "name")
    package += f"=={one_line(version, 'version')}" if version else ""
    becomes = {pip.normal(name): version or UNPINNED}
    return change(["install", "--force", package], _pipx(user), _former(name, user), becomes)


def upgrade(name: str, user: str | None = None) -> str:
    """Bring a program to its newest version: what pipx prints. Raises CommandFailed with what pipx
    has against it.

    runner call pipx.upgrade black
    """
    return change(["upgrade", plain_name(name, "name")], _pipx(user), _former(name, user))


def uninstall(name: str, user: str | None = None) -> str:
    """Remove a program: what pipx prints. Raises CommandFailed with what pipx has against it."""
    words = ["uninstall", plain_name(name, "name")]
    return change(words, _pipx(user), _former(name, user), {pip.normal(name): None})


def _former(name: str, user: str | None) -> FormerState:
    return former_program("pipx", list_(user), pip.normal(name), user)


def _pipx(user: str | None) -> Tool:
    return Tool("pipx", "pipx", user)


__func_alias__ = {"list_": "list"}
