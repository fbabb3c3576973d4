# SPDX-License-Identifier: Apache-2.0
"""Programs written in Python, each in an environment of its own, with pipx."""

from __future__ import annotations

import json
import os
import re

from modules import _paths, file
from modules._machine.surroundings import home
from modules._machine.tools import TOPIC, Tool, change
from modules._texts.lines import one_line, plain_name
from runner.api import CommandFailed, cached_look


@cached_look(TOPIC)
def list_(user: str | None = None) -> dict[str, str]:
    """The installed programs of a user with their versions. Raises CommandFailed where there is no
    pipx, or its record of one cannot be read.

    {{ salt['pipx.list']() | json }}
    """
    _pipx(user).require()
    found = {}
    folder = _folder(user)  # `pipx list` would write there
    for name in sorted(_paths.listdir(folder)) if _paths.isdir(folder) else ():
        path = f"{folder}/{name}/pipx_metadata.json"
        if not file.is_file(path):
            continue
        try:
            package = json.loads(file.read_bytes(path))["main_package"]
            found[canonical(package["package"])] = str(package["package_version"])
        except (ValueError, KeyError, TypeError):
            raise CommandFailed(f"{path} is not a record of pipx") from None
    return found


def _folder(user: str | None) -> str:
    """Where the environments are: pipx 1.2 moved them, and stays where they were."""
    data = f"{home(user)}/.local"
    own = [os.environ.get("PIPX_HOME") or "", f"{data}/pipx", f"{data}/share/pipx"]
    return next(
        (f"{path}/venvs" for path in own if path and _paths.isdir(path)), f"{own[-1]}/venvs"
    )


def canonical(name: str) -> str:
    """The name of a package as PyPI compares it.

    {{ salt['pipx.canonical']('My_Tool') }}
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def install(name: str, version: str | None = None, user: str | None = None) -> str:
    """Install a program, or another version of it: what pipx prints. Raises CommandFailed with what
    pipx has against it.

    runner call pipx.install black version=24.1.0
    """
    package = plain_name(name, "name")
    package += f"=={one_line(version, 'version')}" if version else ""
    return change(["install", "--force", package], _pipx(user))


def uninstall(name: str, user: str | None = None) -> str:
    """Remove a program: what pipx prints. Raises CommandFailed with what pipx has against it."""
    return change(["uninstall", plain_name(name, "name")], _pipx(user))


def _pipx(user: str | None) -> Tool:
    return Tool("pipx", "pipx", user)


__func_alias__ = {"list_": "list"}
