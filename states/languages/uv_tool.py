# SPDX-License-Identifier: Apache-2.0
"""Programs written in Python, each in an environment of its own, with uv."""

from __future__ import annotations

from modules import cmd
from modules.languages import uv_tool
from runner.api import Name, Planned
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite
from states._run_as import dry_run_check as dry_run_check
from states.languages._programs import Package, Version, absent, present

DECIDES = {"installed": "version"}
MEANS = {"user": cmd.caller}
OPPOSITE = {"installed": Opposite("removed", by=("user",))}


def installed(
    name: Package, version: Version | None = None, upgrade: bool = False, user: Name | None = None
) -> Planned:
    """Make sure that a program of PyPI is installed, with uv (`uv tool`).

    name: The package.
    version: The version; without it any, and the newest when there is none.
    upgrade: Bring it to its newest version, which each run asks for.
    user: Whose it is; without it that of whoever runs runner.

        ruff:
          uv_tool.installed:
            - version: 0.6.9
            - user: zoe

    Salt has nothing like it.
    """
    return (yield from present(uv_tool, name, version, upgrade, user))


def removed(name: Package, user: Name | None = None) -> Planned:
    """Make sure that a program is not installed with uv (`uv tool`).

    name: The package.
    user: Whose it is; without it that of whoever runs runner.

        ruff:
          uv_tool.removed: []

    Salt has nothing like it.
    """
    return (yield from absent(uv_tool, name, user))


autorequire = comes_after(
    "Packages come after uv and the user whose they are.", ("pkg", "uv"), user="user"
)
