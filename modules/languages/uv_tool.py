# SPDX-License-Identifier: Apache-2.0
"""Programs written in Python, each in an environment of its own, with uv."""

from __future__ import annotations

import os

from modules import _paths, file
from modules._machine.surroundings import home
from modules._machine.tools import TOPIC, Tool, change
from modules._texts.lines import one_line, plain_name
from modules.languages.pipx import canonical
from runner.api import CommandFailed, cached_look


@cached_look(TOPIC)
def list_(user: str | None = None) -> dict[str, str]:
    """The installed programs of a user with their versions. Raises CommandFailed where there is no
    uv, or its record of one cannot be read.

    {{ salt['uv_tool.list']() | json }}
    """
    _uv(user).require()
    folder = _folder(user)  # `uv tool list` would write there
    names = _listed(folder)
    return {
        name: _version(f"{folder}/{name}", name)
        for name in names
        if file.is_file(f"{folder}/{name}/uv-receipt.toml")
    }


def _folder(user: str | None) -> str:
    """Where the environments are."""
    data = os.environ.get("XDG_DATA_HOME") or f"{home(user)}/.local/share"
    return os.environ.get("UV_TOOL_DIR") or f"{data}/uv/tools"


def _version(folder: str, name: str) -> str:
    """The version of the program of an environment, which has packages that it needs beside it."""
    for python in _listed(f"{folder}/lib"):
        for entry in _listed(f"{folder}/lib/{python}/site-packages"):
            package, _, version = entry.removesuffix(".dist-info").partition("-")
            if entry.endswith(".dist-info") and canonical(package) == name:
                return version
    raise CommandFailed(f"{folder} is no environment of uv with {name}")


def _listed(folder: str) -> list[str]:
    return sorted(_paths.listdir(folder)) if _paths.isdir(folder) else []


def install(name: str, version: str | None = None, user: str | None = None) -> str:
    """Install a program, or another version of it: what uv prints. Raises CommandFailed with what
    uv has against it.

    runner call uv_tool.install ruff version=0.6.9
    """
    package = plain_name(name, "name")
    package += f"=={one_line(version, 'version')}" if version else ""
    return change(["tool", "install", "--force", package], _uv(user))


def uninstall(name: str, user: str | None = None) -> str:
    """Remove a program: what uv prints. Raises CommandFailed with what uv has against it."""
    return change(["tool", "uninstall", plain_name(name, "name")], _uv(user))


def _uv(user: str | None) -> Tool:
    return Tool("uv", "uv", user)


__func_alias__ = {"list_": "list"}
