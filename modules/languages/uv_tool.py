# SPDX-License-Identifier: Apache-2.0
"""Programs written in Python, each in an environment of its own, with uv."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from modules import _paths, file
from modules._machine import fetching
from modules._machine.surroundings import home
from modules._machine.tools import TOPIC, UNPINNED, Tool, change, former_program
from modules._planned.machine import merged
from modules._texts.lines import one_line, plain_name
from modules.languages.pip import normal
from runner.api import CommandFailed, cached_look, for_states


@cached_look(TOPIC)
def list_(user: str | None = None) -> dict[str, str]:
    """The installed programs of a user with their versions. Raises CommandFailed where there is no
    uv, or its record of one cannot be read.

    {{ salt['uv_tool.list']() | json }}
    """
    _uv(user).require()
    folder = _folder(user)  # `uv tool list` would write there
    names = _listed(folder)
    there = {
        name: _version(f"{folder}/{name}", name)
        for name in names
        if file.is_file(f"{folder}/{name}/uv-receipt.toml")
    }
    return merged(there, _uv(user).planned)


def _folder(user: str | None) -> str:
    """Where the environments are."""
    data = os.environ.get("XDG_DATA_HOME") or f"{home(user)}/.local/share"
    return os.environ.get("UV_TOOL_DIR") or f"{data}/uv/tools"


def _version(folder: str, name: str) -> str:
    """The version of the program of an environment, which has packages that it needs beside it."""
    for python in _listed(f"{folder}/lib"):
        for entry in _listed(f"{folder}/lib/{python}/site-packages"):
            package, _, version = entry.removesuffix(".dist-info").partition("-")
            if entry.endswith(".dist-info") and normal(package) == name:
                return version
    raise CommandFailed(f"{folder} is no environment of uv with {name}")


def _listed(folder: str) -> list[str]:
    return sorted(_paths.listdir(folder)) if _paths.isdir(folder) else []


def newest(name: str, user: str | None = None) -> str:
    """The newest version that an installed program could be brought to. Raises CommandFailed with
    what uv has against it.

    {{ salt['uv_tool.newest']('ruff') }}
    """
    known = normal(name)
    if planned := _uv(user).newest_planned(known):
        return planned
    version = list_(user).get(known)
    if version is None:
        raise CommandFailed(f"uv has not installed {name}")
    return newest_in(f"{_folder(user)}/{known}", known, version, user)


@for_states
def newest_in(environment: str, name: str, version: str, user: str | None) -> str:
    """The newest version of a package that an environment could have. version: which it has."""
    words = ["--dry-run", "--upgrade", f"--python={environment}", "--", name]
    with fetching.asking(f"the newest version of {name}"):
        done = _uv(user).run("pip", "install", *words)
        if done.retcode:
            raise _uv(user).failure("pip install", done.error_text)
    found = re.findall(r"^ \+ (\S+?)==(\S+)", f"{done.stdout}\n{done.stderr}", re.MULTILINE)
    return next((new for package, new in found if normal(package) == name), version)


def install(name: str, version: str | None = None, user: str | None = None) -> str:
    """Install a program, or another version of it: what uv prints. Raises CommandFailed with what
    uv has against it.

    runner call uv_tool.install ruff version=0.6.9
    """
    package = plain_name(name, "name")
    package += f"=={one_line(version, 'version')}" if version else ""
    becomes = {normal(name): version or UNPINNED}
    return _change(["install", "--force", package], name, user, becomes)


def upgrade(name: str, user: str | None = None) -> str:
    """Bring a program to its newest version: what uv prints. Raises CommandFailed with what uv has
    against it.

    runner call uv_tool.upgrade ruff
    """
    return _change(["install", "--upgrade", plain_name(name, "name")], name, user)


def uninstall(name: str, user: str | None = None) -> str:
    """Remove a program: what uv prints. Raises CommandFailed with what uv has against it."""
    return _change(["uninstall", plain_name(name, "name")], name, user, {normal(name): None})


def _change(
    words: list[str], name: str, user: str | None, becomes: Mapping[str, Any] | None = None
) -> str:
    former = former_program("uv_tool", list_(user), normal(name), user)
    return change(["tool", *words], _uv(user), former, becomes)


def _uv(user: str | None) -> Tool:
    return Tool("uv", "uv", user)


__func_alias__ = {"list_": "list"}
